//go:build linux

package soak

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// heapEnv names the directory to which a process writes its burden on SIGUSR1.
const heapEnv = "MEMDESK_SOAK_HEAPS"

// burden is the load of a process: open files, goroutines, and heap bytes in use after a collection.
// Resident memory would include memory used earlier.
type burden struct {
	files, goroutines int
	heap              int64
}

func (b burden) String() string {
	return fmt.Sprintf("%d files %d goroutines %.1f MB", b.files, b.goroutines, float64(b.heap)/(1<<20))
}

// tellHeap answers SIGUSR1 for as long as the process lives.
func tellHeap() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	path := filepath.Join(os.Getenv(heapEnv), strconv.Itoa(os.Getpid()))
	for range asked {
		runtime.GC()
		runtime.GC() // frees objects with finalizers
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		if err := os.WriteFile(path+"~", fmt.Appendln(nil, stats.HeapAlloc, runtime.NumGoroutine()), 0o600); err == nil {
			_ = os.Rename(path+"~", path)
		}
	}
}

// atRest is the least of several burdens of a process: its current work does not count as growth.
func (m *machine) atRest(c *exec.Cmd) burden {
	m.t.Helper()
	least := m.burdenOf(c)
	for range 4 {
		time.Sleep(250 * time.Millisecond)
		b := m.burdenOf(c)
		least = burden{min(least.files, b.files), min(least.goroutines, b.goroutines), min(least.heap, b.heap)}
	}
	return least
}

// burdenOf asks a process for its burden.
func (m *machine) burdenOf(c *exec.Cmd) (b burden) {
	m.t.Helper()
	fds, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(c.Process.Pid), "fd"))
	m.must(err)
	b.files = len(fds)
	path := filepath.Join(m.heaps, strconv.Itoa(c.Process.Pid))
	_ = os.Remove(path)
	m.must(c.Process.Signal(syscall.SIGUSR1))
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(path)
		if err == nil {
			_, err = fmt.Sscan(string(text), &b.heap, &b.goroutines)
			m.must(err)
			return b
		}
		if time.Since(began) > time.Minute {
			m.t.Fatalf("process %d does not tell what it holds: %v", c.Process.Pid, err)
		}
	}
}

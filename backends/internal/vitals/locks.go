package vitals

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"memdesk/model"
)

// heldTooLong is how long a lock of another process may be seen without a break before it is
// a finding: no write of one item takes minutes.
const heldTooLong = 2 * time.Minute

// LockWatch remembers since when another process has been seen with a write lock on the same
// files. It reads the kernel's table of locks and takes none: opening and closing a database
// file would drop this process's own locks on it. The zero value is ready.
type LockWatch struct {
	mu    sync.Mutex
	pid   int
	since time.Time
}

// Look is one observation. Where the kernel publishes no table there is no finding.
func (w *LockWatch) Look(now time.Time, paths ...string) []model.HealthFinding {
	f, err := os.Open("/proc/locks")
	if err != nil {
		return nil
	}
	defer f.Close()
	return w.seen(now, writer(f, inodes(paths), os.Getpid()))
}

func (w *LockWatch) seen(now time.Time, pid int) []model.HealthFinding {
	w.mu.Lock()
	defer w.mu.Unlock()
	if pid != w.pid {
		w.pid, w.since = pid, now
	}
	if pid == 0 || now.Sub(w.since) < heldTooLong {
		return nil
	}
	return Down(model.FindingLock, fmt.Sprintf("process %d has held the write lock since %s: nothing can be retained until it lets go or ends",
		pid, w.since.UTC().Format("15:04:05 MST")))
}

func inodes(paths []string) map[string]bool {
	out := map[string]bool{}
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil {
			if at := inode(info); at != "" {
				out[anonymous(at)] = true
			}
		}
	}
	return out
}

// anonymous leaves the minor number out of a place without a block device: Btrfs and overlays show another one
// in the table than in stat.
func anonymous(at string) string {
	if rest, ok := strings.CutPrefix(at, "00:"); ok {
		_, n, _ := strings.Cut(rest, ":")
		return "00:" + n
	}
	return at
}

// writer is the process of the first write lock on one of the inodes that is not our own; 0
// for none. A line of proc_locks(5): `1: POSIX ADVISORY WRITE 1234 08:01:131245 0 EOF`.
func writer(table io.Reader, inodes map[string]bool, self int) int {
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 8 || f[1] == "->" || f[3] != "WRITE" {
			continue
		}
		pid, err := strconv.Atoi(f[4])
		if err == nil && pid > 0 && pid != self && inodes[anonymous(f[5])] {
			return pid
		}
	}
	return 0
}

package seam_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"memdesk/backends/seam/claude"
	"memdesk/backends/seam/openclaw"
	"memdesk/model"
)

// BenchmarkAgents measures the text trees of coding agents against find, rg, a write with rename, and
// rm. A Claude Code project has an index line for every note; 100,000 notes only with MEMDESK_SOAK.
func BenchmarkAgents(b *testing.B) {
	sizes := []int{1000}
	if os.Getenv("MEMDESK_SOAK") != "" {
		sizes = append(sizes, 100_000)
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("claude/%d", n), func(b *testing.B) {
			dir := grow(b, n, "memories")
			agents(b, n, dir, "memories/", func() (model.Store, error) {
				return claude.Open(b.Context(), claude.Config{Path: dir})
			})
		})
		b.Run(fmt.Sprintf("openclaw/%d", n), func(b *testing.B) {
			dir := grow(b, n, "workspace/memory")
			plant(b, filepath.Join(dir, "openclaw.json"), "{}")
			agents(b, n, dir, "workspace/memory/", func() (model.Store, error) {
				return openclaw.Open(b.Context(), openclaw.Config{Path: dir})
			})
		})
	}
}

func plant(b *testing.B, path, text string) {
	b.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

func grow(b *testing.B, n int, below string) (dir string) {
	b.Helper()
	dir = b.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, below), 0o700); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		more := ""
		if i%997 == 5 {
			more = " herring"
		}
		plant(b, filepath.Join(dir, below, fmt.Sprintf("n%07d.md", i)), fmt.Sprintf("note %d about the tide%s\n", i, more))
	}
	return dir
}

func agents(b *testing.B, n int, dir, prefix string, open func() (model.Store, error)) {
	check := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	var s model.Store
	first := func() {
		var err error
		s, err = open()
		check(err)
		_, err = s.Browser.List(b.Context(), model.PageRequest{Limit: 20})
		check(err)
	}
	run := func(name string, args ...string) func() {
		return func() { check(exec.CommandContext(b.Context(), name, args...).Run()) }
	}
	spent := func(fn func()) time.Duration {
		start := time.Now()
		fn()
		return time.Since(start)
	}
	text := 0
	id := func(i int) string { return fmt.Sprintf("%sn%07d.md", prefix, i) }
	for _, step := range []struct {
		name       string
		ours, peer func()
	}{
		{"open", func() {
			if s.Provider != nil {
				check(s.Close())
			}
			first()
		}, run("find", dir, "-type", "f", "-printf", "%P\n")},
		{"recall", func() {
			res, err := s.Provider.Recall(b.Context(), model.RecallRequest{Query: "herring"})
			check(err)
			if len(res.Hits) == 0 {
				b.Fatal("nothing was found")
			}
		}, run("rg", "-i", "-l", "herring", dir)},
		{"edit", func() {
			text++
			_, err := s.Provider.Retain(b.Context(), model.RetainRequest{ID: id(160), Mode: model.Replace, Content: fmt.Sprint("text ", text)})
			check(err)
		}, func() {
			path := filepath.Join(dir, filepath.FromSlash(id(161)))
			plant(b, path+".tmp", "text")
			check(os.Rename(path+".tmp", path))
		}},
	} {
		ours, peer := time.Duration(1<<62), time.Duration(1<<62)
		for range 5 {
			ours, peer = min(ours, spent(step.ours)), min(peer, spent(step.peer))
		}
		b.ReportMetric(float64(ours)/float64(peer), step.name+"-x")
		b.ReportMetric(float64(ours.Microseconds())/1000, step.name+"-ms")
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	runtime.KeepAlive(s)
	ours := spent(func() {
		for i := range 100 {
			_, err := s.Provider.Forget(b.Context(), model.ForgetRequest{ID: id(i)})
			check(err)
		}
	})
	peer := spent(func() {
		for i := 200; i < 300; i++ {
			check(os.Remove(filepath.Join(dir, filepath.FromSlash(id(i)))))
		}
	})
	check(s.Close())
	b.ReportMetric(float64(ours)/float64(peer), "forget100-x")
	b.ReportMetric(float64(ours.Milliseconds()), "forget100-ms")
	b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "heap-MB")
	b.ReportMetric(0, "ns/op")
}

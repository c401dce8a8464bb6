package vault_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"memdesk/backends/seam/vault"
	"memdesk/model"
)

// largeVault is a vault of many notes; MEMDESK_BENCH_NOTES sets how many.
func largeVault(b *testing.B) vault.Config {
	b.Helper()
	n := 10_000
	if v, err := strconv.Atoi(os.Getenv("MEMDESK_BENCH_NOTES")); err == nil {
		n = v
	}
	dir := b.TempDir()
	kinds := []string{"idea", "fix", "reference", "workflow"}
	for i := range n {
		k := kinds[i%len(kinds)]
		sub := filepath.Join(dir, "memory", k, fmt.Sprint(i/1000))
		if i%1000 < len(kinds) {
			if err := os.MkdirAll(sub, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		text := fmt.Sprintf("---\ntype: %s\nstatus: active\nslug: note-%d\n---\n\n# Note %d\n\n- it says something of otters\n- number %d\n", k, i, i, i)
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("note-%d.md", i)), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return vault.Config{Name: "v", Path: dir, LockRoot: b.TempDir(), DaemonURL: "-"}
}

func BenchmarkLargeVault(b *testing.B) {
	cfg := largeVault(b)
	start := time.Now()
	s, err := vault.Open(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("open: %v", time.Since(start))
	// The names, against find, a C program that walks the same tree.
	b.Run("names", func(b *testing.B) {
		var peer time.Duration
		if find, err := exec.LookPath("find"); err == nil {
			for range 5 { // the best of them
				start := time.Now()
				if err := exec.CommandContext(b.Context(), find, cfg.Path, "-type", "f", "-printf", "%P\n").Run(); err != nil {
					b.Fatal(err)
				}
				if took := time.Since(start); peer == 0 || took < peer {
					peer = took
				}
			}
		}
		for b.Loop() {
			n := 0
			if _, err := s.Names.Names(b.Context(), func(string) bool { n++; return true }); err != nil || n == 0 {
				b.Fatal(n, err)
			}
		}
		if peer > 0 {
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(peer), "×find")
		}
	})
	for name, req := range map[string]model.PageRequest{
		"first page": {Limit: 100}, "newest": {Order: model.OrderNewest, Limit: 100}, "a tier": {Tier: "fix", Limit: 100}, "last page": {End: true, Limit: 100},
		"query": {Query: "number 77", Limit: 100},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if p, err := s.Browser.List(b.Context(), req); err != nil || len(p.Items) == 0 {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("recall", func(b *testing.B) {
		for b.Loop() {
			if res, err := s.Provider.Recall(b.Context(), model.RecallRequest{Query: "number 4242"}); err != nil || len(res.Hits) == 0 {
				b.Fatal(err)
			}
		}
	})
	// A search in the console: the store was opened earlier, and each key is another query.
	b.Run("key", func(b *testing.B) {
		var peer time.Duration
		if rg, err := exec.LookPath("rg"); err == nil {
			for n := range 5 { // the best of them
				start := time.Now()
				if err := exec.CommandContext(b.Context(), rg, "-i", "-l", fmt.Sprint("number ", 500+n), cfg.Path).Run(); err != nil {
					b.Fatal(err)
				}
				if took := time.Since(start); peer == 0 || took < peer {
					peer = took
				}
			}
		}
		search := func(n int) {
			if p, err := s.Browser.List(b.Context(), model.PageRequest{Query: fmt.Sprint("number ", 500+n%400), Limit: 100}); err != nil || len(p.Items) == 0 {
				b.Fatal(err)
			}
		}
		search(0)
		time.Sleep(1100 * time.Millisecond) // now it stays open
		search(1)
		n := 1
		for b.Loop() {
			n++
			search(n)
		}
		if peer > 0 {
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(peer), "×rg")
		}
	})
	b.Run("first page after a foreign write", func(b *testing.B) {
		for b.Loop() {
			if err := os.WriteFile(filepath.Join(cfg.Path, "memory", "idea", "0", "foreign.md"), []byte("x"), 0o644); err != nil {
				b.Fatal(err)
			}
			if p, err := s.Browser.List(b.Context(), model.PageRequest{Limit: 100}); err != nil || len(p.Items) == 0 {
				b.Fatal(err)
			}
		}
	})
	b.Run("retain", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Provider.Retain(b.Context(), model.RetainRequest{Tier: "idea", Key: "bench", Mode: model.Replace, Content: "x"}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

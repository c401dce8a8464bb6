package crewship_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/backends/seam/crewship"
	"memdesk/model"
)

// large makes a data directory of n daily files of 800 bytes, of a hundred agents.
func large(b *testing.B, n int) (model.Store, string) {
	b.Helper()
	dir := b.TempDir()
	for agent := range 100 {
		daily := filepath.Join(dir, "output", "crews", "c", "agents", fmt.Sprintf("a%02d", agent), ".memory", "daily")
		if err := os.MkdirAll(daily, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range n / 100 {
			text := fmt.Sprintf("# Day %d\n- entry of agent %d about the harbour, number %d\n", f, agent, agent*(n/100)+f)
			text += strings.Repeat("- a tide table, and who keeps it\n", 24)[:800-len(text)]
			if err := os.WriteFile(filepath.Join(daily, fmt.Sprintf("d%05d.md", f)), []byte(text), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	s, err := crewship.Open(b.Context(), crewship.Config{Name: "d", Path: dir})
	if err != nil {
		b.Fatal(err)
	}
	return s, dir
}

// best is the best of five runs.
func best(b *testing.B, run func(n int) error) time.Duration {
	b.Helper()
	var took []time.Duration
	for n := range 5 {
		start := time.Now()
		if err := run(n); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	return slices.Min(took)
}

func BenchmarkStore(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		s, dir := large(b, n)
		page := func(req model.PageRequest) func(*testing.B) {
			return func(b *testing.B) {
				for b.Loop() {
					if p, err := s.Browser.List(b.Context(), req); err != nil || p.Total.N == 0 {
						b.Fatal(p.Total, err)
					}
				}
			}
		}
		b.Run(fmt.Sprintf("%d/first page", n), page(model.PageRequest{}))
		b.Run(fmt.Sprintf("%d/last page newest", n), page(model.PageRequest{End: true, Order: model.OrderNewest}))
		b.Run(fmt.Sprintf("%d/filter", n), page(model.PageRequest{Query: "harbour"}))
		b.Run(fmt.Sprintf("%d/recall", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Provider.Recall(b.Context(), model.RecallRequest{Query: "agent 42 harbour"}); err != nil {
					b.Fatal(err)
				}
			}
		})
		// A console's search: the store has been open for a while, and each key is another query.
		b.Run(fmt.Sprintf("%d/key", n), func(b *testing.B) {
			rg, err := exec.LookPath("rg")
			if err != nil {
				b.Skip(err)
			}
			peer := best(b, func(n int) error {
				return exec.CommandContext(b.Context(), rg, "-i", "-l", "-uuu", fmt.Sprint("number ", 500+n), dir).Run()
			})
			search := func(i int) {
				if p, err := s.Browser.List(b.Context(), model.PageRequest{Query: fmt.Sprint("number ", 500+i%400), Limit: 100}); err != nil || len(p.Items) == 0 {
					b.Fatal(err)
				}
			}
			search(0)
			time.Sleep(1100 * time.Millisecond) // now it stays open
			search(1)
			i := 1
			for b.Loop() {
				i++
				search(i)
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(peer), "×rg")
		})
		b.Run(fmt.Sprintf("%d/first page after a while", n), func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				time.Sleep(6 * time.Second) // longer than a walk is believed
				start := time.Now()
				if p, err := s.Browser.List(b.Context(), model.PageRequest{}); err != nil || p.Total.N == 0 {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1000, "ms/page") // the middle one
		})
		b.Run(fmt.Sprintf("%d/first page after a foreign write", n), func(b *testing.B) {
			for b.Loop() {
				if err := os.WriteFile(filepath.Join(dir, "output", "crews", "c", "agents", "a07", ".memory", "daily", "foreign.md"), []byte("x"), 0o644); err != nil {
					b.Fatal(err)
				}
				if p, err := s.Browser.List(b.Context(), model.PageRequest{}); err != nil || p.Total.N == 0 {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%d/append", n), func(b *testing.B) {
			i := 0
			for b.Loop() {
				i++
				req := model.RetainRequest{ID: fmt.Sprintf("crews/c/agents/a01/peers/p%d.md", i), Content: "x", Mode: model.Append}
				if _, err := s.Provider.Retain(b.Context(), req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

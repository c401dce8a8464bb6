package door_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"memdesk/backends"
	"memdesk/internal/bearer"
	"memdesk/model"
	"memdesk/quarantine"
	"memdesk/quarantine/signal"
)

// BenchmarkLookAgain measures a recall's second check of eight items of 2 KB, by the scanner and by all
// signals: its share of the recall that the agent sees.
func BenchmarkLookAgain(b *testing.B) {
	dir := b.TempDir()
	path := filepath.Join(dir, "notes.db")
	kind, _ := backends.Builtin().Kind("sqlite")
	if err := kind.Create(b.Context(), backends.StoreConfig{Name: "sqlite", Kind: "sqlite", Path: path}, backends.Env{}); err != nil {
		b.Fatal(err)
	}
	d := deskOver(b, bearer.Caller{Name: "planner"}, dir, "sqlite="+path)
	store, err := d.Fleet.Store("sqlite")
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("The nightly backup writes to the bucket and is kept for thirty days. ", 30)[:2048]
	for i := range 200 {
		if _, err := store.Provider.Retain(b.Context(), model.RetainRequest{Tier: "task", Mode: model.Append, Content: fmt.Sprintf("%d %s", i, text)}); err != nil {
			b.Fatal(err)
		}
	}
	recall := func(suspect func(context.Context, string, string, string) bool) time.Duration {
		d.Suspect = suspect
		c := client(b, d)
		all := make([]time.Duration, 0, 60)
		for range cap(all) {
			began := time.Now()
			if _, err := c.CallTool(b.Context(), &mcp.CallToolParams{Name: "memory_recall", Arguments: args{"query": "nightly backup", "limit": 8}}); err != nil {
				b.Fatal(err)
			}
			all = append(all, time.Since(began))
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	for b.Loop() {
		var look []time.Duration
		for range 60 {
			began := time.Now()
			for range 8 {
				quarantine.Scan(text)
				_ = signal.Scorer{}.Of(text)
			}
			look = append(look, time.Since(began))
		}
		slices.Sort(look)
		with := recall(func(_ context.Context, _, _, text string) bool { return signal.Scorer{}.Of(text).Sum >= 1000 })
		without := recall(nil)
		b.ReportMetric(float64(look[len(look)/2])/float64(with), "share")
		b.ReportMetric(float64(with)/float64(without), "x-labels-only")
		b.ReportMetric(float64(with.Nanoseconds())/1e3, "µs-recall")
	}
}

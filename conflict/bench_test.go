package conflict_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/conflict"
)

// BenchmarkScan looks through 100,000 files with a thousand copies among them, by
// their names, against find on the same tree. The answers differ: find only prints
// the names, the scan pairs copies with bases and reads both.
func BenchmarkScan(b *testing.B) {
	find, err := exec.LookPath("find")
	if err != nil {
		b.Skip("find is not here to compare with")
	}
	const n, every = 100_000, 100
	root := b.TempDir()
	for i := range n / 1000 {
		if err := os.MkdirAll(filepath.Join(root, fmt.Sprintf("d%03d", i)), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	for i := range n {
		name := fmt.Sprintf("note-%06d.md", i)
		if i%every == 1 {
			name = fmt.Sprintf("note-%06d.sync-conflict-20260527-083015-K3ZQ7AB.md", i-1)
		}
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("d%03d", i/1000), name), []byte("one line\n"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	fleet := backends.Open(b.Context(), backends.Builtin(), []backends.StoreConfig{{Name: "s", Kind: "vault", Path: root}}, backends.Env{}, backends.Policy{Audit: backends.Unrecorded, Timeout: 2 * time.Minute})
	defer fleet.Close()
	s, err := fleet.Store("s")
	if err != nil {
		b.Fatal(err)
	}
	found := 0
	for b.Loop() {
		found = 0
		for _, err := range conflict.List(b.Context(), s, conflict.Options{Markers: conflict.LookNone}) {
			if err != nil {
				b.Fatal(err)
			}
			found++
		}
	}
	const times = 3
	start := time.Now()
	for range times {
		if err := exec.Command(find, root, "-type", "f", "-printf", "%P\n").Run(); err != nil {
			b.Fatal(err)
		}
	}
	peer := time.Since(start) / times
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(peer), "x-find")
	b.ReportMetric(float64(peer)/1e6, "find-ms")
	if found != n/every {
		b.Errorf("%d copies, want %d", found, n/every)
	}
}

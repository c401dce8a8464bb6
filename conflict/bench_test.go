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
	"memdesk/internal/testcpu"
)

// BenchmarkScan scans the names of 100,000 files with a thousand copies among them, against find on the same
// tree. The answers differ: find only prints names, the scan pairs copies with bases and reads both.
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
	old := time.Now().Add(-time.Hour)
	for i := range n / 1000 {
		if err := os.Chtimes(filepath.Join(root, fmt.Sprintf("d%03d", i)), old, old); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.Chtimes(root, old, old); err != nil {
		b.Fatal(err)
	}
	// "open": the walk from opening the store is still valid; "changed": a change has invalidated it,
	// and the names are walked again.
	for _, name := range []string{"open", "changed"} {
		b.Run(name, func(b *testing.B) {
			var own, peer, cpu, peerCPU time.Duration
			for b.Loop() {
				fleet := backends.Open(b.Context(), backends.Builtin(), []backends.StoreConfig{{Name: "s", Kind: "vault", Path: root}}, backends.Env{}, backends.Policy{Audit: backends.Unrecorded, Timeout: 2 * time.Minute})
				s, err := fleet.Store("s")
				if err != nil {
					b.Fatal(err)
				}
				if name == "changed" {
					if err := os.Chtimes(filepath.Join(root, "d000"), time.Now(), time.Now()); err != nil {
						b.Fatal(err)
					}
				}
				found, start := 0, time.Now()
				cpu += testcpu.Spent(func() {
					for _, err := range conflict.List(b.Context(), s, conflict.Options{Markers: conflict.LookNone}) {
						if err != nil {
							b.Fatal(err)
						}
						found++
					}
				})
				own += time.Since(start)
				_ = fleet.Close()
				if found != n/every {
					b.Fatalf("%d copies, want %d", found, n/every)
				}
				start = time.Now()
				names := exec.Command(find, root, "-type", "f", "-printf", "%P\n")
				if err := names.Run(); err != nil {
					b.Fatal(err)
				}
				peer += time.Since(start)
				peerCPU += names.ProcessState.UserTime() + names.ProcessState.SystemTime()
			}
			b.ReportMetric(float64(own)/float64(peer), "x-find")
			b.ReportMetric(float64(cpu)/float64(peerCPU), "x-find-cpu")
			b.ReportMetric(float64(peer)/float64(b.N)/1e6, "find-ms")
			b.ReportMetric(float64(own)/float64(b.N)/1e6, "own-ms")
		})
	}
}

package audit

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"memdesk/internal/atomicfile"
	"memdesk/internal/clock"
)

// BenchmarkAppend measures durable records per second with concurrent writers; "each" flushes every
// record by itself.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 8, 32} {
		for mode, most := range map[string]int{"each": 1, "shared": 0} {
			b.Run(fmt.Sprintf("writers=%d/%s", writers, mode), func(b *testing.B) {
				l, err := Open(Options{Dir: filepath.Join(b.TempDir(), "audit"), Tool: "bench"})
				if err != nil {
					b.Fatal(err)
				}
				l.group.most = most
				ctx := context.Background()
				left := atomic.Int64{}
				left.Store(int64(b.N))
				b.ResetTimer()
				var all sync.WaitGroup
				for range writers {
					all.Go(func() {
						for left.Add(-1) >= 0 {
							if err := l.Note(ctx, Entry{Action: "read", Store: "s"}, Result{Verdict: OK}); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
			})
		}
	}
}

// BenchmarkVerify verifies a log of a million records: acts in pairs, chain and tree. The peer only
// hashes the same bytes twice, for the chain and for the leaves of the tree.
func BenchmarkVerify(b *testing.B) {
	const records = 1_000_000
	dir := filepath.Join(b.TempDir(), "audit")
	if err := generate(dir, records); err != nil {
		b.Fatal(err)
	}
	l, err := Open(Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := l.Checkpoint(b.Context()); err != nil {
		b.Fatal(err)
	}
	segments, _ := filepath.Glob(filepath.Join(dir, "log-*"))
	var bytes int64
	for b.Loop() {
		rep, err := Verify(b.Context(), dir)
		if err != nil || !rep.OK || rep.Events < records || len(rep.Proven) == 0 || rep.Proven[0].Seq < records {
			b.Fatalf("%+v %v", rep, err)
		}
	}
	took := b.Elapsed()
	began := time.Now()
	for _, s := range segments {
		data, err := os.ReadFile(s)
		if err != nil {
			b.Fatal(err)
		}
		bytes += int64(len(data))
		_, _ = sha256.Sum256(data), sha256.Sum256(data)
	}
	b.ReportMetric(float64(took)/float64(b.N)/float64(time.Since(began)), "x-hashing-twice-on-one-processor")
	b.ReportMetric(float64(bytes)/1e9/(took.Seconds()/float64(b.N)), "GB/s")
}

func BenchmarkListNewest(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "audit")
	if err := generate(dir, 200_000); err != nil {
		b.Fatal(err)
	}
	l, err := Open(Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if page, err := l.List(context.Background(), Filter{}, 100, ""); err != nil || len(page.Rows) != 100 {
			b.Fatal(len(page.Rows), err)
		}
	}
}

// generate appends n records in one segment without a flush for each.
func generate(dir string, n int) error {
	c := clock.NewFake(time.Date(2026, 5, 21, 9, 0, 0, 0, time.UTC))
	l, err := Open(Options{Dir: dir, Clock: c, Tool: "memdesk 1.0", Actor: Actor{ID: "SHA256:pb8QoitjF70PDoEr0yAUWyGxjaphl8SsY+CQjZezyz0"}, Role: "operator"})
	if err != nil {
		return err
	}
	ctx := context.Background()
	if err := l.Note(ctx, Entry{Action: "read"}, Result{Verdict: OK}); err != nil {
		return err
	}
	k, err := l.readKey()
	if err != nil {
		return err
	}
	h := l.seen
	f, err := os.OpenFile(l.path(h.Segment), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for i := range n {
		c.Advance(time.Microsecond)
		r := l.record(Entry{Action: "forget", Store: "crewship", Tier: "topics", Target: fmt.Sprint("item-", i), Subject: "ann@example.org"}, k)
		r.Phase, r.Seq, r.Prev = PhaseIntent, h.Seq+1, h.Hash
		if i%2 == 1 {
			r.Phase, r.Link, r.Result = PhaseOutcome, h.Seq, OK
		}
		raw, err := r.encode()
		if err != nil {
			return err
		}
		if _, err := w.Write(append(raw, '\n')); err != nil {
			return err
		}
		h.Seq, h.Hash, h.Tail, h.Size = r.Seq, r.Hash, h.Size, h.Size+int64(len(raw))+1
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return l.writeHead(h)
}

// BenchmarkTree adds one leaf to a tree of so many records and proves one: the number of tiles read and
// written grows with the logarithm. 10,000,000 with MEMDESK_SOAK.
func BenchmarkTree(b *testing.B) {
	sizes := []int{10_000, 100_000, 1_000_000}
	if os.Getenv("MEMDESK_SOAK") != "" {
		sizes = append(sizes, 10_000_000)
	}
	for _, size := range sizes {
		files := 0
		d := tiles{counted{opened: &files}, b.TempDir()}
		var tree tlog.Tree
		leaves := make([]tlog.Hash, 0, growBy)
		for i := range size {
			leaves = append(leaves, tlog.RecordHash(fmt.Append(nil, i)))
			if len(leaves) == growBy || i+1 == size {
				next, _, err := d.grow(tree, tlog.TileHashReader(tree, d), leaves)
				if err != nil {
					b.Fatal(err)
				}
				tree, leaves = next, leaves[:0]
			}
		}
		b.Run(fmt.Sprintf("records=%d/append", size), func(b *testing.B) {
			files = 0
			for b.Loop() {
				if _, _, err := d.grow(tree, tlog.TileHashReader(tree, d), []tlog.Hash{{1}}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(files)/float64(b.N), "files/op")
		})
		b.Run(fmt.Sprintf("records=%d/prove", size), func(b *testing.B) {
			hashes, n := 0, int64(0)
			files = 0
			for b.Loop() {
				n = (n + 7919) % tree.N
				p, err := tlog.ProveRecord(tree.N, n, tlog.TileHashReader(tree, d))
				if err != nil {
					b.Fatal(err)
				}
				hashes = len(p)
			}
			b.ReportMetric(float64(hashes), "hashes")
			b.ReportMetric(float64(files)/float64(b.N), "files/op")
		})
	}
}

// counted is quick and counts opened files.
type counted struct {
	quick
	opened *int
}

func (c counted) OpenFile(name string, flag int, perm fs.FileMode) (atomicfile.File, error) {
	*c.opened++
	return c.quick.OpenFile(name, flag, perm)
}

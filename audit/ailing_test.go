package audit

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"memdesk/internal/atomicfile"
)

// ailing is a disk that cannot read one file from an offset on.
type ailing struct {
	quick
	name string
	from int64
}

type ailingFile struct {
	atomicfile.File
	from int64
}

func (a ailing) OpenFile(name string, flag int, perm fs.FileMode) (atomicfile.File, error) {
	f, err := a.quick.OpenFile(name, flag, perm)
	if err != nil || filepath.Base(name) != a.name {
		return f, err
	}
	return ailingFile{f, a.from}, nil
}

func (f ailingFile) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) <= f.from {
		return f.File.ReadAt(p, off)
	}
	n := 0
	if off < f.from {
		n, _ = f.File.ReadAt(p[:f.from-off], off)
	}
	return n, &fs.PathError{Op: "read", Path: "x", Err: syscall.EIO}
}

// TestUnreadableIsNotTheEnd: a read error must be reported and must never pass for the end of a file: not in a
// list, not in a count, and least of all where the side table is rewritten.
func TestUnreadableIsNotTheEnd(t *testing.T) {
	b := newBench(t)
	b.options.FS, b.options.SegmentBytes = quick{}, 0
	b.acts(20)
	names := filepath.Join(b.dir, namesFile)
	before, err := os.ReadFile(names)
	if err != nil {
		t.Fatal(err)
	}
	half := int64(len(before) / 2)
	seq := uint64(20) // behind the damage
	for name, try := range map[string]struct {
		file string
		do   func(context.Context, *Log) error
	}{
		"erase names": {namesFile, func(ctx context.Context, l *Log) error {
			_, err := l.EraseNames(ctx, []string{"item-1"}, Nobody)
			return err
		}},
		"list with names":  {namesFile, func(ctx context.Context, l *Log) error { _, err := l.List(ctx, Filter{}, 0, ""); return err }},
		"verify the names": {namesFile, func(ctx context.Context, l *Log) error { _, err := l.Verify(ctx); return err }},
		"list, the oldest first": {segment(1), func(ctx context.Context, l *Log) error {
			_, err := l.List(ctx, Filter{OldestFirst: true}, 0, "")
			return err
		}},
		"list, the newest first": {segment(1), func(ctx context.Context, l *Log) error { _, err := l.List(ctx, Filter{}, 0, ""); return err }},
		"open intents":           {segment(1), func(ctx context.Context, l *Log) error { _, err := l.OpenIntents(ctx); return err }},
		"one record":             {segment(1), func(_ context.Context, l *Log) error { _, err := l.rawRecord(seq); return err }},
		"an intent":              {segment(1), func(_ context.Context, l *Log) error { _, err := l.intent(seq); return err }},
	} {
		t.Run(name, func(t *testing.T) {
			b.options.FS = ailing{name: try.file, from: half}
			err := try.do(t.Context(), b.open())
			if !errors.Is(err, syscall.EIO) || errors.Is(err, ErrTampered) {
				t.Errorf("%v, want the read error", err)
			}
			if err != nil && strings.Contains(err.Error(), b.dir) {
				t.Errorf("the error names a path: %v", err)
			}
		})
	}
	if after, err := os.ReadFile(names); err != nil || string(after) != string(before) {
		t.Errorf("the side table lost %d of %d bytes, %v", len(before)-len(after), len(before), err)
	}
	b.options.FS = quick{}
	b.wantOK()
}

// TestAnOverLongLineIsOneRow: pages that end at a line longer than what is read at once must show it once, both ways.
func TestAnOverLongLineIsOneRow(t *testing.T) {
	b := newBench(t)
	b.options.FS, b.options.SegmentBytes = quick{}, 0
	b.acts(1)
	at := filepath.Join(b.dir, segment(1))
	text, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	if err := os.WriteFile(at, []byte(first+"\n"+strings.Repeat("x", 2*chunk)+"\n"+rest), 0o600); err != nil {
		t.Fatal(err)
	}
	want := strings.Count(string(text), "\n") + 1
	for _, oldest := range []bool{false, true} {
		rows, cursor := 0, ""
		for {
			page, err := b.open().List(t.Context(), Filter{OldestFirst: oldest}, 1, cursor)
			if err != nil {
				t.Fatal(err)
			}
			rows += len(page.Rows)
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		if rows != want {
			t.Errorf("oldest first %v: %d rows, want %d", oldest, rows, want)
		}
	}
}

package eventlog_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"memdesk/internal/eventlog"
)

func TestNewestFirstAndBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events", "gw.jsonl")
	if got, err := eventlog.Tail(path, 0); err != nil || len(got) != 0 {
		t.Fatalf("nothing there: %q, %v", got, err)
	}
	pad := strings.Repeat("x", 8<<10)
	for i := range 400 {
		if err := eventlog.Append(path, fmt.Appendf(nil, "%d %s", i, pad)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := eventlog.Tail(path, 200)
	if err != nil || len(got) < 128 {
		t.Fatalf("%d lines, %v", len(got), err)
	}
	for i, line := range got {
		if want := fmt.Sprint(399-i, " "); !strings.HasPrefix(string(line), want) {
			t.Fatalf("line %d begins %.8q, want %q", i, line, want)
		}
	}
	var size int64
	files, _ := os.ReadDir(filepath.Dir(path))
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > 2<<20+32<<10 {
		t.Errorf("%d bytes are kept", size)
	}
}

func TestWritersSideBySideLoseNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events", "gw.jsonl")
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 50 {
				if err := eventlog.Append(path, fmt.Appendf(nil, "%d-%d", w, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got, err := eventlog.Tail(path, 0); err != nil || len(got) != 200 {
		t.Errorf("%d lines of 200, %v", len(got), err)
	}
}

func TestErase(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "events")
	if n, err := eventlog.Erase(dir, func([]byte) bool { return true }); n != 0 || err != nil {
		t.Errorf("no directory: %d, %v", n, err)
	}
	for _, name := range []string{"a.jsonl", "a.jsonl.1", "b.jsonl"} {
		for _, line := range []string{"of ana", "of bob"} {
			if err := eventlog.Append(filepath.Join(dir, name), []byte(line)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n, err := eventlog.Erase(dir, func(line []byte) bool { return bytes.Contains(line, []byte("ana")) }); n != 3 || err != nil {
		t.Errorf("erased %d, %v", n, err)
	}
	for _, name := range []string{"a.jsonl", "a.jsonl.1", "b.jsonl"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != "of bob\n" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}

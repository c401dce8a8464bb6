package linefile_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"memdesk/internal/linefile"
)

func lines(t *testing.T, f linefile.File) (out []string) {
	t.Helper()
	if err := f.Each(func(line []byte) { out = append(out, string(line)) }); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOldestFirstAndBounded(t *testing.T) {
	f := linefile.File{Path: filepath.Join(t.TempDir(), "events", "gw.jsonl"), Most: 1 << 20}
	if got := lines(t, f); len(got) != 0 {
		t.Fatalf("nothing there: %q", got)
	}
	pad := strings.Repeat("x", 8<<10)
	for i := range 400 {
		if err := f.Add(fmt.Appendf(nil, "%d %s\n", i, pad)); err != nil {
			t.Fatal(err)
		}
	}
	got := lines(t, f)
	if len(got) < 128 {
		t.Fatalf("%d lines", len(got))
	}
	for i, line := range got {
		if want := fmt.Sprint(400-len(got)+i, " "); !strings.HasPrefix(line, want) {
			t.Fatalf("line %d begins %.8q, want %q", i, line, want)
		}
	}
	var size int64
	files, _ := os.ReadDir(filepath.Dir(f.Path))
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

// TestReadersMissNoFile: the file may become the older one while a reader opens both.
func TestReadersMissNoFile(t *testing.T) {
	f := linefile.File{Path: filepath.Join(t.TempDir(), "gw.jsonl"), Most: 100}
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 5_000 {
			if err := f.Add(fmt.Appendf(nil, "%d\n", i)); err != nil {
				t.Error(err)
			}
		}
	})
	wrote := make(chan bool)
	go func() { wg.Wait(); close(wrote) }()
	for read := 0; ; read++ {
		select {
		case <-wrote:
			return
		default:
		}
		last := ""
		for _, line := range lines(t, f) {
			i, err := strconv.Atoi(strings.TrimSpace(line))
			if want := fmt.Sprintln(i - 1); err != nil || last != "" && last != want {
				t.Fatalf("read %d: %q follows %q", read, line, last)
			}
			last = line
		}
	}
}

func TestWritersSideBySideLoseNothing(t *testing.T) {
	f := linefile.File{Path: filepath.Join(t.TempDir(), "events", "gw.jsonl")}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 50 {
				if err := f.Add(fmt.Appendf(nil, "%d-%d\n", w, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := lines(t, f); len(got) != 200 {
		t.Errorf("%d lines of 200", len(got))
	}
}

func TestEraseIn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "events")
	if n, err := linefile.EraseIn(dir, func([]byte) bool { return true }); n != 0 || err != nil {
		t.Errorf("no directory: %d, %v", n, err)
	}
	for _, name := range []string{"a.jsonl", "b.jsonl"} {
		f := linefile.File{Path: filepath.Join(dir, name), Most: 10}
		for _, line := range []string{"\"of ana\"\n", "\"of bob\"\n", "\"of ana\"\n"} { // the first two become the older file
			if err := f.Add([]byte(line)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Remove(filepath.Join(dir, "b.jsonl")); err != nil { // killed before the new one began
		t.Fatal(err)
	}
	for _, name := range []string{".a.jsonl.tmp.0123456789abcdef", ".a.jsonl.1.tmp.0123456789abcdef"} { // of a killed erasure
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := linefile.EraseIn(dir, func(line []byte) bool { return bytes.Contains(line, []byte("ana")) }); n != 3 || err != nil {
		t.Errorf("erased %d, %v", n, err)
	}
	for name, want := range map[string]string{"a.jsonl": "", "a.jsonl.1": "\"of bob\"\n", "b.jsonl.1": "\"of bob\"\n"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*.tmp.*")); len(left) > 0 || err != nil {
		t.Errorf("left: %q, %v", left, err)
	}
}

// TestFollower: each line is read once, and all of them again where an erasure replaced the file, also under its inode.
func TestFollower(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	var f linefile.Follower
	for _, step := range []struct{ write, want string }{
		{"", "anew "}, {"1\n2\n", "anew 1 2 "}, {"1\n2\n", ""}, {"1\n2\n3", ""}, {"1\n2\n3\n", "3 "}, {"1\n9\n3\n4\n", "4 "}, {"1\n3\n4\n5\n6\n", "anew 1 3 4 5 6 "},
		{"1\n", "anew 1 "},
	} {
		if step.write != "" {
			if err := os.WriteFile(path, []byte(step.write), 0o600); err != nil { // keeps the inode
				t.Fatal(err)
			}
		}
		got := ""
		err := f.Look(path, func() { got += "anew " }, func(line []byte) { got += strings.TrimSpace(string(line)) + " " })
		if err != nil || got != step.want {
			t.Errorf("%q: %q, %v; want %q", step.write, got, err, step.want)
		}
	}
}

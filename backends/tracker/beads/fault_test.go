package beads_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"memdesk/backends/tracker"
	"memdesk/backends/tracker/beads"
	"memdesk/internal/atomicfile/faultfs"
	"memdesk/model"
)

const two = `{"id":"x-1","title":"one","status":"open","odd":1.50}` + "\r\n" + `{"id":"x-2","title":"two"}` + "\nbroken\n"

// TestEveryLineButOneStays edits every item of a file that contains every oddity.
func TestEveryLineButOneStays(t *testing.T) {
	odd := "\xef\xbb\xbf{\"_schema\":\"beads-jsonl/1\"}\n\n" + two +
		`{"_type":"memory","key":"k","value":"v"}` + "\n" + `{"id":"x-12","id":"x-12b","title":"twice"}` + "\n   \n" +
		`{ "zeta" : 1e3 , "id":"x-4","labels":["a","b,c"],"future":{"a":[1,2,{"b":null}]}}` + "\n" + "{\"id\":\"x-13\",\"title\":\"\xff\xfe\"}\n" +
		`{"id":"x-14","title":"last"}`
	for _, id := range []string{"x-1", "x-2", "memory/k", "x-12b", "x-4", "x-13", "x-14"} {
		s, dir := repo(t, map[string]string{"issues.jsonl": odd})
		path := filepath.Join(dir, "issues.jsonl")
		it, err := s.Browser.Read(t.Context(), id)
		must(t, err)
		doc, err := model.DecodeDocument(model.Structured, it.Document().Encode(model.Structured))
		must(t, err)
		_, err = s.Provider.Retain(t.Context(), model.RetainRequest{ID: id, Mode: model.Replace, Content: "new \"text\"\n", Meta: doc.Meta, IfMatch: it.Revision})
		must(t, err)
		before, after := strings.Split(odd, "\n"), strings.Split(content(t, path), "\n")
		changed := 0
		for i := range before {
			if len(after) != len(before) {
				t.Fatalf("%s: %d lines, want %d", id, len(after), len(before))
			}
			if before[i] != after[i] {
				changed++
			}
		}
		if changed != 1 {
			t.Errorf("%s: %d lines changed, want 1", id, changed)
		}
		if it, err = s.Browser.Read(t.Context(), id); err != nil || it.Body != "new \"text\"\n" {
			t.Errorf("%s reads %q, %v", id, it.Body, err)
		}
		if id == "x-4" && !strings.Contains(content(t, path), `{ "zeta" : 1e3 , "id":"x-4","labels":["a","b,c"],"future":{"a":[1,2,{"b":null}]}`) {
			t.Errorf("the line lost its form: %s", content(t, path))
		}
		_, err = s.Provider.Forget(t.Context(), model.ForgetRequest{ID: id})
		must(t, err)
		if got := strings.Split(content(t, path), "\n"); len(got) > len(before) || len(got) < len(before)-1 {
			t.Errorf("%s: %d lines after forget", id, len(got))
		}
	}
}

// TestKillPoints stops the process before every step of a write to both files: each file must be in its
// old or new state, the rest must be reported, and repeating the act must finish it.
func TestKillPoints(t *testing.T) {
	deps := `{"blockerId":"x-2","blockedId":"x-1"}` + "\n"
	after := strings.Replace(two, `{"id":"x-2","title":"two"}`+"\n", "", 1)
	for n := 0; ; n++ {
		_, dir := repo(t, map[string]string{"issues.jsonl": two, "deps.jsonl": deps})
		layer := faultfs.New(faultfs.CrashAt(n))
		s := beads.NewStore(dir, beads.Config{FS: layer})
		_, err := s.Remove(t.Context(), "x-2", func(tracker.Record) error { return nil })
		issues, pairs := content(t, filepath.Join(dir, "issues.jsonl")), content(t, filepath.Join(dir, "deps.jsonl"))
		if issues != two && issues != after || pairs != deps && pairs != "" || issues == two && pairs == "" {
			t.Fatalf("killed before step %d: issues %q, deps %q", n, issues, pairs)
		}
		if !layer.Dead() {
			must(t, err)
			if n < 8 {
				t.Errorf("only %d steps: the faults reach no write", n)
			}
			return
		}
		if err == nil && (issues == two || pairs == deps) {
			t.Errorf("killed before step %d, and no error", n)
		}
		again := beads.NewStore(dir, beads.Config{})
		_, err = again.Remove(t.Context(), "x-2", func(tracker.Record) error { return nil })
		must(t, err)
		if content(t, filepath.Join(dir, "issues.jsonl")) != after || content(t, filepath.Join(dir, "deps.jsonl")) != "" {
			t.Errorf("after step %d the second try does not finish", n)
		}
		left, err := filepath.Glob(filepath.Join(dir, ".*"))
		must(t, err)
		if len(left) != 0 && issues == two {
			t.Errorf("left behind: %q", left)
		}
	}
}

// TestFaultyDisk: a write that fails must change nothing and leave nothing, and its kind must say whether to retry.
func TestFaultyDisk(t *testing.T) {
	for fault, kind := range map[error]model.Kind{syscall.ENOSPC: model.Unavailable, syscall.EIO: model.Unavailable, syscall.EROFS: model.PermissionDenied} {
		for _, verb := range []string{"create", "write", "sync", "rename"} {
			_, dir := repo(t, map[string]string{"issues.jsonl": two})
			layer := faultfs.New(func(_ int, step string) *faultfs.Fault {
				if strings.HasPrefix(step, verb) {
					return &faultfs.Fault{Err: fault, Part: 10}
				}
				return nil
			})
			s := beads.NewStore(dir, beads.Config{FS: layer})
			if _, err := s.Remove(t.Context(), "x-1", func(tracker.Record) error { return nil }); model.KindOf(err) != kind {
				t.Errorf("%s fails: %v is of kind %q", verb, err, model.KindOf(err))
			} else if full := fault == syscall.ENOSPC; full && !model.Unchanged(err) {
				t.Errorf("%s fails: nobody can tell that nothing was changed", verb)
			}
			if content(t, filepath.Join(dir, "issues.jsonl")) != two {
				t.Errorf("%s fails, and the file is changed", verb)
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
				t.Errorf("%s fails, and %v is left, %v", verb, entries, err)
			}
		}
	}
}

// TestAFullDiskBetweenTheFiles: with one of two files written the change is not known to be nothing.
func TestAFullDiskBetweenTheFiles(t *testing.T) {
	_, dir := repo(t, map[string]string{"issues.jsonl": two, "deps.jsonl": `{"blockerId":"x-2","blockedId":"x-1"}` + "\n"})
	s := beads.NewStore(dir, beads.Config{FS: faultfs.New(func(_ int, step string) *faultfs.Fault {
		if strings.HasPrefix(step, "write") && strings.Contains(step, "deps.jsonl") {
			return &faultfs.Fault{Err: syscall.ENOSPC}
		}
		return nil
	})})
	if _, err := s.Remove(t.Context(), "x-2", func(tracker.Record) error { return nil }); err == nil || model.Unchanged(err) || content(t, filepath.Join(dir, "issues.jsonl")) == two {
		t.Errorf("%v, unchanged %v", err, model.Unchanged(err))
	}
}

// TestADirectoryThatIsNotFlushed: the first file is in place then, so the second must follow it, and the error stays.
func TestADirectoryThatIsNotFlushed(t *testing.T) {
	_, dir := repo(t, map[string]string{"issues.jsonl": two, "deps.jsonl": `{"blockerId":"x-2","blockedId":"x-1"}` + "\n"})
	flushed := 0
	s := beads.NewStore(dir, beads.Config{FS: faultfs.New(func(_ int, step string) *faultfs.Fault {
		if strings.HasPrefix(step, "syncdir") {
			if flushed++; flushed == 1 {
				return &faultfs.Fault{Err: syscall.EIO}
			}
		}
		return nil
	})})
	_, err := s.Remove(t.Context(), "x-2", func(tracker.Record) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "durable") || flushed != 2 || content(t, filepath.Join(dir, "issues.jsonl")) == two || content(t, filepath.Join(dir, "deps.jsonl")) != "" {
		t.Errorf("%v after %d flushes, deps %q", err, flushed, content(t, filepath.Join(dir, "deps.jsonl")))
	}
}

// tries is how often the writers meet: some hundred times, ten thousand in a soak.
func tries() int {
	if os.Getenv("MEMDESK_SOAK") != "" {
		return 10_000
	}
	return 100
}

// TestForeignWriter writes beside a program that takes no lock, keeps its data elsewhere and replaces
// the file by a rename, as bd's export does: its last write must never be lost.
func TestForeignWriter(t *testing.T) {
	s, dir := repo(t, map[string]string{"issues.jsonl": two})
	path := filepath.Join(dir, "issues.jsonl")
	n := tries()
	var wg sync.WaitGroup
	mine := 0
	wg.Go(func() {
		for i := range n {
			_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "x-1", Mode: model.Replace, Content: fmt.Sprintf("text %d", i)})
			switch model.KindOf(err) {
			case "":
				mine++
			case model.Conflict, model.Locked:
			default:
				t.Errorf("retain: %v", err)
			}
		}
	})
	wg.Go(func() {
		all := []byte(two)
		for i := range n {
			next := filepath.Join(dir, "foreign.new")
			all = fmt.Appendf(all, `{"id":"f-%d","title":"foreign"}`+"\n", i)
			if err := os.WriteFile(next, all, 0o644); err != nil {
				t.Error(err)
			}
			if err := os.Rename(next, path); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	text := content(t, path)
	for i := range n {
		if !strings.Contains(text, fmt.Sprintf(`"f-%d"`, i)) {
			t.Errorf("the foreign line %d is lost", i)
		}
	}
	if mine == 0 || !strings.Contains(text, "broken\n") {
		t.Errorf("%d writes of %d went through", mine, n)
	}
}

// TestTwoWriters: the stores of two processes share only the lock.
func TestTwoWriters(t *testing.T) {
	_, dir := repo(t, map[string]string{"issues.jsonl": two})
	n := tries() / 2
	var wg sync.WaitGroup
	for w := range 2 {
		s, err := beads.Open(t.Context(), beads.Config{Path: dir})
		must(t, err)
		wg.Go(func() {
			for i := range n {
				_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "x-1", Mode: model.Append, Content: fmt.Sprintf("<%d.%d>", w, i)})
				if err != nil {
					t.Errorf("append: %v", err)
				}
			}
		})
	}
	wg.Wait()
	text := content(t, filepath.Join(dir, "issues.jsonl"))
	for w := range 2 {
		for i := range n {
			if !strings.Contains(text, fmt.Sprintf("<%d.%d>", w, i)) {
				t.Errorf("append %d of writer %d is lost", i, w)
			}
		}
	}
}

// TestWhereNothingMayBeWritten: the store must be read-only and say why, before a change is tried.
func TestWhereNothingMayBeWritten(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := filepath.Join(t.TempDir(), ".beads")
	if err := os.Mkdir(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	s, err := beads.Open(t.Context(), beads.Config{Name: "beads", Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	if !s.ReadOnly || !strings.Contains(s.ReadOnlyReason, "may not write") || s.Tiers[0].Writable {
		t.Errorf("read-only %v: %q", s.ReadOnly, s.ReadOnlyReason)
	}
}

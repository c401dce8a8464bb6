package seamtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"memdesk/backends/seam"
	"memdesk/model"
)

func plant(t *testing.T, s Subject, name, text string) {
	t.Helper()
	path := filepath.Join(s.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Skipf("this file system cannot hold %q: %v", name, err)
	}
}

func neverOrphan(t *testing.T, s Subject) {
	write(t, s, "a.md", "through the seam")
	data, err := os.ReadFile(filepath.Join(s.Dir, "a.md"))
	if err != nil || string(data) != "through the seam" {
		t.Errorf("on disk: %q, %v", data, err)
	}
	plant(t, s, "b/c.md", "direct")
	wantText(t, s, "b/c.md", "direct")
}

// writersCompete lets many writers on two trees each add a line by compare and swap; every line must survive.
func writersCompete(t *testing.T, s Subject) {
	other := s.Second(t)
	l := write(t, s, "log.md", "start\n")
	const writers, lines = 8, 5
	var wg sync.WaitGroup
	for w := range writers {
		tree := []seam.Tree{s.Tree, other}[w%2]
		wg.Go(func() {
			for n := range lines {
				addLine(t, tree, l, fmt.Sprintf("writer %d line %d\n", w, n))
			}
		})
	}
	wg.Wait()
	text, err := s.Tree.Read(t.Context(), l)
	if err != nil || strings.Count(text, "\n") != writers*lines+1 {
		t.Errorf("%d of %d lines survived, %v", strings.Count(text, "\n")-1, writers*lines, err)
	}
}

func addLine(t *testing.T, tree seam.Tree, l seam.Locator, line string) {
	for {
		text, err := tree.Read(t.Context(), l)
		if err != nil {
			t.Error(err)
			return
		}
		_, err = tree.WriteIf(t.Context(), l, text+line, seam.RevisionOf(text))
		if err == nil {
			return
		}
		if !errors.Is(err, model.Conflict) {
			t.Error(err)
			return
		}
	}
}

func writeIfConflict(t *testing.T, s Subject) {
	l := write(t, s, "f.md", "old")
	_, err := s.Tree.WriteIf(t.Context(), l, "mine", seam.RevisionOf("something else"))
	wantKind(t, err, model.Conflict)
	wantText(t, s, "f.md", "old")
	if _, err := s.Tree.WriteIf(t.Context(), l, "new", seam.RevisionOf("old")); err != nil {
		t.Error(err)
	}
	wantText(t, s, "f.md", "new")
	_, err = s.Tree.WriteIf(t.Context(), at(t, s, "gone/f.md"), "x", seam.RevisionOf("old"))
	wantKind(t, err, model.Conflict)
	wantKeys(t, keys(t, s), "f.md")
}

func writeIfAbsent(t *testing.T, s Subject) {
	l := at(t, s, "f.md")
	if _, err := s.Tree.WriteIf(t.Context(), l, "first", model.Absent); err != nil {
		t.Fatal(err)
	}
	_, err := s.Tree.WriteIf(t.Context(), l, "second", model.Absent)
	wantKind(t, err, model.Conflict)
	wantText(t, s, "f.md", "first")
}

func crashKeepsOld(t *testing.T, s Subject) {
	for _, step := range []seam.Step{seam.StepCreate, seam.StepWrite, seam.StepSync, seam.StepRename} {
		write(t, s, "f.md", "old")
		s.Fail(step, seam.ErrCrash)
		if _, err := s.Tree.Write(t.Context(), at(t, s, "f.md"), "new"); err == nil {
			t.Errorf("a write that died at %v reports success", step)
		}
		s.Fail("", nil)
		wantText(t, s, "f.md", "old")
		write(t, s, "f.md", "after")
		wantText(t, s, "f.md", "after")
	}
	s.Fail(seam.StepSyncDir, seam.ErrCrash)
	_, err := s.Tree.Write(t.Context(), at(t, s, "f.md"), "renamed")
	if err == nil || !strings.Contains(err.Error(), "written") {
		t.Errorf("a rename that may not last reports %v", err)
	}
}

func fullDisk(t *testing.T, s Subject) {
	write(t, s, "f.md", "old")
	for _, step := range []seam.Step{seam.StepCreate, seam.StepWrite, seam.StepSync, seam.StepRename} {
		s.Fail(step, syscall.ENOSPC)
		_, err := s.Tree.Write(t.Context(), at(t, s, "f.md"), "new")
		wantKind(t, err, model.Unavailable)
		if step != seam.StepRename && !model.Unchanged(err) {
			t.Errorf("%v: nobody can tell that nothing was changed: %v", step, err)
		}
		s.Fail("", nil)
		wantText(t, s, "f.md", "old")
		wantKeys(t, keys(t, s), "f.md")
	}
	s.Fail(seam.StepRemove, syscall.EIO)
	_, err := s.Tree.Remove(t.Context(), at(t, s, "f.md"), "")
	wantKind(t, err, model.Unavailable)
	s.Fail("", nil)
	wantText(t, s, "f.md", "old")
}

func linkRefused(t *testing.T, s Subject) {
	plant(t, s, "real.md", "real")
	for name, to := range map[string]string{"inside.md": "real.md", "dangling.md": "nowhere", "outside.md": filepath.Join(t.TempDir(), "secret")} {
		if err := os.Symlink(to, filepath.Join(s.Dir, name)); err != nil {
			t.Skip(err)
		}
		l := at(t, s, name)
		_, err := s.Tree.Read(t.Context(), l)
		wantKind(t, err, model.PermissionDenied)
		_, err = s.Tree.Write(t.Context(), l, "through")
		wantKind(t, err, model.PermissionDenied)
		_, err = s.Tree.Remove(t.Context(), l, "")
		wantKind(t, err, model.PermissionDenied)
		if in, err := s.Tree.Info(t.Context(), l); err != nil || !in.Irregular || in.Dir || in.Size != 0 {
			t.Errorf("info of a link: %+v, %v", in, err)
		}
		if _, err := os.Lstat(filepath.Join(s.Dir, name)); err != nil {
			t.Errorf("the link %s is gone: %v", name, err)
		}
	}
	wantText(t, s, "real.md", "real")
	if _, err := os.Lstat(filepath.Join(s.Dir, "nowhere")); err == nil {
		t.Error("a write went through a dangling link")
	}
}

func linkOut(t *testing.T, s Subject) {
	plant(t, s, "x.md", "x")
	out := t.TempDir()
	secret := filepath.Join(out, "secret.md")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(s.Dir, out)
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"abs": out, "rel": rel} {
		if err := os.Symlink(to, filepath.Join(s.Dir, name)); err != nil {
			t.Skip(err)
		}
		if text, err := s.Tree.Read(t.Context(), at(t, s, name, "secret.md")); err == nil {
			t.Errorf("read %q through a link out of the root", text)
		}
		if _, err := s.Tree.Write(t.Context(), at(t, s, name, "new.md"), "x"); err == nil {
			t.Error("wrote through a link out of the root")
		}
		if _, err := s.Tree.Mkdir(t.Context(), at(t, s, name, "newdir")); err == nil {
			t.Error("made a directory through a link out of the root")
		}
		if gone, err := s.Tree.Remove(t.Context(), at(t, s, name, "secret.md"), ""); gone || err == nil {
			t.Errorf("removed through a link out of the root: %v, %v", gone, err)
		}
		if list, _ := s.Tree.List(t.Context(), at(t, s, name)); len(list) != 0 {
			t.Errorf("listed %v through a link out of the root", list)
		}
	}
	children, err := os.ReadDir(out)
	if err != nil || len(children) != 1 {
		t.Errorf("outside: %v, %v", children, err)
	}
}

func twinNames(t *testing.T, s Subject) {
	for _, pair := range [][2]string{{"Note.md", "note.md"}, {"caf\u00e9.md", "cafe\u0301.md"}} {
		write(t, s, pair[0], "one")
		_, err := s.Tree.WriteIf(t.Context(), at(t, s, pair[1]), "two", model.Absent)
		if errors.Is(err, model.Conflict) {
			t.Logf("this file system holds %q and %q as one", pair[0], pair[1])
			continue
		}
		if err != nil {
			t.Error(err)
		}
		wantText(t, s, pair[0], "one")
		wantText(t, s, pair[1], "two")
	}
}

func invalidText(t *testing.T, s Subject) {
	raw := "caf\xe9 \xff\x00 end"
	plant(t, s, "latin.md", raw)
	wantText(t, s, "latin.md", raw)
	if in, err := s.Tree.Info(t.Context(), at(t, s, "latin.md")); err != nil || in.Size != int64(len(raw)) {
		t.Errorf("info: %+v, %v", in, err)
	}
	if _, err := s.Tree.WriteIf(t.Context(), at(t, s, "latin.md"), "clean", seam.RevisionOf(raw)); err != nil {
		t.Errorf("clean text is not accepted in its place: %v", err)
	}
}

func oddNames(t *testing.T, s Subject) {
	odd := []string{"bad\xff.md", "new\nline.md", "esc\x1b[31m.md", "\u202ertl.md", " .md", "-rf"}
	for _, name := range odd {
		plant(t, s, name, name)
	}
	list := keys(t, s)
	for _, name := range odd {
		if !slices.Contains(list, name) {
			t.Errorf("%q is not listed", name)
			continue
		}
		wantText(t, s, name, name)
		if gone, err := s.Tree.Remove(t.Context(), at(t, s, name), seam.RevisionOf(name)); !gone || err != nil {
			t.Errorf("remove %q: %v, %v", name, gone, err)
		}
	}
	plant(t, s, `back\slash.md`, "x")
	wantKeys(t, keys(t, s))
}

func conflictCopies(t *testing.T, s Subject) {
	copies := []string{
		"n (conflicted copy 2026-05-21).md", "n 2.md", "n.md", "n.md.orig", "n.sync-conflict-20260521-101010-ABCDEFG.md", "n~HEAD.md",
	}
	for _, name := range copies {
		plant(t, s, name, name)
	}
	wantKeys(t, keys(t, s), copies...)
	write(t, s, "n.md", "new")
	wantKeys(t, keys(t, s), copies...)
}

func pipes(t *testing.T, s Subject) {
	plant(t, s, "x.md", "x")
	MakePipe(t, filepath.Join(s.Dir, "pipe.md"))
	_, err := s.Tree.Read(t.Context(), at(t, s, "pipe.md"))
	wantKind(t, err, model.PermissionDenied)
	_, err = s.Tree.Write(t.Context(), at(t, s, "pipe.md"), "x")
	wantKind(t, err, model.PermissionDenied)
}

func remove(t *testing.T, s Subject) {
	l := write(t, s, "d/f.md", "x")
	for i, want := range []bool{true, false, false} {
		if got, err := s.Tree.Remove(t.Context(), l, ""); got != want || err != nil {
			t.Errorf("removal %d = %v, %v", i+1, got, err)
		}
	}
	if got, err := s.Tree.Remove(t.Context(), at(t, s, "no/parent.md"), "any"); got || err != nil {
		t.Errorf("an absent parent: %v, %v", got, err)
	}
	_, err := s.Tree.Remove(t.Context(), at(t, s, "d"), "")
	wantKind(t, err, model.PermissionDenied)
	_, err = s.Tree.Remove(t.Context(), at(t, s), "")
	wantKind(t, err, model.InvalidInput)
	wantKeys(t, keys(t, s), "d")
}

func removeIf(t *testing.T, s Subject) {
	l := write(t, s, "f.md", "now")
	_, err := s.Tree.Remove(t.Context(), l, seam.RevisionOf("before"))
	wantKind(t, err, model.Conflict)
	wantText(t, s, "f.md", "now")
	if gone, err := s.Tree.Remove(t.Context(), l, seam.RevisionOf("now")); !gone || err != nil {
		t.Errorf("Remove = %v, %v", gone, err)
	}
}

func readingMakesNothing(t *testing.T, s Subject) {
	before, _ := os.ReadDir(s.Dir)
	l := at(t, s, "a/b.md")
	_, _ = s.Tree.Read(t.Context(), l)
	_, _ = s.Tree.List(t.Context(), l)
	_, _ = s.Tree.Exists(t.Context(), l)
	_, _ = s.Tree.Info(t.Context(), l)
	_, _ = s.Tree.Remove(t.Context(), l, "")
	after, _ := os.ReadDir(s.Dir)
	if len(after) != len(before) {
		t.Errorf("reading made %v", after)
	}
}

func endedContext(t *testing.T, s Subject) {
	write(t, s, "f.md", "old")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := at(t, s, "f.md")
	_, err := s.Tree.Write(ctx, l, "new")
	wantKind(t, err, model.Timeout)
	_, err = s.Tree.Remove(ctx, l, "")
	wantKind(t, err, model.Timeout)
	_, err = s.Tree.Read(ctx, l)
	wantKind(t, err, model.Timeout)
	wantText(t, s, "f.md", "old")
}

func noPaths(t *testing.T, s Subject) {
	plant(t, s, "d/f.md", "x")
	_ = os.Symlink(s.Dir, filepath.Join(s.Dir, "loop"))
	for _, key := range []string{"none.md", "d", "loop", "loop/x.md", "d/f.md/x"} {
		l := at(t, s, key)
		for _, err := range []error{
			second(s.Tree.Read(t.Context(), l)), second(s.Tree.Info(t.Context(), l)), second(s.Tree.Write(t.Context(), l, "x")),
			second(s.Tree.Remove(t.Context(), l, "")), second(s.Tree.WriteIf(t.Context(), l, "x", "r")), second(s.Tree.Mkdir(t.Context(), l)),
		} {
			if err != nil && strings.Contains(err.Error(), s.Dir) {
				t.Errorf("%q: the error names the place on disk: %v", key, err)
			}
		}
		_, _ = s.Tree.Remove(t.Context(), l, "")
	}
}

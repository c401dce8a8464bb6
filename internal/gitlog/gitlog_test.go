package gitlog_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/internal/gitlog"
	"memdesk/internal/gitlog/gitlogtest"
)

// repo is a repository in which commits are made by name.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T) repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on this machine")
	}
	r := repo{t, t.TempDir()}
	r.git("init", "-q", "-b", "main")
	return r
}

func (r repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.dir, "-c", "user.name=x", "-c", "user.email=x@y"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r repo) write(name, body string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// commit writes a file and returns the commit's id.
func (r repo) commit(message, name, body string) string {
	r.t.Helper()
	r.write(name, body)
	r.git("add", "-A")
	r.git("commit", "-q", "-m", message)
	return r.git("rev-parse", "HEAD")
}

func TestHolding(t *testing.T) {
	r := newRepo(t)
	quiet := r.commit("a start", "notes/a.md", "tea\n")
	brought := r.commit("more", "notes/b.md", "about zxq\n")
	removed := r.commit("less", "notes/b.md", "about nobody\n")
	told := r.commit("zxq asked for it", "notes/c.md", "rain\n")
	named := r.commit("a file", "notes/zxq.md", "rain\n")
	elsewhere := r.commit("outside", "other/d.md", "zxq\n")
	r.git("checkout", "-q", "-b", "side")
	branch := r.commit("on a branch", "notes/e.md", "again zxq\n")
	r.git("checkout", "-q", "main")
	holds := func(b []byte) bool { return bytes.Contains(b, []byte("zxq")) }
	got, err := gitlog.Holding(t.Context(), filepath.Join(r.dir, "notes"), holds, nil)
	if err != nil {
		t.Fatal(err)
	}
	for what, id := range map[string]string{"brought": brought, "removed": removed, "told": told, "named": named, "on a branch": branch} {
		if !slices.Contains(got.Commits, id) {
			t.Errorf("the commit that %s it is not among %q", what, got.Commits)
		}
		if !strings.Contains(got.Words(), id[:12]) {
			t.Errorf("%s is not in the words %q", what, got.Words())
		}
	}
	if slices.Contains(got.Commits, quiet) || slices.Contains(got.Commits, elsewhere) || len(got.Commits) != 5 {
		t.Errorf("commits %q; want five", got.Commits)
	}
	whole, err := gitlog.Holding(t.Context(), r.dir, holds, nil)
	if err != nil || !slices.Contains(whole.Commits, elsewhere) || whole.Objects <= got.Objects {
		t.Errorf("the whole repository: %+v, %v", whole, err)
	}
	none, err := gitlog.Holding(t.Context(), r.dir, func([]byte) bool { return false }, nil)
	if err != nil || len(none.Commits) != 0 || none.Objects == 0 {
		t.Errorf("nothing to find: %+v, %v", none, err)
	}
}

// TestHoldingInAWholeRepository: git keeps a text in more places than in the files of its commits.
func TestHoldingInAWholeRepository(t *testing.T) {
	type want struct{ commits, loose, files int }
	cases := map[string]struct {
		do   func(r repo)
		want want
	}{
		"a message of a commit without files": {func(r repo) { r.git("commit", "-q", "--allow-empty", "-m", "for zxq") }, want{1, 0, 3}},
		"the author of one":                   {func(r repo) { r.git("commit", "-q", "--allow-empty", "--author=zxq <x@y>", "-m", "x") }, want{1, 0, 0}},
		"a name of a file": {func(r repo) {
			r.commit("x", "zxq.md", "tea\n")
			r.git("rm", "-q", "zxq.md")
			r.git("commit", "-qm", "x")
		}, want{1, 0, 0}},
		"what is staged": {func(r repo) {
			r.write("c.md", "zxq\n")
			r.git("add", "-A")
			r.write("c.md", "tea\n")
		}, want{0, 1, 0}},
		"the message of a tag": {func(r repo) { r.git("tag", "-a", "v1", "-m", "by zxq") }, want{0, 1, 0}},
		"an unreferenced object": {func(r repo) {
			r.commit("x", "c.md", "zxq\n")
			r.git("reset", "-q", "--hard", "HEAD~1")
			r.git("reflog", "expire", "--expire=now", "--all")
		}, want{0, 1, 0}},
		"a branch's name": {func(r repo) { r.git("branch", "zxq") }, want{0, 0, 2}},
		"the stash":       {func(r repo) { r.write("a.md", "zxq\n"); r.git("stash", "-q") }, want{1, 0, 0}},
		"nothing":         {func(repo) {}, want{}},
	}
	for what, c := range cases {
		r := newRepo(t)
		r.commit("a", "a.md", "tea\n")
		c.do(r)
		got, err := gitlog.Holding(t.Context(), r.dir, func(b []byte) bool { return bytes.Contains(b, []byte("zxq")) }, nil)
		if is := (want{len(got.Commits), len(got.Loose), got.Files}); err != nil || is != c.want || got.Hits() != int64(is.commits+is.loose+is.files) {
			t.Errorf("%s: %+v (%s), %v; want %+v", what, is, got.Words(), err, c.want)
		}
	}
	far := newRepo(t) // of a worktree, the repository that it belongs to
	far.commit("a", "a.md", "tea\n")
	linked := filepath.Join(t.TempDir(), "linked")
	far.git("worktree", "add", "-q", "-b", "zxq", linked)
	if got, err := gitlog.Holding(t.Context(), linked, func(b []byte) bool { return bytes.Contains(b, []byte("zxq")) }, nil); err != nil || got.Files == 0 {
		t.Errorf("a branch's name, from a worktree: %+v, %v", got, err)
	}
	r := newRepo(t) // of a directory in a repository, what concerns it
	r.commit("a", "n/a.md", "tea\n")
	r.write("n/c.md", "zxq\n")
	r.write("d.md", "also zxq\n")
	r.git("add", "-A")
	got, err := gitlog.Holding(t.Context(), filepath.Join(r.dir, "n"), func(b []byte) bool { return bytes.Contains(b, []byte("zxq")) }, nil)
	if err != nil || len(got.Commits) != 0 || len(got.Loose) != 1 {
		t.Errorf("staged in a directory: %+v, %v", got, err)
	}
}

// TestALargeObjectIsNotHeld: an object can be larger than the memory.
func TestALargeObjectIsNotHeld(t *testing.T) {
	const size = 64<<20 + 1
	r := newRepo(t)
	r.git("config", "core.compression", "1")
	large := r.commit("a film", "film.bin", strings.Repeat("\x00", size-3)+"zxq")
	after := r.commit("a note", "note.md", "zxq\n")
	holds := func(b []byte) bool {
		if len(b) >= size {
			t.Errorf("%d bytes are held", len(b))
		}
		return bytes.Contains(b, []byte("zxq"))
	}
	got, err := gitlog.Holding(t.Context(), r.dir, holds, func(object io.Reader) (bool, error) {
		n, err := io.Copy(io.Discard, object)
		return n == size, err
	})
	if err != nil || !slices.Contains(got.Commits, large) || !slices.Contains(got.Commits, after) || got.Bytes < size {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := gitlog.Holding(t.Context(), r.dir, holds, func(object io.Reader) (bool, error) { return false, io.ErrUnexpectedEOF }); err == nil {
		t.Error("an object that could not be read is no error")
	}
	if got, err := gitlog.Holding(t.Context(), r.dir, holds, func(object io.Reader) (bool, error) { return false, nil }); err != nil || !slices.Contains(got.Commits, after) {
		t.Errorf("after an object that was not read to its end: %+v, %v", got, err)
	}
}

func TestUnknownIsAnError(t *testing.T) {
	r := newRepo(t)
	if _, err := gitlog.Holding(t.Context(), t.TempDir(), func([]byte) bool { return false }, nil); err == nil {
		t.Error("a directory in no repository has an answer")
	}
	first := r.commit("a", "a.md", "zxq\n")
	r.commit("b", "b.md", "tea\n")
	damaged := filepath.Join(r.dir, "damaged")
	if err := os.MkdirAll(filepath.Join(damaged, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := gitlog.Holding(t.Context(), damaged, func([]byte) bool { return false }, nil); err == nil {
		t.Error("the repository around a damaged one has the answer for it")
	}
	blob := r.git("rev-parse", first+":a.md")
	if err := os.Remove(filepath.Join(r.dir, ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	if _, err := gitlog.Holding(t.Context(), r.dir, func([]byte) bool { return false }, nil); err == nil {
		t.Error("a repository that has not all of its objects has an answer")
	}
	t.Setenv("PATH", "")
	if _, err := gitlog.Holding(t.Context(), r.dir, func([]byte) bool { return false }, nil); err == nil || !strings.Contains(err.Error(), "git") {
		t.Errorf("without git: %v", err)
	}
}

// TestRunsNothingThatTheRepositoryConfigures: a missing object of a partial clone makes git fetch it by a command that the
// repository's own configuration names, and whoever writes in the store writes that too.
func TestRunsNothingThatTheRepositoryConfigures(t *testing.T) {
	r := repo{t, t.TempDir()}
	r.write("d/n.md", "zxq\n")
	ran := gitlogtest.Partial(t, r.dir, "HEAD:d")
	for _, path := range []string{r.dir, filepath.Join(r.dir, "d")} {
		if _, err := gitlog.Holding(t.Context(), path, func([]byte) bool { return false }, nil); err == nil {
			t.Errorf("a repository that has not all of its objects has an answer for %s", path)
		}
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a command of the repository's configuration ran")
	}
}

// TestAuthorOf: the last commit of an unchanged file, and none of a changed one. A clean filter of the
// repository's configuration must not run: whoever writes in the repository can set one.
func TestAuthorOf(t *testing.T) {
	r := newRepo(t)
	r.commit("one", "a b.md", "x\r\n")
	id := r.commit("two", ".gitattributes", "*.md filter=f\n")
	ran := filepath.Join(t.TempDir(), "ran")
	r.git("config", "filter.f.clean", "touch "+ran+"; cat")
	path := filepath.Join(r.dir, "a b.md")
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, later, later); err != nil { // git must look into the file
		t.Fatal(err)
	}
	who, ok := gitlog.AuthorOf(t.Context(), path)
	if !ok || who.Name != "x" || strings.HasPrefix(id, who.Commit) {
		t.Errorf("%+v, %v", who, ok)
	}
	if err := os.WriteFile(path, []byte("y\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if who, ok := gitlog.AuthorOf(t.Context(), path); ok {
		t.Errorf("a changed file is %+v", who)
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a command of the repository's configuration ran")
	}
}

// TestAnotherRepositoryInTheEnvironment: the variables of a git hook that started this program name another
// repository.
func TestAnotherRepositoryInTheEnvironment(t *testing.T) {
	r, other := newRepo(t), newRepo(t)
	brought := r.commit("a", "a.md", "about zxq\n")
	other.commit("b", "a.md", "tea\n")
	t.Setenv("GIT_DIR", filepath.Join(other.dir, ".git"))
	t.Setenv("GIT_WORK_TREE", other.dir)
	got, err := gitlog.Holding(t.Context(), filepath.Join(r.dir, "a.md"), func(b []byte) bool { return bytes.Contains(b, []byte("zxq")) }, nil)
	if err != nil || !slices.Equal(got.Commits, []string{brought}) {
		t.Errorf("%+v, %v", got, err)
	}
}

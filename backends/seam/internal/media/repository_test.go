package media

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"memdesk/internal/filelock"
	"memdesk/model"
)

// TestALeftIndexLock: a rewrite that was killed left git's lock. The next run takes over its own, and neither
// git's nor one that is held.
func TestALeftIndexLock(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		held bool
		want model.Verdict
	}{
		"its own":        {lockMark, false, model.VerdictClean},
		"its own, alive": {lockMark, true, model.VerdictPending},
		"git's":          {"DIRC", false, model.VerdictPending},
		"git's, empty":   {"", false, model.VerdictPending},
	} {
		t.Run(name, func(t *testing.T) {
			tree := t.TempDir()
			r := &Repository{Path: filepath.Join(tree, ".git"), Layer: ".git", Rewrite: true}
			for _, args := range [][]string{{"init", "--quiet"}, {"-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "--allow-empty", "-m", "about ana"}} {
				cmd := exec.Command("git", args...)
				cmd.Dir = tree
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			lock := filepath.Join(r.Path, "index.lock")
			if err := os.WriteFile(lock, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if tt.held {
				f, err := os.Open(lock)
				if err != nil {
					t.Fatal(err)
				}
				defer filelock.Close(f)
				if got, err := filelock.Try(f, true); !got || err != nil {
					t.Fatal(got, err)
				}
			}
			res, err := r.Scrub(t.Context(), model.ScrubRequest{Traces: func(_ context.Context, medium io.Reader) (bool, error) {
				_, err := io.Copy(io.Discard, medium)
				return true, err
			}})
			if err != nil || len(res) != 1 || res[0].Verdict != tt.want {
				t.Fatalf("%+v, %v; want %s", res, err, tt.want)
			}
			if _, err := os.Lstat(lock); os.IsNotExist(err) != (tt.want == model.VerdictClean) {
				t.Errorf("the lock afterwards: %v", err)
			}
		})
	}
}

// TestLeftoverBesideARewrite: another program at work may be about to exchange the new repository, so it stays.
func TestLeftoverBesideARewrite(t *testing.T) {
	tree := t.TempDir()
	r := &Repository{Path: filepath.Join(tree, ".git"), Layer: ".git"}
	lock := filepath.Join(r.Path, "index.lock")
	for _, dir := range []string{r.Path, filepath.Join(tree, asideName)} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	scrub := func() model.Verdict {
		res, err := r.Scrub(t.Context(), model.ScrubRequest{Traces: func(context.Context, io.Reader) (bool, error) { return false, nil }})
		if err != nil || len(res) == 0 {
			t.Fatalf("%+v, %v", res, err)
		}
		return res[0].Verdict
	}
	f, err := lockIndex(lock)
	if err != nil {
		t.Fatal(err)
	}
	if got := scrub(); got != model.VerdictPending {
		t.Errorf("beside a rewrite: %s", got)
	}
	if _, err := os.Lstat(r.aside()); err != nil {
		t.Errorf("the new repository: %v", err)
	}
	unlockIndex(f, lock)
	if got := scrub(); got != model.VerdictClean {
		t.Errorf("after it: %s", got)
	}
	if _, err := os.Lstat(r.aside()); err == nil {
		t.Error("what is left stays")
	}
}

// TestTheLockOfTheNewRepository: after the exchange a git may be at work in the new repository; its lock stays.
func TestTheLockOfTheNewRepository(t *testing.T) {
	tree := t.TempDir()
	repo := filepath.Join(tree, ".git")
	lock := filepath.Join(repo, "index.lock")
	if err := os.Mkdir(repo, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := lockIndex(lock)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(repo, filepath.Join(tree, asideName)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(repo, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	unlockIndex(f, lock)
	if _, err := os.Lstat(lock); err != nil {
		t.Errorf("the lock of the git at work: %v", err)
	}
}

// TestRewriteFromAHook: a git that started this program names its own files in the environment. The rewrite
// neither writes there nor lacks an object.
func TestRewriteFromAHook(t *testing.T) {
	run := func(dir string, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_OBJECT_DIRECTORY="+filepath.Join(dir, ".git", "objects"), "GIT_INDEX_FILE="+filepath.Join(dir, ".git", "index"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	made := func(text string) string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, text+".md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		run(dir, "init", "--quiet")
		run(dir, "add", "--all")
		run(dir, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "-m", "about ana")
		return dir
	}
	tree, other := made("notes"), made("other")
	t.Setenv("GIT_OBJECT_DIRECTORY", filepath.Join(other, ".git", "objects"))
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other, ".git", "index"))
	r := &Repository{Path: filepath.Join(tree, ".git"), Layer: ".git", Rewrite: true}
	res, err := r.Scrub(t.Context(), model.ScrubRequest{Traces: func(_ context.Context, medium io.Reader) (bool, error) {
		_, err := io.Copy(io.Discard, medium)
		return true, err
	}})
	if err != nil || len(res) != 1 || res[0].Verdict != model.VerdictClean {
		t.Fatalf("%+v, %v", res, err)
	}
	if got := run(tree, "show", "HEAD:notes.md"); got != "notes" {
		t.Errorf("the new commit has %q", got)
	}
	if got := run(other, "ls-files"); got != "other.md\n" {
		t.Errorf("the other repository's index has %q", got)
	}
}

// TestRewriteKeepsWhatARepositoryIs: files that it or its user excludes stay out of the new commit, and git can read it in its
// own format of objects.
func TestRewriteKeepsWhatARepositoryIs(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			tree, home := t.TempDir(), t.TempDir()
			t.Setenv("HOME", home)
			git := func(args ...string) string {
				cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@x"}, args...)...)
				cmd.Dir = tree
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Errorf("git %v: %v: %s", args, err, out)
				}
				return string(out)
			}
			write := func(path, text string) {
				t.Helper()
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			git("init", "--quiet", "--object-format="+format)
			write(filepath.Join(tree, "a.md"), "rain\n")
			git("add", "--all")
			git("commit", "--quiet", "-m", "about ana")
			write(filepath.Join(tree, ".env"), "token\n")
			write(filepath.Join(tree, "own.key"), "secret\n")
			write(filepath.Join(home, ".gitconfig"), "[core]\n\texcludesFile = ~/ignored\n")
			write(filepath.Join(home, "ignored"), "*.key\n")
			if err := os.MkdirAll(filepath.Join(tree, ".git", "info"), 0o700); err != nil {
				t.Fatal(err)
			}
			write(filepath.Join(tree, ".git", "info", "exclude"), ".env\n")
			r := &Repository{Path: filepath.Join(tree, ".git"), Layer: ".git", Rewrite: true}
			res, err := r.Scrub(t.Context(), model.ScrubRequest{Traces: func(_ context.Context, medium io.Reader) (bool, error) {
				_, err := io.Copy(io.Discard, medium)
				return true, err
			}})
			if err != nil || len(res) != 1 || res[0].Verdict != model.VerdictClean {
				t.Fatalf("%+v, %v", res, err)
			}
			if got := git("ls-files"); got != "a.md\n" {
				t.Errorf("the new commit has %q", got)
			}
			if got := git("status", "--porcelain"); got != "" {
				t.Errorf("status: %q", got)
			}
			if got := git("show", "HEAD:a.md"); got != "rain\n" {
				t.Errorf("the note in the new commit: %q", got)
			}
		})
	}
}

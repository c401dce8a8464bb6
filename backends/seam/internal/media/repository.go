package media

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/internal/atomicfile"
	"memdesk/internal/filelock"
	"memdesk/internal/gitlog"
	"memdesk/model"
)

// Repository is a git repository whose working tree holds the notes.
type Repository struct {
	Path  string // of its directory .git
	Layer string
	// Rewrite: Scrub replaces a history that names the subject by a new root commit of the current files.
	// Otherwise it says how to do so.
	Rewrite bool
}

// Owns reports whether a path is the repository, or in what an interrupted rewrite left.
func (r *Repository) Owns(path string) bool {
	return path == r.Path || path == r.aside() || strings.HasPrefix(path, r.aside()+string(filepath.Separator))
}

// asideName is the other repository's name during the exchange of the two: the old one's, after it.
const asideName = ".memdesk-git.tmp"

func (r *Repository) aside() string { return filepath.Join(filepath.Dir(r.Path), asideName) }

func (r *Repository) asideLayer() string { return path.Join(path.Dir(r.Layer), asideName) }

// Layers returns the repository as one layer, and the one that an interrupted rewrite left.
func (r *Repository) Layers(context.Context) (out []model.Layer, err error) {
	if _, err := os.Lstat(r.aside()); err == nil {
		out = append(out, model.Layer{ID: r.asideLayer(), Kind: model.LayerDerived, Reason: "a rewrite of git's history was cut off and left it: run the erasure again"})
	}
	info, err := os.Lstat(r.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return out, nil
	case err != nil || !info.IsDir():
		return append(out, model.Layer{ID: r.Layer, Kind: model.LayerExternal, Reason: "git keeps this repository elsewhere: look through it there"}), nil
	}
	if _, err := exec.LookPath("git"); err != nil {
		return append(out, model.Layer{ID: r.Layer, Kind: model.LayerDerived, Reason: "no git program is installed: install git, then verify again"}), nil
	}
	return append(out, model.Layer{ID: r.Layer, Kind: model.LayerDerived, Readable: true}), nil
}

// OpenLayer streams every object, reachable or not, and the repository's other files.
func (r *Repository) OpenLayer(ctx context.Context, id string) (io.ReadCloser, error) {
	if id != r.Layer {
		return nil, model.Errorf(model.NotFound, "layer", "the store has no layer %q", id)
	}
	if _, err := os.Lstat(r.Path); err != nil {
		return nil, model.Errorf(model.NotFound, "layer", "%q is gone", id)
	}
	out, err := gitlog.Objects(ctx, r.Path)
	if err != nil {
		return nil, model.E(model.Unsupported, "layer", err)
	}
	return out, nil
}

const byHand = "git's history and its unreachable objects name the person: make a new root commit (`git checkout --orphan`), delete every other ref, " +
	"`git reflog expire --expire=now --all`, `git gc --prune=now`"

// Scrub rewrites the history if it names the subject and the configuration asks for that.
func (r *Repository) Scrub(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	if req.Dry || req.Traces == nil {
		return nil, nil
	}
	var left []model.LayerResult
	if _, err := os.Lstat(r.aside()); err == nil {
		res := model.LayerResult{Layer: r.asideLayer(), Method: "what an interrupted rewrite left removed", Verdict: model.VerdictClean, Rows: 1}
		if err := r.sweep(); errors.Is(err, fs.ErrExist) {
			res.Verdict, res.Reason = model.VerdictPending, atWork
		} else if err != nil {
			res.Verdict, res.Reason = model.VerdictFailed, atomicfile.Pathless(err).Error()
		}
		left = append(left, res)
	}
	out, err := r.scrub(ctx, req)
	return append(left, out...), err
}

const atWork = "git is at work in the repository: run the erasure again when it is done, or, where no git runs, remove the index.lock that one left"

// sweep removes what an interrupted rewrite left, under git's lock: a rewrite under way has the new repository there.
func (r *Repository) sweep() error {
	lock := filepath.Join(r.Path, "index.lock")
	f, err := lockIndex(lock)
	switch {
	case err == nil:
		defer unlockIndex(f, lock)
	case !errors.Is(err, fs.ErrNotExist): // no repository stands there to be exchanged
		return err
	}
	return os.RemoveAll(r.aside())
}

func (r *Repository) scrub(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	in, err := r.OpenLayer(ctx, r.Layer)
	if errors.Is(err, model.NotFound) {
		return nil, nil
	}
	named := false
	if err == nil {
		named, err = req.Traces(ctx, in)
		_ = in.Close() // read only
	}
	res := model.LayerResult{Layer: r.Layer, Method: "new root commit; history, reflog and objects removed", Verdict: model.VerdictClean, Rows: 1}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, model.FromContext(ctx, "scrub")
	case err != nil:
		res.Method, res.Verdict, res.Reason = "not looked at", model.VerdictUnaudited, err.Error()
	case !named:
		return nil, nil
	case !r.Rewrite:
		res.Method, res.Verdict, res.Reason = "not rewritten", model.VerdictResidue, byHand+"; memdesk does it where the store's configuration says git = \"rewrite\""
	default:
		if left, ok := req.Permits(r.Layer, nil); !ok {
			return []model.LayerResult{left}, nil
		}
		if err := r.rewrite(ctx); err != nil {
			res.Verdict, res.Reason = model.VerdictFailed, err.Error()
			if errors.Is(err, fs.ErrExist) {
				res.Verdict, res.Reason = model.VerdictPending, atWork
			}
		}
	}
	out := []model.LayerResult{res}
	if config, err := rootdir.Peek(filepath.Join(r.Path, "config"), rootdir.MaxRead); err == nil && bytes.Contains(config, []byte(`[remote "`)) {
		out = append(out, model.LayerResult{Layer: r.Layer + " (remotes)", Method: "not looked at", Verdict: model.VerdictOutOfScope,
			Reason: "the repository has remotes, which keep what was pushed: force-push there, and tell whoever has a clone"})
	}
	return out, nil
}

// lockMark tells a lock of this program from git's own.
const lockMark = "memdesk rewrites the history\n"

// lockIndex takes git's lock. One that a killed run of this program left, which nobody holds, is taken over.
func lockIndex(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err == nil {
		if _, err = filelock.Try(f, true); err == nil {
			_, err = f.WriteString(lockMark)
		}
		if err != nil {
			_ = os.Remove(path)
			_ = f.Close() // the first error counts
			return nil, err
		}
		return f, nil
	}
	left, failed := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if failed != nil {
		return nil, err
	}
	b, failed := io.ReadAll(io.LimitReader(left, int64(len(lockMark)+1)))
	if failed == nil && string(b) == lockMark {
		if free, failed := filelock.Try(left, true); failed == nil && free && same(left, path) {
			return left, nil
		}
	}
	_ = left.Close() // only read
	return nil, err
}

// unlockIndex gives git's lock back. After the exchange it went with the old repository, and one at its path
// is that of a git at work in the new one.
func unlockIndex(f *os.File, path string) {
	if same(f, path) {
		_ = os.Remove(path) // the next run takes it over
	}
	_ = filelock.Close(f)
}

// same reports whether an open file still has its name.
func same(f *os.File, path string) bool {
	have, err := f.Stat()
	now, gone := os.Lstat(path)
	return err == nil && gone == nil && os.SameFile(have, now)
}

// rewrite builds a repository of one commit and exchanges the two. It runs nothing that the old one
// configures, and git's own lock keeps git out.
func (r *Repository) rewrite(ctx context.Context) error {
	for _, shared := range []string{"worktrees", "modules", "objects/info/alternates"} {
		if _, err := os.Lstat(filepath.Join(r.Path, filepath.FromSlash(shared))); err == nil {
			return errors.New("the repository shares its objects (" + shared + "): " + byHand)
		}
	}
	lock := filepath.Join(r.Path, "index.lock")
	f, err := lockIndex(lock)
	if err != nil {
		return atomicfile.Pathless(err)
	}
	defer unlockIndex(f, lock)
	tree := filepath.Dir(r.Path)
	temp := filepath.Join(r.Path, "memdesk-new")
	if err := os.RemoveAll(temp); err != nil { // of a run that was cut off
		return atomicfile.Pathless(err)
	}
	branch := "refs/heads/main"
	if head, err := rootdir.Peek(filepath.Join(r.Path, "HEAD"), rootdir.MaxRead); err == nil {
		if name, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: "); ok {
			branch = name
		}
	}
	create := []string{"init", "--quiet", "--template="}
	for option, key := range map[string]string{"--object-format=": "extensions.objectFormat", "--ref-format=": "extensions.refStorage"} {
		if format := r.configured(ctx, key); format != "" { // the configuration that is taken over names it
			create = append(create, option+format)
		}
	}
	add := []string{"add", "--all"}
	if file := r.configured(ctx, "core.excludesFile"); file != "" {
		add = append([]string{"-c", "core.excludesFile=" + file}, add...)
	}
	git := func(args ...string) func() error {
		return func() error {
			cmd := gitlog.Command(ctx, tree, append([]string{"-c", "user.name=memdesk", "-c", "user.email=memdesk@localhost", "-c", "commit.gpgSign=false"}, args...)...)
			cmd.Env = append(cmd.Env, "GIT_DIR="+temp, "GIT_WORK_TREE="+tree, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
			if err := cmd.Run(); err != nil {
				return errors.New("git did not succeed in writing a new repository: " + byHand)
			}
			return nil
		}
	}
	kept := func(names ...string) func() error {
		return func() error { return atomicfile.Pathless(takeOver(r.Path, temp, names...)) }
	}
	for _, step := range []func() error{
		git(create...), git("symbolic-ref", "HEAD", branch),
		kept("info"), // with what the repository excludes
		git(add...), git("commit", "--quiet", "--allow-empty", "--no-verify", "--message=Baseline after an erasure"),
		kept("config", "description", "hooks"), git("rev-parse", "--quiet", "--verify", "HEAD^{tree}"), // git can read it by the old configuration
	} {
		if err := step(); err != nil {
			_ = os.RemoveAll(temp) // a leftover is removed by the next run
			return err
		}
	}
	_ = os.RemoveAll(filepath.Join(temp, "COMMIT_EDITMSG")) // the commit has the words
	aside := r.aside()
	if err := os.Rename(temp, aside); err != nil {
		return atomicfile.Pathless(err)
	}
	if err := atomicfile.Exchange(aside, r.Path); err != nil {
		_ = os.RemoveAll(aside)
		if errors.Is(err, errors.ErrUnsupported) {
			return errors.New("the file system cannot exchange two directories: " + byHand)
		}
		return atomicfile.Pathless(err)
	}
	return atomicfile.Pathless(os.RemoveAll(aside))
}

// configured is a setting of the repository or of its user; empty for none. Git runs nothing to read it.
func (r *Repository) configured(ctx context.Context, key string) string {
	cmd := gitlog.Command(ctx, filepath.Dir(r.Path), "config", "--type=path", "--get", key)
	cmd.Env = append(cmd.Env, "GIT_DIR="+r.Path)
	out, _ := cmd.Output() // it fails where there is none
	return strings.TrimSuffix(string(out), "\n")
}

// takeOver copies files and directories from one repository to another.
func takeOver(from, to string, names ...string) error {
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(from, name))
		if err != nil {
			continue // none
		}
		if err := os.RemoveAll(filepath.Join(to, name)); err != nil {
			return err
		}
		if info.IsDir() {
			if err := os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(from, name))); err != nil {
				return err
			}
			continue
		}
		data, err := rootdir.Peek(filepath.Join(from, name), rootdir.MaxRead)
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), data, info.Mode().Perm())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

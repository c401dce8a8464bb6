// Package gitlog asks a git repository which of its commits hold a text. It
// changes nothing, and runs nothing that the repository configures.
package gitlog

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Found is the result of a search through the history.
type Found struct {
	// Commits are the ids of the commits that added or removed the text or name it in their message, newest
	// first in git's order.
	Commits []string
	// Loose are the ids of other objects that hold it: tags, what is staged, what no ref leads to.
	Loose []string
	// Files counts the repository's own files that hold it, by their names or bytes: refs, reflogs, the index.
	Files int
	// Whole says that all of the repository was searched, and not only what concerns the path.
	Whole bool
	// Objects and Bytes measure the searched part.
	Objects, Bytes int64
}

// Kept says why a repository is a layer that memdesk leaves.
const Kept = "git's history keeps every committed text; rewriting it, its remotes and clones is out of reach"

// Marks counts the entries by which git recognises a repository's own directory, .git or a bare one of any name: the file
// HEAD and the directories objects and refs.
type Marks int

// See counts an entry of the directory.
func (m *Marks) See(name string, dir bool) {
	if name == "HEAD" && !dir || (name == "objects" || name == "refs") && dir {
		*m++
	}
}

// Repository reports whether the directory has all of them.
func (m Marks) Repository() bool { return m == 3 }

// isRepository reports whether a directory is a repository's own.
func isRepository(dir string) bool {
	entries, _ := os.ReadDir(dir) // one that cannot be read has none of them
	var marks Marks
	for _, e := range entries {
		marks.See(e.Name(), e.IsDir())
	}
	return marks.Repository()
}

// Root is the directory of the repository around a path; false outside any.
func Root(path string) (string, bool) {
	for d := path; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d, true
		}
		if d == filepath.Dir(d) {
			return "", false
		}
	}
}

// Hits counts what holds the text.
func (f Found) Hits() int64 { return int64(len(f.Commits) + len(f.Loose) + f.Files) }

// Holding searches every version of a path, in all refs, the stash, the reflog and the index, and the commits that touch
// it. Where the path is the repository's own directory, it searches every object, unreferenced ones too, and the files
// beside them. It leaves out other repositories and clones. holds looks at an object's bytes, and scan reads one that is too
// large to be held. An error means that nothing is known; it is worded for people
// and holds no path.
func Holding(ctx context.Context, path string, holds func(object []byte) bool, scan func(object io.Reader) (bool, error)) (Found, error) {
	var out Found
	if _, err := exec.LookPath("git"); err != nil {
		return out, errors.New("no git program is installed")
	}
	root, ok := Root(path)
	if isRepository(path) {
		root, ok = path, true
	}
	if !ok {
		return out, errors.New("it lies in no repository")
	}
	spec, err := filepath.Rel(root, path)
	if err != nil {
		return out, errors.New("its place in the repository cannot be told")
	}
	g := asker{ctx: ctx, root: root, spec: filepath.ToSlash(spec)}
	out.Whole = g.spec == "."
	commits, objects, err := g.objects()
	if err != nil {
		return out, err
	}
	at := map[string]int{}
	for i, c := range commits {
		at[c] = i
	}
	named := map[string]bool{} // and whether a commit has it
	out.Objects, out.Bytes, err = g.read(append(slices.Clone(commits), objects...), func(id string, size int64, r io.Reader) error {
		found := false
		if size > largest {
			if found, err = scan(r); err != nil {
				return fmt.Errorf("the object %.12s of %d bytes could not be read to its end", id, size)
			}
		} else {
			data := make([]byte, size)
			if _, err := io.ReadFull(r, data); err != nil {
				return errUnread
			}
			found = holds(data)
		}
		if found {
			named[id] = false
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	if len(named) > 0 {
		if out.Commits, err = g.with(named); err != nil {
			return out, err
		}
	}
	for id, has := range named {
		if !has {
			out.Loose = append(out.Loose, id)
		}
	}
	slices.Sort(out.Loose)
	slices.SortFunc(out.Commits, func(a, b string) int { return at[a] - at[b] })
	if out.Whole {
		out.Files, err = g.files(holds)
	}
	return out, err
}

// Words names the commits and other objects, as many as fit into a line, and counts the rest.
func (f Found) Words() string {
	var out []string
	if len(f.Commits) > 0 {
		out = append(out, fmt.Sprintf("commits hold the text: %s (%d)", words(f.Commits), len(f.Commits)))
	}
	if len(f.Loose) > 0 {
		out = append(out, fmt.Sprintf("objects of no commit hold it (git show ID): %s (%d)", words(f.Loose), len(f.Loose)))
	}
	if f.Files > 0 {
		out = append(out, fmt.Sprintf("files beside the objects hold it (refs, reflogs, the index, the configuration, the last message): %d", f.Files))
	}
	return strings.Join(out, "; ")
}

func words(ids []string) string {
	const named = 20
	short := []string{}
	for _, c := range ids[:min(len(ids), named)] {
		short = append(short, c[:min(len(c), 12)])
	}
	out := strings.Join(short, ", ")
	if n := len(ids) - named; n > 0 {
		out += fmt.Sprintf(" and %d more", n)
	}
	return out
}

type asker struct {
	ctx  context.Context
	root string
	spec string
}

// Command asks git about the repository of a directory. It runs nothing that the repository configures:
// a missing object is not fetched, and no transport is allowed where git is too old to know that.
func Command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	all := append([]string{"--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=", "-c", "log.showSignature=false", "-C", dir}, args...)
	cmd := exec.CommandContext(ctx, "git", all...)
	// A git hook that started this program names its own repository there.
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	cmd.Env = append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C")
	cmd.WaitDelay = time.Second
	return cmd
}

// command asks the repository of the root, and where that is damaged no other around it.
func (g *asker) command(args ...string) *exec.Cmd {
	cmd := Command(g.ctx, g.root, args...)
	cmd.Env = append(cmd.Env, "GIT_CEILING_DIRECTORIES="+filepath.Dir(g.root))
	return cmd
}

var errUnread = errors.New("git could not read the history")

// objects are the commits that touch the path, newest first, and every version of the path; of a whole repository all
// commits and all objects.
func (g *asker) objects() (commits, objects []string, err error) {
	args := []string{"rev-list", "--all", "--reflog", "--indexed-objects", "--objects"}
	if g.spec != "." { // a commit that changes no file touches no path
		args = append(args, "--", g.spec)
	}
	b, err := g.command(args...).Output()
	if err != nil {
		return nil, nil, errUnread
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		id, name, isNamed := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case !isNamed: // a commit, or a tag of one, has no name here
			commits = append(commits, id)
		case name == "" || g.spec == "." || name == g.spec || strings.HasPrefix(name, g.spec+"/") || strings.HasPrefix(g.spec, name+"/"):
			objects = append(objects, id)
		default:
			continue
		}
		seen[id] = true
	}
	if g.spec != "." {
		return commits, objects, nil
	}
	b, err = g.command("cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname)").Output()
	if err != nil {
		return nil, nil, errUnread
	}
	for id := range strings.Lines(string(b)) {
		if id = strings.TrimSuffix(id, "\n"); !seen[id] {
			objects = append(objects, id)
		}
	}
	return commits, objects, nil
}

// read passes on the objects with their sizes, and counts them and their bytes.
func (g *asker) read(ids []string, fn func(id string, size int64, r io.Reader) error) (objects, total int64, err error) {
	if len(ids) == 0 {
		return 0, 0, nil
	}
	cmd := g.command("cat-file", "--batch", "--buffer")
	cmd.Stdin = strings.NewReader(strings.Join(ids, "\n") + "\n")
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return objects, total, errUnread
	}
	if err := cmd.Start(); err != nil {
		return objects, total, errUnread
	}
	defer func() {
		_ = pipe.Close() // git may still be writing output that is not needed
		if werr := cmd.Wait(); werr != nil && err == nil {
			err = errUnread
		}
	}()
	r := bufio.NewReaderSize(pipe, 1<<16)
	for range ids {
		head, err := r.ReadString('\n')
		if err != nil {
			return objects, total, errUnread
		}
		part := strings.Fields(head)
		if len(part) != 3 { // missing: a shallow or partial clone has not all of it
			return objects, total, errors.New("the repository has not all of its objects")
		}
		size, err := strconv.ParseInt(part[2], 10, 64)
		if err != nil || size < 0 {
			return objects, total, errUnread
		}
		one := io.LimitReader(r, size)
		if err := fn(part[0], size, one); err != nil {
			return objects, total, err
		}
		if _, err := io.Copy(io.Discard, one); err != nil {
			return objects, total, errUnread
		}
		if _, err := r.Discard(1); err != nil {
			return objects, total, errUnread
		}
		objects, total = objects+1, total+size
	}
	return objects, total, nil
}

// with are the commits that are among the objects, or that added or removed one of them; it marks the objects that they
// have.
func (g *asker) with(objects map[string]bool) (commits []string, err error) {
	args := []string{"log", "--all", "--reflog", "--no-ext-diff", "--no-textconv", "-m", "-t", "--root", "--raw", "--no-abbrev", "--no-renames", "--format=%H %T"}
	if g.spec != "." {
		args = append(args, "--", g.spec)
	}
	b, err := g.command(args...).Output()
	if err != nil {
		return nil, errUnread
	}
	commit := ""
	for line := range strings.Lines(string(b)) {
		ids := strings.Fields(line)
		if strings.HasPrefix(line, ":") && len(ids) > 4 { // :mode mode old new status, and the name
			ids = ids[2:4]
		} else if len(ids) == 2 {
			commit = ids[0]
		}
		for _, id := range ids {
			if _, is := objects[id]; is && commit != "" {
				objects[id] = true
				commits = append(commits, commit)
			}
		}
	}
	slices.Sort(commits)
	return slices.Compact(commits), nil
}

// largest bounds an object or file that is held whole, in bytes.
const largest = 64 << 20

// files counts the files beside the objects that hold the text by their names or bytes. They lie with the repository, which
// a worktree only names.
func (g *asker) files(holds func([]byte) bool) (n int, err error) {
	out, err := g.command("rev-parse", "--git-common-dir").Output()
	if err != nil {
		return 0, errUnread
	}
	dir := strings.TrimSuffix(string(out), "\n")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(g.root, dir)
	}
	err = besideObjects(dir, func(f *os.File) error {
		data, err := io.ReadAll(io.LimitReader(f, largest+1))
		if err != nil || len(data) > largest || g.ctx.Err() != nil {
			return errUnread
		}
		if holds(data) || holds([]byte(strings.TrimPrefix(f.Name(), dir))) {
			n++
		}
		return nil
	})
	return n, err
}

// Objects streams every object of a repository, unreferenced ones included, and then its other files: the
// index, the reflog, messages. dir is the repository itself, the directory .git. The caller closes.
func Objects(ctx context.Context, dir string) (io.ReadCloser, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, errors.New("no git program is installed")
	}
	g := asker{ctx: ctx, root: filepath.Dir(dir)}
	r, w := io.Pipe()
	cmd := g.command("--git-dir="+dir, "cat-file", "--batch-all-objects", "--batch", "--buffer")
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		return nil, errUnread
	}
	go func() {
		if err := cmd.Wait(); err != nil {
			_ = w.CloseWithError(errUnread) // a pipe's writer accepts any error
			return
		}
		_ = w.CloseWithError(besideObjects(dir, func(f *os.File) error { // nil ends the stream
			_, err := io.Copy(w, f)
			if err == nil {
				_, err = io.WriteString(w, "\n")
			}
			return err
		}))
	}()
	return r, nil
}

// besideObjects opens each file that a repository keeps beside its objects; fn must not keep it.
func besideObjects(dir string, fn func(f *os.File) error) error {
	return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return errUnread
		case d.IsDir() && path == filepath.Join(dir, "objects"):
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return errUnread
		}
		defer f.Close()
		return fn(f)
	})
}

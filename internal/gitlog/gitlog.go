// Package gitlog asks a git repository which of its commits hold a text. It
// changes nothing, and runs nothing that the repository configures.
package gitlog

import (
	"bufio"
	"bytes"
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
	// Objects and Bytes measure the searched part.
	Objects, Bytes int64
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

// Holding searches every version of a path, in all refs, the stash and the reflog, and the messages of the
// commits that touch it. It leaves out unreferenced objects, other repositories and clones. An error means
// that nothing is known; it is worded for people and holds no path.
func Holding(ctx context.Context, path string, holds func(object []byte) bool) (Found, error) {
	var out Found
	if _, err := exec.LookPath("git"); err != nil {
		return out, errors.New("no git program is installed")
	}
	root, ok := Root(path)
	if !ok {
		return out, errors.New("it lies in no repository")
	}
	spec, err := filepath.Rel(root, path)
	if err != nil {
		return out, errors.New("its place in the repository cannot be told")
	}
	g := asker{ctx: ctx, root: root, spec: filepath.ToSlash(spec)}
	commits, objects, err := g.objects()
	if err != nil {
		return out, err
	}
	var blobs []string
	err = g.read(append(slices.Clone(commits), objects...), func(id, kind string, data []byte) {
		out.Objects++
		out.Bytes += int64(len(data))
		switch {
		case !holds(data):
		case kind == "commit":
			out.Commits = append(out.Commits, id)
		default:
			blobs = append(blobs, id)
		}
	})
	if err != nil {
		return out, err
	}
	for part := range slices.Chunk(blobs, 200) {
		more, err := g.with(part)
		if err != nil {
			return out, err
		}
		out.Commits = append(out.Commits, more...)
	}
	at := map[string]int{}
	for i, c := range commits {
		at[c] = i
	}
	slices.SortFunc(out.Commits, func(a, b string) int { return at[a] - at[b] })
	out.Commits = slices.Compact(out.Commits)
	return out, nil
}

// Words names the commits, as many as fit into a line, and counts the rest.
func (f Found) Words() string {
	const named = 20
	short := []string{}
	for _, c := range f.Commits[:min(len(f.Commits), named)] {
		short = append(short, c[:min(len(c), 12)])
	}
	words := strings.Join(short, ", ")
	if n := len(f.Commits) - named; n > 0 {
		words += fmt.Sprintf(" and %d more", n)
	}
	return words
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

func (g *asker) command(args ...string) *exec.Cmd { return Command(g.ctx, g.root, args...) }

var errUnread = errors.New("git could not read the history")

// objects are the commits that touch the path, newest first, and every version of the path.
func (g *asker) objects() (commits, objects []string, err error) {
	b, err := g.command("rev-list", "--all", "--reflog", "--objects", "--", g.spec).Output()
	if err != nil {
		return nil, nil, errUnread
	}
	for line := range strings.Lines(string(b)) {
		id, name, named := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case !named: // a commit, or a tag of one, has no name here
			commits = append(commits, id)
		case name == "" || g.spec == "." || name == g.spec || strings.HasPrefix(name, g.spec+"/") || strings.HasPrefix(g.spec, name+"/"):
			objects = append(objects, id)
		}
	}
	return commits, objects, nil
}

// read passes on the objects' bytes.
func (g *asker) read(ids []string, fn func(id, kind string, data []byte)) (err error) {
	if len(ids) == 0 {
		return nil
	}
	cmd := g.command("cat-file", "--batch", "--buffer")
	cmd.Stdin = strings.NewReader(strings.Join(ids, "\n") + "\n")
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return errUnread
	}
	if err := cmd.Start(); err != nil {
		return errUnread
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
			return errUnread
		}
		part := strings.Fields(head)
		if len(part) != 3 { // missing: a shallow or partial clone has not all of it
			return errors.New("the repository has not all of its objects")
		}
		size, err := strconv.ParseInt(part[2], 10, 64)
		if err != nil || size < 0 {
			return errUnread
		}
		data := bytes.Buffer{}
		if _, err := io.CopyN(&data, r, size); err != nil {
			return errUnread
		}
		if _, err := r.Discard(1); err != nil {
			return errUnread
		}
		fn(part[0], part[1], data.Bytes())
	}
	return nil
}

// with are the commits that added or removed one of the objects.
func (g *asker) with(objects []string) ([]string, error) {
	args := []string{"log", "--all", "--reflog", "--no-ext-diff", "--no-textconv", "-m", "-t", "--format=%H"}
	for _, o := range objects {
		args = append(args, "--find-object="+o)
	}
	b, err := g.command(append(args, "--", g.spec)...).Output()
	if err != nil {
		return nil, errUnread
	}
	return strings.Fields(string(b)), nil
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
		_ = w.CloseWithError(files(dir, w)) // nil ends the stream
	}()
	return r, nil
}

// files writes what a repository keeps beside its objects.
func files(dir string, w io.Writer) error {
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
		if _, err = io.Copy(w, f); err == nil {
			_, err = io.WriteString(w, "\n")
		}
		return err
	})
}

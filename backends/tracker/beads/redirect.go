package beads

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"memdesk/model"
)

// redirectName is the file with which one .beads points to another, for worktrees and clones that share a
// store.
const redirectName = "redirect"

// redirectBytes bounds the read of that file.
const redirectBytes = 4 << 10

// redirected resolves a redirect, once: a redirect in its target is ignored. The target must be beside the
// repository or in the user's home, since the file may come with a clone.
func redirected(dir string) (target, note string, err error) {
	bad := func(why string) (string, string, error) {
		return "", "", model.Errorf(model.InvalidInput, "open", ".beads/%s %s: open the .beads it should lead to by its own path", redirectName, why)
	}
	f, err := os.OpenFile(filepath.Join(dir, redirectName), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return dir, "", nil
	case errors.Is(err, syscall.ELOOP):
		return bad("is a symbolic link")
	case err != nil:
		return "", "", fileError("open", redirectName, err)
	}
	defer f.Close() // opened for reading: closing loses nothing
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return bad("is no regular file")
	}
	raw, err := io.ReadAll(io.LimitReader(f, redirectBytes+1))
	if err != nil {
		return "", "", fileError("open", redirectName, err)
	}
	to := ""
	for line := range bytes.Lines(raw) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			to = string(line)
			break
		}
	}
	switch {
	case len(raw) > redirectBytes:
		return bad("is too long")
	case to == "" || strings.ContainsRune(to, 0):
		return bad("names no directory")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", "", fileError("open", redirectName, err)
	}
	repo := filepath.Dir(abs)
	if !filepath.IsAbs(to) {
		to = filepath.Join(repo, to)
	}
	real, err := filepath.EvalSymlinks(to)
	if err != nil {
		return bad("leads to a directory that is not there")
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() || filepath.Base(real) != ".beads" {
		return bad("leads to something that is no .beads directory")
	}
	if !beside(repo, real) {
		return bad("leads away from the repository and from the home directory")
	}
	return real, "this .beads leads to the one of " + filepath.Base(filepath.Dir(real)) + " by its file redirect: what is written goes there", nil
}

// beside reports whether a resolved path is beside the repository or in the home.
func beside(repo, path string) bool {
	roots := []string{filepath.Dir(repo)}
	if home, err := os.UserHomeDir(); err == nil {
		roots = append(roots, home)
	}
	for _, root := range roots {
		real, err := filepath.EvalSymlinks(root)
		if err != nil || real == string(filepath.Separator) {
			continue
		}
		if rel, err := filepath.Rel(real, path); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

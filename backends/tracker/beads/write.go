package beads

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// rewriteAttempts bounds how often a write starts over because a writer without the lock was faster.
const rewriteAttempts = 8

// lockPause is the pause of a writer before it tries the lock again.
const lockPause = 5 * time.Millisecond

// rewrite writes both files again under the lock: issues first, then deps, each whole and atomic. make gets
// the current files; when it returns them unchanged nothing is written. If a writer without the lock changes
// a file meanwhile, it is read again, and make runs again.
func (s *Store) rewrite(ctx context.Context, op string, make func(*snapshot) (issues, deps []byte, err error)) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return model.FromContext(ctx, op)
	}
	unlock, err := s.lock(ctx, op)
	if err != nil {
		return err
	}
	defer unlock()
	return s.rewriteLocked(ctx, op, make)
}

// rewriteLocked is rewrite for a caller that has the turn and the lock.
func (s *Store) rewriteLocked(ctx context.Context, op string, make func(*snapshot) (issues, deps []byte, err error)) error {
	for range rewriteAttempts {
		snap, at, err := s.load(ctx)
		if err != nil {
			return err
		}
		if words := cmp.Or(snap.mergeWords(), snap.oddWords()); words != "" {
			return model.Errorf(model.Conflict, op, "%s; nothing was written", words)
		}
		issues, deps, err := make(snap)
		if err != nil {
			return err
		}
		if err := model.FromContext(ctx, op); err != nil {
			return err
		}
		switch done, err := s.replace(op, snap, at, issues, deps); {
		case err != nil:
			return err
		case done:
			return nil
		}
	}
	return model.Errorf(model.Conflict, op, "issues.jsonl is rewritten by another program again and again: nothing was written")
}

// lock locks the directory itself, so that no lock file remains. bd and Foolery take no lock; this one is for
// memdesk's own processes.
func (s *Store) lock(ctx context.Context, op string) (func(), error) {
	d, err := s.fs.OpenFile(s.dir, os.O_RDONLY, 0)
	if err != nil {
		return nil, fileError(op, ".beads", err)
	}
	for {
		got, err := d.TryLock(true)
		if err != nil {
			_ = d.Close() // nothing was locked
			return nil, fileError(op, ".beads", err)
		}
		if got {
			return func() { _ = d.Close() }, nil // closing releases
		}
		select {
		case <-ctx.Done():
			_ = d.Close() // nothing was locked
			return nil, model.Errorf(model.Locked, op, "another memdesk process is writing to this store")
		case <-time.After(lockPause):
		}
	}
}

// replace writes the changed files. done is false, and nothing written, when a file changed since it was
// read.
func (s *Store) replace(op string, snap *snapshot, at [2]stamp, issues, deps []byte) (done bool, err error) {
	s.sweep()
	files := []struct {
		name     string
		old, now []byte
	}{{issuesName, snap.issues, issues}, {depsName, snap.deps, deps}}
	var unsynced error
	for i, f := range files {
		if bytes.Equal(f.old, f.now) {
			continue
		}
		same, err := s.unchanged(f.name, at[i], f.old)
		if err != nil {
			return false, err
		}
		if !same {
			if i == 0 {
				return false, nil
			}
			return false, model.Errorf(model.Internal, op, "issues.jsonl is written, but deps.jsonl was changed by another program meanwhile: do the same once more to bring it up to date")
		}
		err = atomicfile.WriteFS(s.writer(f.old), s.path(f.name), f.now, atomicfile.Options{TempName: tempName, Perm: 0o644, KeepMode: true, KeepOwner: true})
		switch {
		case errors.Is(err, errForeign) && i == 0:
			return false, nil
		case errors.Is(err, atomicfile.ErrUnsynced):
			unsynced = model.Errorf(model.Internal, op, "%s is written but not known to be durable", f.name) // the other file must agree with it
		case err != nil && i == 1 && !bytes.Equal(snap.issues, issues):
			return false, model.Errorf(model.Internal, op, "issues.jsonl is written, deps.jsonl is not: %w; do the same once more", fileError("", f.name, err))
		case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
			return false, &model.Untouched{Err: fileError(op, f.name, err)}
		case err != nil:
			return false, fileError(op, f.name, err)
		}
	}
	return true, unsynced
}

// unchanged compares the bytes, not only the file's metadata.
func (s *Store) unchanged(name string, at stamp, old []byte) (bool, error) {
	info, err := s.fs.Lstat(s.path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return !at.exists, nil
	case err != nil:
		return false, fileError("write", name, err)
	case !at.exists, stampOf(info) != at:
		return false, nil
	}
	now, err := s.read(name)
	return err == nil && bytes.Equal(now, old), err
}

const tempPrefix, tempInfix = ".memdesk-", ".tmp."

// tempName is a name that sweep recognises.
func tempName(base string) string { return tempPrefix + base + tempInfix + atomicfile.Suffix() }

func isTemp(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.Contains(name, tempInfix)
}

// sweep removes memdesk's leftovers of a crash, under the lock of all memdesk writers.
func (s *Store) sweep() {
	entries, err := s.fs.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if isTemp(e.Name()) && e.Type().IsRegular() {
			_ = s.fs.Remove(s.path(e.Name())) // the next write tries again
		}
	}
}

// Package follow tells which files below a directory change, as the system reports it.
package follow

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// Changes within this time are joined into a burst, and reported one by one up to this many.
const (
	burst     = 100 * time.Millisecond
	burstMost = 256
)

// Tree says what is followed. Its paths are relative to the root, with slashes.
type Tree struct {
	Root string
	// Enter reports whether a directory below the root is followed.
	Enter func(dir string) bool
	// Of is the change to report for a file; false: none.
	Of func(file string) (model.Change, bool)
	// Telling runs before each burst is reported; it may be nil.
	Telling func()
}

// Start follows a tree until the context ends or the root is gone: what is at its path then is another directory, and the
// caller begins anew. A new directory is followed from then on, and its present files are reported.
func Start(ctx context.Context, t Tree) (<-chan model.Change, error) {
	if err := model.FromContext(ctx, "watch"); err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(t.Root); err == nil { // a walk enters no link
		t.Root = real
	}
	fw, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, model.Errorf(model.Unavailable, "watch", "the system gives no watcher: %w", atomicfile.Pathless(err))
	}
	w := &watch{Tree: t, fw: fw, out: make(chan model.Change), changes: map[model.Change]bool{}, dirs: map[string]bool{}}
	if err := w.follow(ctx, t.Root, false); err != nil {
		_ = fw.Close() // no watch has begun
		return nil, err
	}
	go w.run(ctx)
	return w.out, nil
}

type watch struct {
	Tree
	fw      *fsnotify.Watcher
	out     chan model.Change
	changes map[model.Change]bool // of the burst
	dirs    map[string]bool       // followed
	lost    bool
}

// follow adds a directory and those below it, and reports the files in them if tell is set.
func (w *watch) follow(ctx context.Context, dir string, tell bool) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return model.FromContext(ctx, "watch")
		case errors.Is(err, fs.ErrNotExist):
			if path == w.Root {
				return model.Errorf(model.Unavailable, "watch", "the store's directory is not there yet")
			}
			return nil
		case err != nil:
			w.lost = true // its changes are not reported
			return nil
		case !d.IsDir():
			if tell {
				w.note(path)
			}
			return nil
		case path != w.Root && !w.Enter(w.below(path)):
			return fs.SkipDir
		}
		if err := w.fw.Add(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return model.Errorf(model.Unavailable, "watch", "too many directories to watch: %w; raise fs.inotify.max_user_watches", atomicfile.Pathless(err))
		}
		w.dirs[path] = true
		return nil
	})
}

// below is a path below the root; empty for one that is not.
func (w *watch) below(path string) string {
	rel, err := filepath.Rel(w.Root, path)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// note adds a path to the burst.
func (w *watch) note(path string) {
	if file := w.below(path); file != "" {
		if c, ok := w.Of(file); ok {
			w.changes[c] = true
		}
	}
	if len(w.changes) > burstMost {
		w.lost = true
	}
}

// run owns the watcher and the channel until the end.
func (w *watch) run(ctx context.Context) {
	defer close(w.out)
	defer w.fw.Close()
	var due <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-w.fw.Events:
			if !ok {
				return
			}
			if e.Name == w.Root && (e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)) {
				w.lost = true
				w.tell(ctx)
				return
			}
			w.event(ctx, e)
		case err, ok := <-w.fw.Errors:
			if !ok {
				return
			}
			w.lost = w.lost || err != nil
		case <-due:
			due = nil
			if !w.tell(ctx) {
				return
			}
		}
		if due == nil && (w.lost || len(w.changes) > 0) {
			due = time.After(burst)
		}
	}
}

// event handles one change. A new directory is followed; a removed one takes its files along, which are not
// reported one by one.
func (w *watch) event(ctx context.Context, e fsnotify.Event) {
	if e.Op == fsnotify.Chmod {
		return
	}
	if st, err := os.Lstat(e.Name); err == nil && st.IsDir() {
		if w.Enter(w.below(e.Name)) && w.follow(ctx, e.Name, true) != nil {
			w.lost = true
		}
		return
	}
	if w.dirs[e.Name] {
		delete(w.dirs, e.Name)
		w.lost = true
		return
	}
	w.note(e.Name)
}

// tell sends the burst and reports whether the receiver still listens.
func (w *watch) tell(ctx context.Context) bool {
	if w.Telling != nil {
		w.Telling()
	}
	burst := w.changes
	if w.lost {
		burst = map[model.Change]bool{{Lost: true}: true}
	}
	w.changes, w.lost = map[model.Change]bool{}, false
	for c := range burst {
		select {
		case w.out <- c:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

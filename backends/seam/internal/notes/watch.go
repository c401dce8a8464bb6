package notes

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

// Watch follows every directory that holds items. A new directory is followed from then on, and its present
// items are reported.
func (s *store) Watch(ctx context.Context) (<-chan model.Change, error) {
	fw, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, model.Errorf(model.Unavailable, "watch", "the system gives no watcher: %w", atomicfile.Pathless(err))
	}
	w := &watch{store: s, root: s.real(), fw: fw, out: make(chan model.Change), ids: map[string]bool{}, dirs: map[string]bool{}}
	if err := w.follow(ctx, w.root, false); err != nil {
		_ = fw.Close()
		return nil, err
	}
	go w.run(ctx)
	return w.out, nil
}

type watch struct {
	store *store
	root  string // a walk enters no link
	fw    *fsnotify.Watcher
	out   chan model.Change
	ids   map[string]bool // of the burst
	dirs  map[string]bool // followed
	lost  bool
}

// follow adds a directory and those below it; tell reports the items in them.
func (w *watch) follow(ctx context.Context, dir string, tell bool) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return model.FromContext(ctx, "watch")
		case errors.Is(err, fs.ErrNotExist):
			if path == w.root {
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
		case path != w.root && !w.store.isOpenDir(w.id(path)):
			return fs.SkipDir
		}
		if err := w.fw.Add(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return model.Errorf(model.Unavailable, "watch", "too many directories to watch: %w; raise fs.inotify.max_user_watches", atomicfile.Pathless(err))
		}
		w.dirs[path] = true
		return nil
	})
}

// id is a path below the root; empty for one that is not.
func (w *watch) id(path string) string {
	rel, err := filepath.Rel(w.root, path)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// note adds a path to the burst.
func (w *watch) note(path string) {
	if id := w.id(path); id != "" && w.store.isItem(id) {
		w.ids[id] = true
	}
	if len(w.ids) > burstMost {
		w.lost = true
	}
}

// run owns the watcher and the channel until the context ends, or the root is gone.
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
			if e.Name == w.root && (e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)) {
				return // what is at the path from now on is another directory: the caller begins anew
			}
			w.event(ctx, e)
		case err, ok := <-w.fw.Errors:
			if !ok {
				return
			}
			w.lost = w.lost || err != nil
		case <-due:
			due = nil
			w.store.changed()
			if !w.tell(ctx) {
				return
			}
		}
		if due == nil && (w.lost || len(w.ids) > 0) {
			due = time.After(burst)
		}
	}
}

// event handles one change. A new directory is followed; a removed one takes its items along, which are not
// reported one by one.
func (w *watch) event(ctx context.Context, e fsnotify.Event) {
	if e.Op == fsnotify.Chmod {
		return
	}
	if st, err := os.Lstat(e.Name); err == nil && st.IsDir() {
		if w.store.isOpenDir(w.id(e.Name)) && w.follow(ctx, e.Name, true) != nil {
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
	changes := []model.Change{{Lost: true}}
	if !w.lost {
		changes = changes[:0]
		for id := range w.ids {
			changes = append(changes, model.Change{ID: id})
		}
	}
	clear(w.ids)
	w.lost = false
	for _, c := range changes {
		select {
		case w.out <- c:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

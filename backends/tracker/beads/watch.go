package beads

import (
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"memdesk/model"
)

// burst is how long changes are joined into one.
const burst = 100 * time.Millisecond

// Watch follows the directory, since both files are replaced and not rewritten in place. It does not say
// which items changed: any line may have.
func (s *Store) Watch(ctx context.Context) (<-chan model.Change, error) {
	if err := model.FromContext(ctx, "watch"); err != nil {
		return nil, err
	}
	fw, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, model.Errorf(model.Unavailable, "watch", "the system gives no watcher: it may have too many already")
	}
	if err := fw.Add(s.dir); err != nil {
		_ = fw.Close() // no watch has begun
		return nil, fileError("watch", ".beads", err)
	}
	out := make(chan model.Change)
	go watch(ctx, fw, s.dir, out)
	return out, nil
}

// watch owns the watcher and the channel until the context ends or the directory goes: a new directory of the
// same name needs a new watch.
func watch(ctx context.Context, fw *fsnotify.Watcher, dir string, out chan<- model.Change) {
	defer close(out)
	defer fw.Close()
	var due <-chan time.Time
	lost, gone := false, false
	for {
		changed := false
		select {
		case <-ctx.Done():
			return
		case e, ok := <-fw.Events:
			if !ok {
				return
			}
			name := filepath.Base(e.Name)
			changed = e.Op != fsnotify.Chmod && (name == issuesName || name == depsName)
			if e.Name == filepath.Clean(dir) && (e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)) {
				changed, lost, gone = true, true, true
			}
		case err, ok := <-fw.Errors:
			if !ok {
				return
			}
			changed, lost = err != nil, lost || err != nil
		case <-due:
			due = nil
			select {
			case out <- model.Change{Lost: lost}:
				if gone {
					return
				}
				lost = false
			case <-ctx.Done():
				return
			}
		}
		if changed && due == nil {
			due = time.After(burst)
		}
	}
}

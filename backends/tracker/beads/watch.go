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
	go watch(ctx, fw, out)
	return out, nil
}

// watch owns the watcher and the channel until the context ends.
func watch(ctx context.Context, fw *fsnotify.Watcher, out chan<- model.Change) {
	defer close(out)
	defer fw.Close()
	var due <-chan time.Time
	lost := false
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
			if name == ".beads" && (e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)) {
				changed, lost = true, true // the directory itself is gone
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

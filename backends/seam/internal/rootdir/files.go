package rootdir

import (
	"context"
	"runtime"
	"strings"
	"sync"

	"memdesk/model"
)

// Files reads files one after the other and keeps the directory of the last one open: a walk in the order
// of ids opens each directory once instead of every part of every path.
type Files struct {
	root *Dir
	name string
	dir  *Dir
	open openDir
}

// Place is a file: its name, and its directory's path, empty for the root.
type Place struct{ Dir, Name string }

// PlaceOf splits an id.
func PlaceOf(id string) Place {
	i := strings.LastIndexByte(id, '/')
	return Place{id[:max(i, 0)], id[i+1:]}
}

// Path is the id again.
func (p Place) Path() string {
	if p.Dir == "" {
		return p.Name
	}
	return p.Dir + "/" + p.Name
}

// at is the opened directory of a place.
func (r *Files) at(p Place) (*Dir, error) {
	if p.Dir == "" {
		return r.root, nil
	}
	if r.dir != nil && r.name == p.Dir {
		return r.dir, nil
	}
	r.close()
	dir, err := r.root.Sub(p.Dir)
	if err != nil {
		return nil, err
	}
	r.dir, r.name = dir, p.Dir
	return dir, nil
}

// Stat is Dir.Stat of a place.
func (r *Files) Stat(p Place) (Meta, error) {
	dir, err := r.at(p)
	if err != nil {
		return Meta{}, err
	}
	if m, ok := r.open.stat(dir, p.Name); ok {
		return m, nil
	}
	return dir.Stat(p.Name)
}

// Read is Dir.Read of a place. The bytes are valid until the next call.
func (r *Files) Read(p Place, limit int64) ([]byte, Meta, error) {
	if dir, err := r.at(p); err == nil {
		if data, m, ok := r.open.read(dir, p.Name, limit, 0); ok {
			return data, m, nil
		}
	}
	return r.root.Read(p.Path(), limit) // it reports the error
}

// Head is Dir.Head of a place. The bytes are valid until the next call.
func (r *Files) Head(p Place, most int) ([]byte, Meta, error) {
	if dir, err := r.at(p); err == nil {
		if data, m, ok := r.open.read(dir, p.Name, 0, int64(most)); ok {
			return data, m, nil
		}
	}
	return r.root.Head(p.Path(), most)
}

func (r *Files) close() {
	r.open.close()
	if r.dir != nil {
		_ = r.dir.Close()
		r.dir = nil
	}
}

// share is the number of items that one worker takes at a time.
const share = 256

// Workers call functions in parallel, as many at once as there are processors, with a Files per worker.
type Workers struct {
	ctx     context.Context
	op      string
	root    *Dir
	tasks   chan func(*Files) error
	running int
	group   sync.WaitGroup

	mu    sync.Mutex
	first error
}

// Start returns workers without a task. The caller ends them with Wait.
func Start(ctx context.Context, op string, root *Dir) *Workers {
	return &Workers{ctx: ctx, op: op, root: root, tasks: make(chan func(*Files) error, 64)}
}

// Each has fn called for every number below n, from now on.
func (w *Workers) Each(n int, fn func(files *Files, i int) error) {
	for from := 0; from < n; from += share {
		if w.running < runtime.GOMAXPROCS(0) {
			w.running++
			w.group.Go(w.work)
		}
		w.tasks <- func(files *Files) error {
			for i := from; i < min(n, from+share); i++ {
				if err := fn(files, i); err != nil {
					return err
				}
			}
			return nil
		}
	}
}

// Wait returns after the last call, with the first error, after which no task begins.
func (w *Workers) Wait() error {
	close(w.tasks)
	w.group.Wait()
	return w.first
}

func (w *Workers) work() {
	files := Files{root: w.root}
	defer files.close()
	for task := range w.tasks {
		if w.failed() {
			continue
		}
		err := model.FromContext(w.ctx, w.op)
		if err == nil {
			err = task(&files)
		}
		w.fail(err)
	}
}

func (w *Workers) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.first != nil
}

func (w *Workers) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.first == nil {
		w.first = err
	}
}

// InParallel calls fn for every number below n, with a Files per worker. The first
// error ends it.
func InParallel(ctx context.Context, op string, root *Dir, n int, fn func(files *Files, i int) error) error {
	w := Start(ctx, op, root)
	w.Each(n, fn)
	return w.Wait()
}

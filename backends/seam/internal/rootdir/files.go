package rootdir

import (
	"context"
	"runtime"
	"strings"
	"sync"

	"memdesk/model"
)

// Files looks at files one after the other and keeps the directory of the last one
// open: a walk in the order of ids opens each directory once instead of every part of
// every path.
type Files struct {
	root *Dir
	name string
	dir  *Dir
	open openDir
}

// at gives the opened directory of an item and its name there.
func (r *Files) at(id string) (*Dir, string, error) {
	i := strings.LastIndexByte(id, '/')
	if i < 0 {
		return r.root, id, nil
	}
	if r.dir != nil && r.name == id[:i] {
		return r.dir, id[i+1:], nil
	}
	r.close()
	dir, err := r.root.Sub(id[:i])
	if err != nil {
		return nil, "", err
	}
	r.dir, r.name = dir, id[:i]
	return dir, id[i+1:], nil
}

// Stat is Dir.Stat of an item.
func (r *Files) Stat(id string) (Meta, error) {
	dir, name, err := r.at(id)
	if err != nil {
		return Meta{}, err
	}
	if m, ok := r.open.stat(dir, name); ok {
		return m, nil
	}
	return dir.Stat(name)
}

// Read is Dir.Read of an item. The bytes are good until the next call.
func (r *Files) Read(id string, limit int64) ([]byte, Meta, error) {
	dir, name, err := r.at(id)
	if err == nil {
		if data, m, ok := r.open.read(dir, name, limit, 0); ok {
			return data, m, nil
		}
	}
	return r.root.Read(id, limit) // it knows what is wrong
}

// Head is Dir.Head of an item. The bytes are good until the next call.
func (r *Files) Head(id string, most int) ([]byte, Meta, error) {
	dir, name, err := r.at(id)
	if err == nil {
		if data, m, ok := r.open.read(dir, name, 0, int64(most)); ok {
			return data, m, nil
		}
	}
	return r.root.Head(id, most)
}

func (r *Files) close() {
	r.open.close()
	if r.dir != nil {
		_ = r.dir.Close()
		r.dir = nil
	}
}

// share is how many items one worker takes at a time.
const share = 256

// InParallel calls fn for every number below n, with a Files per worker. The first
// error ends it.
func InParallel(ctx context.Context, op string, root *Dir, n int, fn func(files *Files, i int) error) error {
	var mu sync.Mutex
	var first error
	next := 0
	take := func(err error) (from, to int) {
		mu.Lock()
		defer mu.Unlock()
		if first == nil {
			first = err
		}
		if first != nil {
			return 0, 0
		}
		from = next
		next = min(n, next+share)
		return from, next
	}
	work := func() {
		files := Files{root: root}
		defer files.close()
		var err error
		for {
			from, to := take(err)
			if from == to {
				return
			}
			err = model.FromContext(ctx, op)
			for i := from; i < to && err == nil; i++ {
				err = fn(&files, i)
			}
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n/share+1) {
		wg.Go(work)
	}
	wg.Wait()
	return first
}

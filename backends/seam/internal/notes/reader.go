package notes

import (
	"context"
	"runtime"
	"strings"
	"sync"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// reader opens files one after the other and keeps the directory of the last one
// open: a walk in the order of ids opens each directory once instead of every part
// of every path.
type reader struct {
	root *rootdir.Dir
	name string
	dir  *rootdir.Dir
}

// at gives the opened directory of an item and its name there.
func (r *reader) at(id string) (*rootdir.Dir, string, error) {
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

func (r *reader) close() {
	if r.dir != nil {
		_ = r.dir.Close()
		r.dir = nil
	}
}

// share is how many items one worker takes at a time.
const share = 256

// inParallel calls fn for every number below n, with a reader per worker. The first
// error ends it.
func inParallel(ctx context.Context, op string, root *rootdir.Dir, n int, fn func(files *reader, i int) error) error {
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
		files := reader{root: root}
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

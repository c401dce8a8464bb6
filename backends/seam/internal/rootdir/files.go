package rootdir

import (
	"context"
	"runtime"
	"strings"
	"sync"

	"memdesk/model"
)

// Files opens files one after the other and keeps the directory of the last one
// open: a walk in the order of ids opens each directory once instead of every part
// of every path.
type Files struct {
	root  *Dir
	name  string
	dir   *Dir
	whole wholeReader
}

// At gives the opened directory of an item and its name there.
func (r *Files) At(id string) (*Dir, string, error) {
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

// Read is Dir.Read of an item without what only Dir.Read tells. The bytes are good
// until the next call.
func (r *Files) Read(id string, limit int64) ([]byte, error) {
	dir, name, err := r.At(id)
	if err == nil {
		if data, ok := r.whole.read(dir, name, limit); ok {
			return data, nil
		}
	}
	data, _, err := r.root.Read(id, limit) // it knows what is wrong
	return data, err
}

func (r *Files) close() {
	r.whole.close()
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

package gdpr

import (
	"context"
	"fmt"
	"io"
	"path"
	"runtime"
	"sync"
	"sync/atomic"

	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/model"
)

// layerScan is the result of a byte scan of one layer.
type layerScan struct {
	rep subject.Report
	err error
}

// scanLayers reads the bytes of the layers that which selects, as many at a time as there are processors. It
// ends early with its context. told receives the number of bytes read, from several goroutines; nil for no
// listener.
func scanLayers(ctx context.Context, m *subject.Matcher, s model.Store, layers []model.Layer, bystanders *subject.Bystanders, which func(model.Layer) bool, told func(int64)) []layerScan {
	out := make([]layerScan, len(layers))
	var next, read atomic.Int64
	through := func(r io.Reader) io.Reader {
		if told == nil {
			return r
		}
		return &counted{Reader: r, all: &read, told: told}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(layers)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(layers) {
					return
				}
				if which(layers[i]) {
					out[i].rep, out[i].err = scanLayer(ctx, m, s, layers[i], bystanders, through)
				}
			}
		})
	}
	wg.Wait()
	return out
}

// scanLayer reads a layer's bytes.
func scanLayer(ctx context.Context, m *subject.Matcher, s model.Store, l model.Layer, bystanders *subject.Bystanders, through func(io.Reader) io.Reader) (subject.Report, error) {
	if !l.Readable {
		return subject.Report{}, nil
	}
	f, err := s.Maintainer.OpenLayer(ctx, l.ID)
	if err != nil {
		return subject.Report{}, err
	}
	rep, err := m.Scan(ctx, through(f), bystanders)
	if cerr := f.Close(); err == nil && cerr != nil {
		err = model.E(model.Internal, "scan", cerr)
	}
	return rep, err
}

// manyAlike is how many layers of one directory keep rows of their own when their verdicts agree: a store can
// have a version blob for every write.
const manyAlike = 1000

// groupRows replaces the clean layers of a directory by one row with their number, where more than manyAlike
// have the same method and reason. Every other row stays.
func groupRows(rows []receipt.Layer) []receipt.Layer {
	key := func(r receipt.Layer) [4]string {
		return [4]string{topDir(r.Layer), path.Ext(r.Layer), r.Method, r.Reason}
	}
	alike := map[[4]string]int64{}
	for _, r := range rows {
		if groupable(r) {
			alike[key(r)]++
		}
	}
	at := map[[4]string]int{}
	out := rows[:0]
	for _, r := range rows {
		k := key(r)
		n := alike[k]
		if n <= manyAlike || !groupable(r) {
			out = append(out, r)
			continue
		}
		if i, known := at[k]; known {
			out[i].BytesScanned += r.BytesScanned
			continue
		}
		at[k] = len(out)
		r.Layer, r.Count = fmt.Sprintf("%s/*%s (%d files)", k[0], k[1], n), n
		out = append(out, r)
	}
	return out
}

func groupable(r receipt.Layer) bool {
	return r.Verdict == model.VerdictClean && r.Hits == 0 && topDir(r.Layer) != ""
}

// topDir is the first directory of a layer's name; empty for a name without one.
func topDir(layer string) string {
	dir := path.Dir(layer)
	for path.Dir(dir) != "." && path.Dir(dir) != "/" {
		dir = path.Dir(dir)
	}
	if dir == "." || dir == "/" {
		return ""
	}
	return dir
}

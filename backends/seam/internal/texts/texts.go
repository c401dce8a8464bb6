// Package texts reads the texts of a walk's files in parallel, searches them, and remembers their facts. It
// does not interpret the texts.
package texts

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"memdesk/backends/internal/snippet"
	"memdesk/backends/seam/internal/linesearch"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/walk"
	"memdesk/model"
)

const (
	// ReadLimit bounds the searched size of one file, in bytes. It is far above every cap; a larger file is
	// not searched, and the answer says so.
	ReadLimit = 4 << 20
	// WholeLimit bounds a file that is read as a whole, in bytes. A larger one can be
	// listed and removed only, and the error says so.
	WholeLimit = rootdir.MaxRead
)

// errEnough ends a read whose caller has enough.
var errEnough = errors.New("enough")

// Each yields the text of n files of dir, which file names, each opened once, by as many readers as there
// are processors. A vanished file is left out; one that file refuses is yielded with its error. more is
// false when yield has ended it.
func Each(ctx context.Context, dir *rootdir.Dir, n int, file func(i int) (id string, at rootdir.Place, err error), yield func(model.Text, error) bool) (more bool, err error) {
	err = rootdir.InParallel(ctx, "texts", dir, n, func(files *rootdir.Files, i int) error {
		id, at, err := file(i)
		t := model.Text{ID: id}
		if err == nil {
			var data []byte
			if data, _, err = files.Read(at, WholeLimit); err == nil {
				t.Body, t.Binary = string(data), !utf8.Valid(data)
			}
		}
		if !errors.Is(err, model.NotFound) && !yield(t, err) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return false, nil
	}
	return true, err
}

// Sift divides the rows of a list by a query, in any letter case, without reading a file: in hold it in their
// ids, prefix and path; for those in unread only the text can tell. The known signs of a text rule out the
// rest. file is called by several goroutines.
func Sift(rows []int32, file func(row int32) (prefix string, f walk.File), query string) (in, unread []int32) {
	shares := slices.Collect(slices.Chunk(rows, len(rows)/runtime.GOMAXPROCS(0)+1))
	found := make([]struct{ in, unread []int32 }, len(shares))
	var wg sync.WaitGroup
	for i, share := range shares {
		wg.Go(func() { found[i].in, found[i].unread = sift(share, file, query) })
	}
	wg.Wait()
	in = []int32{}
	for _, f := range found {
		in, unread = append(in, f.in...), append(unread, f.unread...)
	}
	return in, unread
}

func sift(rows []int32, file func(row int32) (prefix string, f walk.File), query string) (in, unread []int32) {
	want, words := snippet.Fold(query), linesearch.Whole(query)
	holds := func(s string) bool { return strings.Contains(snippet.Fold(s), want) }
	overSlash := strings.Contains(want, "/") // else it lies in one part of the id, and those need not be joined
	var dir, above string
	dirHolds := holds("")
	for _, row := range rows {
		prefix, f := file(row)
		if f.Dir() != dir || prefix != above {
			dir, above = f.Dir(), prefix
			dirHolds = holds(dir) || holds(above)
		}
		switch {
		case overSlash && holds(prefix+f.Path()), !overSlash && (dirHolds || holds(f.Name())):
			in = append(in, row)
		case f.Kind() == rootdir.File && !Dismissed(f, words):
			unread = append(unread, row)
		}
	}
	return in, unread
}

// Holding keeps the rows of dir whose texts hold the query, in any letter case. closed says why dir could not
// be opened. bounded: a text could not be searched.
func Holding(ctx context.Context, dir *rootdir.Dir, closed error, rows []int32, file func(row int32) walk.File, query string) (out []int32, bounded bool, err error) {
	words := linesearch.Whole(query)
	hits := make([]bool, len(rows))
	var unread atomic.Bool
	err = rootdir.InParallel(ctx, "list", dir, len(rows), func(files *rootdir.Files, n int) error {
		f := file(rows[n])
		var data []byte
		err := closed
		if err == nil {
			var m rootdir.Meta
			data, m, err = files.Read(f.Place(), ReadLimit)
			Learn(f, data, m, err)
		}
		switch {
		case errors.Is(err, model.Unavailable):
			return err
		case err == nil:
			hits[n] = words.In(data)
		case !errors.Is(err, model.NotFound):
			unread.Store(true)
		}
		return nil
	})
	for n, hit := range hits {
		if hit {
			out = append(out, rows[n])
		}
	}
	return out, unread.Load(), err
}

// Dismissed reports whether a file's known signs rule out the query.
func Dismissed(f walk.File, q linesearch.Query) bool {
	if !q.Narrow() {
		return false
	}
	sign := f.Sign(linesearch.GramWords)
	return sign != nil && sign[0].Load() != 0 && !q.May(func(i int) uint64 { return sign[i].Load() })
}

// Learn keeps signs of a file's text that rule out most queries, as long as the file is unchanged.
func Learn(f walk.File, data []byte, m rootdir.Meta, err error) {
	sign := f.Sign(linesearch.GramWords)
	if err != nil || sign == nil || sign[0].Load() != 0 || len(data) > linesearch.GramText || !m.Same(f.Meta()) {
		return
	}
	grams := linesearch.GramsOf(data)
	for i := len(sign) - 1; i >= 0; i-- { // the first word marks it complete
		sign[i].Store(grams[i])
	}
}

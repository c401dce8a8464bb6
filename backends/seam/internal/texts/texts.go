// Package texts reads the texts of a walk's files in parallel, searches them, and remembers their facts. It
// does not interpret the texts.
package texts

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"unicode/utf8"

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
	WholeLimit = 256 << 20
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

// Holding keeps the rows of dir whose ids, prefix and path, or texts hold the query, case-insensitive. closed
// says why dir could not be opened; then only the ids count. bounded: a text could not be searched.
func Holding(ctx context.Context, dir *rootdir.Dir, closed error, prefix string, rows []int32, file func(row int32) walk.File, query string) (out []int32, bounded bool, err error) {
	want, words := strings.ToLower(query), linesearch.Whole(query)
	hits := make([]bool, len(rows))
	var unread atomic.Bool
	err = rootdir.InParallel(ctx, "list", dir, len(rows), func(files *rootdir.Files, n int) error {
		f := file(rows[n])
		if hits[n] = named(prefix, f, want); hits[n] || f.Meta().Kind != rootdir.File || Dismissed(f, words) {
			return nil
		}
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
	out = []int32{}
	for n, hit := range hits {
		if hit {
			out = append(out, rows[n])
		}
	}
	return out, unread.Load(), err
}

// named reports whether an id holds a query in lower case. One without a slash lies in one part of the id, so
// that those need not be joined.
func named(prefix string, f walk.File, want string) bool {
	if strings.Contains(want, "/") {
		return strings.Contains(strings.ToLower(prefix+f.Path()), want)
	}
	return strings.Contains(strings.ToLower(f.Name()), want) || strings.Contains(strings.ToLower(f.Dir()), want) || strings.Contains(strings.ToLower(prefix), want)
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

package operator

import (
	"context"
	"iter"
	"strconv"
	"strings"
	"sync"
	"time"

	"memdesk/model"
)

// PageQuery asks for a window of a list.
type PageQuery struct {
	Filter string // words that a row must contain; empty: all
	Not    bool   // select the rows that do not match
	Cursor string // from a page's Next; empty: the start
	Limit  int    // 1..model.MaxPage
	// Of selects the records of one item, in the log alone; the zero Ref selects all.
	Of model.Ref
}

// Page is a window of a list. Until the walk that finds the rows has ended, the total is a lower bound and the page may
// be short.
type Page[T any] struct {
	Rows     []T
	Next     string // cursor of the next page; empty at the end
	Total    model.Count
	Problems []string // stores that could not be read
	Notice   string   // what a search or an act left unfinished, in words
}

// Matches reports whether a row passes the filter, as Match reads it.
func (q PageQuery) Matches(columns ...string) bool {
	return q.Filter == "" || NewMatch(q.Filter).Of(columns...) != q.Not
}

// walked is a list made by a walk over every store, as far as pages have asked for it: a first page begins a
// walk, later pages continue it. The zero value has none. It is safe for concurrent use.
type walked[T any] struct {
	mu    sync.Mutex // of these fields: each walk has its own
	walk  *walk[T]
	walks int
}

// walk is one walk over all stores.
type walk[T any] struct {
	id     string
	ctx    context.Context // of its reads
	cancel context.CancelFunc
	mu     sync.Mutex
	found  []T
	next   func() (T, bool)
	stop   func()
	done   bool
}

// pageWait is the longest search for a page that has a row already; the first row is waited for.
const pageWait = time.Second

// page is the page of q with the matching rows. problem says why a store could not be looked at, for a row that
// tells of a store; such a row is not counted. begin starts a walk, which outlives its first page. A stream of
// names has no deadline, so the end of ctx and the next first page end the reads of a walk that hangs. A first page
// whose walk was ended by another goes on with the newest: reads that were cut short say nothing about a store.
func (l *walked[T]) page(ctx context.Context, op string, q PageQuery, matches func(T) bool, problem func(T) string, begin func(context.Context) iter.Seq[T]) (Page[T], error) {
	id, n, more := strings.Cut(q.Cursor, ":")
	at, err := 0, error(nil)
	if q.Cursor != "" {
		at, err = strconv.Atoi(n)
	}
	for first := true; ; first = false {
		l.mu.Lock()
		switch ended := l.walk == nil || l.walk.ctx.Err() != nil; {
		case q.Cursor == "" && (first || ended):
			l.begin(ctx, begin)
		case q.Cursor != "" && (!more || err != nil || at < 0 || ended || id != l.walk.id):
			l.mu.Unlock()
			return Page[T]{}, model.Errorf(model.InvalidInput, op, "this cursor is of another list")
		}
		w := l.walk
		l.mu.Unlock()
		if page, whole := w.page(ctx, at, q.Limit, matches, problem); whole {
			return page, nil
		}
		if err := model.FromContext(ctx, op); err != nil {
			return Page[T]{}, err
		}
	}
}

// begin ends the running walk and starts one.
func (l *walked[T]) begin(ctx context.Context, rows func(context.Context) iter.Seq[T]) {
	if l.walk != nil {
		l.walk.cancel()
	}
	l.walks++
	w := &walk[T]{id: strconv.Itoa(l.walks)}
	w.ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	w.next, w.stop = iter.Pull(rows(w.ctx))
	context.AfterFunc(w.ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.stop()
	})
	l.walk = w
}

// page is a page of this walk; whole: no read of it was cut short.
func (w *walk[T]) page(ctx context.Context, at, limit int, matches func(T) bool, problem func(T) string) (page Page[T], whole bool) {
	defer context.AfterFunc(ctx, w.cancel)()
	w.mu.Lock()
	defer w.mu.Unlock()
	until := time.Now().Add(pageWait)
	for i := at; ; i++ {
		if i == len(w.found) && !w.more() {
			break
		}
		if row := w.found[i]; problem(row) != "" {
			page.Problems = append(page.Problems, problem(row))
		} else if matches(row) {
			page.Rows = append(page.Rows, row)
		}
		if len(page.Rows) == limit || len(page.Rows) > 0 && time.Now().After(until) {
			page.Next = w.id + ":" + strconv.Itoa(i+1)
			break
		}
	}
	for _, row := range w.found {
		if problem(row) == "" && matches(row) {
			page.Total.N++
		}
	}
	page.Total.AtLeast = !w.done
	return page, w.done || w.ctx.Err() == nil
}

// more finds one more row, or ends the walk. A row that was read while the walk was ended is none.
func (w *walk[T]) more() bool {
	if w.done {
		return false
	}
	row, ok := w.next()
	if w.ctx.Err() != nil {
		return false
	}
	if !ok {
		w.done = true
		w.stop()
		return false
	}
	w.found = append(w.found, row)
	return true
}

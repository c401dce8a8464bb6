package operator

import (
	"context"
	"iter"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"memdesk/model"
)

// walked is a list made by a walk over every store, as far as pages have asked for it: a first page begins a
// walk, later pages continue it. The zero value has none. It is safe for concurrent use.
type walked[T any] struct {
	mu     sync.Mutex
	walk   *walk[T]
	walks  int
	cancel atomic.Pointer[context.CancelFunc] // ends the walk's reads; nil before the first walk
}

// walk is one walk over all stores.
type walk[T any] struct {
	id    string
	found []T
	next  func() (T, bool)
	stop  func()
	done  bool
}

// walkedPage is one page. Until the walk has ended, the total is a lower bound and the page may be short.
type walkedPage[T any] struct {
	rows     []T
	next     string
	total    model.Count
	problems []string // of its part of the walk
}

// pageWait is the longest search for a page that has a row already; the first row is waited for.
const pageWait = time.Second

// page is the page of q with the matching rows. problem says why a store could not be looked at, for a row that
// tells of a store; such a row is not counted. begin starts a walk, which outlives its first page. A stream of
// names has no deadline, so the end of ctx and the next first page end the reads of a walk that hangs.
func (l *walked[T]) page(ctx context.Context, op string, q PageQuery, matches func(T) bool, problem func(T) string, begin func(context.Context) iter.Seq[T]) (walkedPage[T], error) {
	if c := l.cancel.Load(); c != nil && q.Cursor == "" {
		(*c)()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at := 0
	if q.Cursor == "" {
		walkCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		l.cancel.Store(&cancel)
		l.begin(begin(walkCtx))
	} else {
		id, n, ok := strings.Cut(q.Cursor, ":")
		var err error
		if at, err = strconv.Atoi(n); !ok || err != nil || at < 0 || l.walk == nil || id != l.walk.id {
			return walkedPage[T]{}, model.Errorf(model.InvalidInput, op, "this cursor is of another list")
		}
	}
	defer context.AfterFunc(ctx, *l.cancel.Load())()
	w, page := l.walk, walkedPage[T]{}
	until := time.Now().Add(pageWait)
	for i := at; ; i++ {
		if i == len(w.found) && !w.more() {
			break
		}
		if err := model.FromContext(ctx, op); err != nil {
			return walkedPage[T]{}, err
		}
		if row := w.found[i]; problem(row) != "" {
			page.problems = append(page.problems, problem(row))
		} else if matches(row) {
			page.rows = append(page.rows, row)
		}
		if len(page.rows) == q.Limit || len(page.rows) > 0 && time.Now().After(until) {
			page.next = w.id + ":" + strconv.Itoa(i+1)
			break
		}
	}
	for _, row := range w.found {
		if problem(row) == "" && matches(row) {
			page.total.N++
		}
	}
	page.total.AtLeast = !w.done
	return page, nil
}

// begin ends the running walk and starts one over rows.
func (l *walked[T]) begin(rows iter.Seq[T]) {
	if l.walk != nil {
		l.walk.stop()
	}
	l.walks++
	next, stop := iter.Pull(rows)
	l.walk = &walk[T]{id: strconv.Itoa(l.walks), next: next, stop: stop}
}

// more finds one more row, or ends the walk.
func (w *walk[T]) more() bool {
	if w.done {
		return false
	}
	row, ok := w.next()
	if !ok {
		w.done = true
		w.stop()
		return false
	}
	w.found = append(w.found, row)
	return true
}

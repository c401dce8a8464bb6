package audit

import (
	"context"
	"errors"
	"sync"
)

// maxBatch bounds the records that are written and flushed together.
const maxBatch = 64

// waiting is one append. Its caller goes on when done is closed, and not before its record is
// flushed.
type waiting struct {
	log   *Log
	ctx   context.Context
	phase Phase
	entry Entry
	res   Result
	link  uint64

	lead chan struct{} // closed when it is this caller's turn to write for all
	done chan struct{}
	rec  Record
	err  error
}

// group collects the appends that come while one is being flushed. The first caller writes its own;
// when it is done, the first of those who came meanwhile writes for all of them.
type group struct {
	mu    sync.Mutex
	queue []*waiting
	busy  bool // somebody writes
	most  int  // 0: maxBatch; a benchmark sets 1
}

// join queues an append and reports whether its caller writes now.
func (g *group) join(w *waiting) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queue = append(g.queue, w)
	if g.busy {
		return false
	}
	g.busy = true
	return true
}

// take gives who leads and those to be written with it.
func (g *group) take() []*waiting {
	g.mu.Lock()
	defer g.mu.Unlock()
	most := g.most
	if most == 0 {
		most = maxBatch
	}
	n := min(len(g.queue), most)
	batch := g.queue[:n:n]
	g.queue = append([]*waiting(nil), g.queue[n:]...)
	return batch
}

// back puts those who were not written in front again.
func (g *group) back(rest []*waiting) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queue = append(rest[:len(rest):len(rest)], g.queue...)
}

// next passes the turn on.
func (g *group) next() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy = len(g.queue) > 0; g.busy {
		close(g.queue[0].lead)
	}
}

// append gives a record once it is durable. Records of callers who come at the same time are written
// together: a flush costs the same for one record and for many.
func (l *Log) append(ctx context.Context, phase Phase, e Entry, res Result, link uint64) (Record, error) {
	w := &waiting{log: l, ctx: ctx, phase: phase, entry: e, res: res, link: link, lead: make(chan struct{}), done: make(chan struct{})}
	if !l.group.join(w) {
		select {
		case <-w.done:
			return w.result()
		case <-w.lead:
		}
	}
	batch := l.group.take() // begins with w: whoever leads is the first in the queue
	l.mu.Lock()
	alone := l.commit(ctx, batch)
	l.mu.Unlock()
	if alone { // the lock was not to be had before this caller gave up; the others may have more time
		l.group.back(batch[1:])
		batch = batch[:1]
	}
	for _, one := range batch {
		close(one.done)
	}
	l.group.next()
	return w.result()
}

func (w *waiting) result() (Record, error) {
	if w.err != nil {
		return Record{}, refuse(w.err)
	}
	w.log.appended(w.rec.Seq)
	return w.rec, nil
}

// commit writes a batch. What keeps intents and notes out, such as a disk that is full but for what
// was reserved, does not keep out outcomes. alone reports that nothing was tried for any but the first,
// because its context ended.
func (l *Log) commit(ctx context.Context, batch []*waiting) (alone bool) {
	live := batch[:0:0]
	for _, w := range batch {
		if w.err = w.ctx.Err(); w.err == nil {
			live = append(live, w)
		}
	}
	if len(live) == 0 {
		return false
	}
	if live[0] != batch[0] { // the leader has gone: nobody else waits any shorter for it
		ctx = noWait
	}
	fresh, outcomes := live[:0:0], live[:0:0]
	for _, w := range live {
		if w.phase == PhaseOutcome {
			outcomes = append(outcomes, w)
		} else {
			fresh = append(fresh, w)
		}
	}
	if len(fresh) > 0 {
		err := l.permit()
		if err == nil {
			err = l.begin()
		}
		if err == nil {
			err = l.sound(ctx)
		}
		if err == nil {
			err = l.writeBatch(ctx, live, true)
			if err == nil {
				return false
			}
		}
		if ctx.Err() != nil && len(live) > 1 && errors.Is(err, ctx.Err()) {
			batch[0].err = err
			return true
		}
		fail(fresh, err)
	}
	if len(outcomes) > 0 {
		fail(outcomes, l.writeBatch(ctx, outcomes, false))
	}
	return false
}

func fail(batch []*waiting, err error) {
	for _, w := range batch {
		if w.err == nil {
			w.err = err
		}
	}
}

// writeBatch does one append of several records: lock, look again at what others left, settle it,
// write, flush, save the head. What is wrong with one record alone is its own error.
func (l *Log) writeBatch(ctx context.Context, batch []*waiting, mayRotate bool) error {
	st, unlock, err := l.hold(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	l.sweep()
	l.saveKnown()
	k, fresh, err := l.currentKey()
	if err != nil {
		return err
	}
	if st, err = l.settle(st, k, fresh, mayRotate); err != nil {
		return err
	}
	var lines, names []byte
	h, written := st.head, batch[:0:0]
	for _, w := range batch {
		if w.err = w.add(k, &lines, &names, &h); w.err == nil {
			written = append(written, w)
		}
	}
	if len(written) == 0 {
		return nil
	}
	if err := l.writeNames(names); err != nil {
		return err
	}
	if _, err := l.writeLines(st.head, h, lines, mayRotate); err != nil {
		return err
	}
	for _, w := range written {
		w.log.intents.remember(w.rec)
		w.log.wrote.Store(true)
	}
	return nil
}

// add composes the record behind the head h, with its clear form.
func (w *waiting) add(k key, lines, names *[]byte, h *head) error {
	r, err := w.log.compose(w.phase, w.entry, w.res, w.link, k)
	if err != nil {
		return err
	}
	name, err := nameRowOf(w.entry, &r, h.Seq+1)
	if err != nil {
		return err
	}
	more, next, err := chain(*lines, *h, &r)
	if err != nil {
		return err
	}
	*lines, *names, *h, w.rec = more, append(*names, name...), next, r
	return nil
}

// openIntents are those of a Log without an outcome, so that the outcome need not read.
type openIntents struct {
	mu  sync.Mutex
	all map[uint64]Record
}

func (o *openIntents) remember(r Record) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch r.Phase {
	case PhaseIntent:
		if o.all == nil {
			o.all = map[uint64]Record{}
		}
		o.all[r.Seq] = r
	case PhaseOutcome:
		delete(o.all, r.Link)
	}
}

func (o *openIntents) get(seq uint64) (Record, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r, ok := o.all[seq]
	return r, ok
}

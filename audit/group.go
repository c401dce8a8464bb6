package audit

import (
	"context"
	"errors"
	"sync"
)

// maxBatch bounds the records that share one write and flush.
const maxBatch = 64

// waiting is one append. Its caller continues when done is closed, which is after its record was flushed.
type waiting struct {
	log   *Log
	ctx   context.Context
	phase Phase
	entry Entry
	res   Result
	link  uint64
	// unnamed: the entry names an erased person, so its clear texts are not kept.
	unnamed bool

	lead chan struct{} // closed when it is this caller's turn to write for all
	done chan struct{}
	rec  Record
	err  error
}

// group collects the appends that arrive during a flush. The first caller writes its own; then the first of
// those who arrived meanwhile writes for all of them.
type group struct {
	mu    sync.Mutex
	queue []*waiting
	busy  bool // a caller is writing
	most  int  // 0: maxBatch; a benchmark sets 1
	doubt head // at which an I/O error left pages in doubt
}

// distrust notes, for every Log that shares the group, that what stands behind h may not be on the disk.
func (g *group) distrust(h head) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.doubt = h
}

func (g *group) distrusted() head {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.doubt
}

// join queues an append and reports whether its caller must write now.
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

// take returns the appends to write together, the leader's first.
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

// back returns unwritten appends to the front of the queue.
func (g *group) back(rest []*waiting) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queue = append(rest[:len(rest):len(rest)], g.queue...)
}

// next passes the turn to the next caller.
func (g *group) next() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy = len(g.queue) > 0; g.busy {
		close(g.queue[0].lead)
	}
}

// append returns a record once it is durable. Records of concurrent callers are written together: a flush
// costs the same for one record and for many.
func (l *Log) append(ctx context.Context, phase Phase, e Entry, res Result, link uint64) (Record, error) {
	w := &waiting{log: l, ctx: ctx, phase: phase, entry: e, res: res, link: link, unnamed: l.namesErased(e), lead: make(chan struct{}), done: make(chan struct{})}
	if !l.group.join(w) {
		select {
		case <-w.done:
			return w.result()
		case <-w.lead:
		}
	}
	batch := l.group.take() // begins with w: the leader is the first in the queue
	l.mu.Lock()
	alone := l.commit(ctx, batch)
	l.mu.Unlock()
	if alone { // this caller's context ended before it got the lock; the others may have more time
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

// commit writes a batch. A problem that keeps out intents and notes, such as a disk with only reserved space
// left, does not keep out outcomes. alone reports that the first caller's context ended before anything was
// written for the others.
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
	if live[0] != batch[0] { // the leader's context has ended and must not bound the others' wait
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
	gaveUp := func(err error) bool { return ctx.Err() != nil && len(live) > 1 && errors.Is(err, ctx.Err()) }
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
		if gaveUp(err) {
			batch[0].err = err
			return true
		}
		fail(fresh, err)
	}
	if len(outcomes) > 0 {
		err := l.writeBatch(ctx, outcomes, false)
		if len(fresh) == 0 && gaveUp(err) {
			batch[0].err = err
			return true
		}
		fail(outcomes, err)
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

// writeBatch appends several records at once: lock, look again at the other processes' appends, settle,
// write, flush, save the head. A problem with one record alone is that record's error.
func (l *Log) writeBatch(ctx context.Context, batch []*waiting, mayRotate bool) error {
	st, unlock, err := l.hold(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return l.writeHeld(st, batch, mayRotate)
}

// writeHeld is writeBatch under the lock.
func (l *Log) writeHeld(st state, batch []*waiting, mayRotate bool) error {
	l.sweep()
	l.saveKnown()
	st, k, err := l.settle(st, mayRotate)
	if err != nil {
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

// add composes the record after the head h, with its clear form.
func (w *waiting) add(k key, lines, names *[]byte, h *head) error {
	r, err := w.log.compose(w.phase, w.entry, w.res, w.link, k)
	if err != nil {
		return err
	}
	var name []byte
	known := w.phase == PhaseOutcome && r.Target != k.target(w.entry.Target) // by the intent, whose row has the name
	if !w.unnamed && !known {
		if name, err = nameRowOf(w.entry, &r, h.Seq+1); err != nil {
			return err
		}
	}
	more, next, err := chain(*lines, *h, &r)
	if err != nil {
		return err
	}
	*lines, *names, *h, w.rec = more, append(*names, name...), next, r
	return nil
}

// openIntents caches this Log's intents without an outcome, so that the outcome need not read them.
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

package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/jobs"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// bulkEvery is the pause between two looks at long work on the screen.
const bulkEvery = 200 * time.Millisecond

// outcome is what became of one item.
type outcome struct {
	store, name string
	ok          bool
	word        string // the program's own
	why         safetext.Text
}

// underway is the long work of this session.
type underway struct {
	d     *desk
	bulks []*bulk
	ended []*bulk // that is over, the last first
}

// words tell of work that goes on behind what is shown.
func (w *underway) words() safetext.Text {
	esc := w.d.esc
	switch n := len(w.bulks); {
	case n == 1 && !w.shown(w.bulks[0]):
		b := w.bulks[0]
		return esc.Sprintf("at work: %s, %s of %s; :jobs shows it", jobKind(b.kind), prose.Group(int64(b.done())), prose.Plural(int64(b.total), b.noun))
	case n > 1:
		return esc.Sprintf("at work: %s; :jobs lists them", prose.Plural(int64(n), "job"))
	}
	return safetext.Text{}
}

// bulk is long work with an outcome per item. The work writes it, the screen
// reads it.
type bulk struct {
	kind, title string // of the job: no names
	noun        string
	total       int
	bad         string // what the outcomes that count as failures are; empty: failed
	ready       string // what a search that found everything is called at its end
	run         func(ctx context.Context, j Job, b *bulk) error
	then        func() tea.Cmd // when it has ended on the screen; nil: nothing
	cancel      context.CancelFunc
	list        listing // of its outcomes, when it was last shown; nil: never

	mu      sync.Mutex
	id      jobs.ID // in the journal, once it has begun
	rows    []outcome
	now     safetext.Text // what it is at, where that is more than a count
	tail    safetext.Text // what else is to be said at the end
	found   string        // what the rows are, where they are not nouns; set at the end
	failed  int
	undo    []string
	undone  []string
	ended   bool
	stopped bool // on demand
	err     error
}

// keptEnded is how many jobs of this session keep their outcomes after the end.
const keptEnded = 20

func (b *bulk) jobID() jobs.ID {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.id
}

// done is how many of its items have an outcome.
func (b *bulk) done() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.rows)
}

func (b *bulk) add(o outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rows = append(b.rows, o)
	if !o.ok {
		b.failed++
	}
}

// note says what the work is at.
func (b *bulk) note(t safetext.Text) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = t
}

// tell adds what is said when the work has ended.
func (b *bulk) tell(t safetext.Text) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tail = t
}

// stop says that the work ends on demand.
func (b *bulk) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
}

// settle replaces the outcomes by what is known at the end. What is counted then may
// be another thing than what the work was counted in: found names it.
func (b *bulk) settle(rows []outcome, found string) {
	b.mu.Lock()
	b.rows, b.failed, b.found = nil, 0, found
	b.mu.Unlock()
	for _, o := range rows {
		b.add(o)
	}
}

// numbers says how far the work is, in words.
func (b *bulk) numbers(esc safetext.Escaper) safetext.Text {
	b.mu.Lock()
	defer b.mu.Unlock()
	done, total, noun := len(b.rows), b.total, b.noun
	if b.found != "" {
		total, noun = done, b.found
	}
	text, end := esc.Sprintf("%s of %s", prose.Group(int64(done)), prose.Plural(int64(total), noun)), "done"
	if b.failed > 0 {
		text, end = esc.Sprintf("%s, %s %s", text, prose.Group(int64(b.failed)), cmp.Or(b.bad, "failed")), "ended"
	} else if b.ready != "" {
		text, end = esc.Sprintf("%s searched", text), b.ready
	}
	switch {
	case !b.ended && !b.now.IsEmpty():
		return esc.Sprintf("%s. %s. C stops; esc leaves it running.", text, b.now)
	case !b.ended:
		return esc.Sprintf("%s. C stops after the %s under way; esc leaves it running.", text, b.noun)
	case b.stopped && done < total:
		return esc.Sprintf("stopped: %s; the rest was left as it is", text)
	case b.err != nil && b.failed == 0:
		return esc.Sprintf("ended early: %s: %s", text, prose.Reason(esc, b.err))
	}
	if !b.tail.IsEmpty() {
		return esc.Sprintf("%s: %s; %s", end, text, b.tail)
	}
	return esc.Sprintf("%s: %s", end, text)
}

// progress says how far the work is, without what a screen can do about it.
func (b *bulk) progress(esc safetext.Escaper) safetext.Text {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := esc.Sprintf("%s of %s, %s not done", prose.Group(int64(len(b.rows))), prose.Plural(int64(b.total), b.noun), prose.Group(int64(b.failed)))
	if !b.now.IsEmpty() {
		text = esc.Sprintf("%s; %s", text, b.now)
	}
	return text
}

// noBulk says why more than one item cannot be changed at once.
func (d *desk) noBulk() string {
	if d.Jobs == nil {
		return "there is no journal for long work here: one item at a time can be changed"
	}
	return ""
}

// watch starts long work and shows it.
func (w *underway) watch(b *bulk) tea.Cmd {
	ctx, cancel := context.WithCancel(w.d.ctx)
	b.cancel = cancel
	w.bulks = append(w.bulks, b)
	runner := w.d.Jobs
	work := w.d.ask(func(context.Context) any {
		defer cancel()
		err := runner.Run(ctx, b.kind, b.title, func(ctx context.Context, j Job) error {
			b.mu.Lock()
			b.id = j.ID()
			b.mu.Unlock()
			return b.run(ctx, j, b)
		})
		b.mu.Lock()
		b.ended, b.err = true, err
		b.mu.Unlock()
		return onLoop(func() tea.Cmd { return w.bulkEnded(b) })
	})
	return tea.Batch(work, w.openBulk(b, false), w.bulkTick(b))
}

// watching is what watches long work, once a question about it is answered.
func (w *underway) watching(b *bulk) func() tea.Cmd { return func() tea.Cmd { return w.watch(b) } }

// openBulk lists the outcomes of long work, above the list that is shown or in its place.
func (w *underway) openBulk(b *bulk, above bool) tea.Cmd {
	return w.d.frame.beside("Job", above, func(address int) listing {
		b.list = listOf(w.d, w.bulkKind(b))(address)
		return b.list
	})
}

// shown reports whether the outcomes of long work are on the screen.
func (w *underway) shown(b *bulk) bool { return b.list != nil && w.d.frame.shows(b.list.address()) }

func (w *underway) bulkTick(b *bulk) tea.Cmd {
	return w.d.later(overlayPane)(bulkEvery, onLoop(func() tea.Cmd { return w.ticked(b) }))
}

// ticked looks at long work that is on the screen.
func (w *underway) ticked(b *bulk) tea.Cmd {
	b.mu.Lock()
	ended := b.ended
	b.mu.Unlock()
	if ended {
		return nil
	}
	if w.shown(b) {
		return tea.Batch(b.list.reload(), w.bulkTick(b))
	}
	return w.bulkTick(b)
}

// bulkEnded takes over what long work has left.
func (w *underway) bulkEnded(b *bulk) tea.Cmd {
	for i, o := range w.bulks {
		if o == b {
			w.bulks = append(w.bulks[:i:i], w.bulks[i+1:]...)
			break
		}
	}
	w.ended = append([]*bulk{b}, w.ended[:min(len(w.ended), keptEnded-1)]...)
	w.d.frame.did(b.undo, b.undone)
	if len(b.undo) > 0 {
		w.d.stuck.set("") // what can be put back of it is
	}
	tone := paint.ToneInfo
	if b.failed > 0 || b.err != nil {
		tone = paint.ToneWarn
	}
	text := b.numbers(w.d.esc)
	if b.then != nil && w.shown(b) && w.d.modal.dialog == nil {
		w.d.say(tone, text)
		if cmd := b.then(); cmd != nil {
			return cmd
		}
	}
	if len(b.undo) > 0 {
		text = w.d.esc.Sprintf("%s; z takes back what was done", text)
	}
	w.d.say(tone, text)
	return w.d.frame.changed(true)
}

// bulkKind is the list of outcomes.
func (w *underway) bulkKind(b *bulk) recordKind[outcome] {
	esc := w.d.esc
	return recordKind[outcome]{
		noun: "outcome", tell: tellOutcome, empty: "Nothing is done yet.",
		columns: []column{{"OUTCOME", 16, false}, {"STORE", 12, false}, {"ITEM", 0, false}},
		fetch: func(_ context.Context, q PageQuery) (span[record[outcome]], said, error) {
			b.mu.Lock()
			rows, calm := b.rows[:len(b.rows):len(b.rows)], b.failed == 0
			b.mu.Unlock()
			start := 0
			if q.Cursor != "" {
				var err error
				if start, err = strconv.Atoi(q.Cursor); err != nil || start > len(rows) {
					return span[record[outcome]]{}, said{}, model.Errorf(model.InvalidInput, "job", "this cursor is of another list")
				}
			}
			out := span[record[outcome]]{total: model.Count{N: int64(len(rows)), Unknown: q.Filter != ""}}
			i := start
			for ; i < len(rows) && len(out.rows) < q.Limit; i++ {
				if q.Matches(rows[i].word, rows[i].store, rows[i].name, rows[i].why.String()) {
					out.rows = append(out.rows, outcomeRecord(esc, i, rows[i]))
				}
			}
			if i < len(rows) {
				out.next = strconv.Itoa(i)
			}
			return out, said{text: b.numbers(esc), calm: calm}, nil
		},
		detail: func(_ context.Context, raw outcome) *text.Page { return outcomeText(esc, raw) },
		name:   "job", field: func(raw outcome) string { return raw.name }, datum: outcomeDatum,
		keys: func(*records[outcome]) []act.Act {
			return []act.Act{{Keys: []string{"C"}, Name: "stop", Doc: "stop after the item under way; what is done stays done",
				Why: func() string {
					b.mu.Lock()
					defer b.mu.Unlock()
					if b.ended {
						return "it has ended"
					}
					return ""
				},
				Do: func() tea.Cmd {
					b.mu.Lock()
					b.stopped = true
					b.mu.Unlock()
					b.cancel()
					w.d.say(paint.ToneInfo, esc.Const("stopping"))
					return nil
				}}}
		},
	}
}

func outcomeRecord(esc safetext.Escaper, i int, o outcome) record[outcome] {
	t := paint.ToneInfo
	if !o.ok {
		t = paint.ToneWarn
	}
	return record[outcome]{key: strconv.Itoa(i), raw: o, tones: []paint.Tone{t}, cells: []safetext.Text{esc.Const(o.word), esc.Line(o.store), prose.NameFirst(esc, o.name)}}
}

func outcomeText(esc safetext.Escaper, o outcome) *text.Page {
	head := []text.Line{{Value: esc.LineMax(o.name, maxField), Kind: text.Title},
		{Name: esc.Const("store"), Value: esc.Line(o.store)}, {Name: esc.Const("outcome"), Value: esc.Const(o.word)}}
	if !o.why.IsEmpty() {
		kind := text.Note
		if !o.ok {
			kind = text.Warn
		}
		head = append(head, text.Line{Value: o.why, Kind: kind})
	}
	return text.NewPage(head, "")
}

// each runs one step per item and goes on after a failure; only the end of the
// context stops it, between two of them.
func (b *bulk) each(ctx context.Context, j Job, n int, key func(int) string, do func(ctx context.Context, i int) outcome) error {
	for i := range n {
		ran := false
		err := j.Step(ctx, key(i), func(ctx context.Context) error {
			ran = true
			// Stopping, or losing the connection, lets the item under way come to its end,
			// within its store's deadline: cut off, nobody would know what became of it.
			o := do(context.WithoutCancel(ctx), i)
			b.add(o)
			if !o.ok {
				return errNotDone
			}
			return nil
		})
		if ran {
			j.Progress(int64(i+1), int64(n), b.noun, "") // of the last one before the end too
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, errNotDone) {
			return err // the journal cannot be written, or the job was cancelled
		}
	}
	if b.failed > 0 {
		return fmt.Errorf("%d of %d: %w", b.failed, n, errNotDone)
	}
	return nil
}

var errNotDone = errors.New("not done")

func outcomeDatum(o outcome) datum {
	var r datum
	r.add("store", o.store)
	r.add("item", o.name)
	r.add("ok", o.ok)
	r.add("outcome", o.word)
	r.add("why", o.why.String())
	return r
}

// tellOutcome is what became of one item, as a sentence.
func tellOutcome(esc safetext.Escaper, e outcome) safetext.Text {
	return esc.Sprintf("%s: %s in %s. %s", e.word, esc.LineMax(e.name, prose.MaxTitle), e.store, e.why)
}

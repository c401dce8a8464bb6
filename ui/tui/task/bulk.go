// Package task shows long work: each item with its outcome, and the jobs of all sessions.
package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/jobs"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/record"
)

// bulkEvery is the pause between two looks at long work on the screen.
const bulkEvery = 200 * time.Millisecond

// Outcome is the result for one item.
type Outcome struct {
	Store, Name string
	Ok          bool
	Word        string // the program's own word
	Why         safetext.Text
}

// Failed is the word for an item whose act failed: it is left only where the error proves that.
func Failed(err error) string {
	if model.Unchanged(err) {
		return "left"
	}
	return "not known"
}

// Underway is the long work of this session.
type Underway struct {
	D     *desk.Desk
	Bulks []*Bulk
	ended []*Bulk // finished work, the last first
}

// Words are the progress of work behind the screen.
func (w *Underway) Words() safetext.Text {
	esc := w.D.Esc
	switch n := len(w.Bulks); {
	case n == 1 && !w.shown(w.Bulks[0]):
		b := w.Bulks[0]
		return esc.Sprintf("at work: %s, %s of %s; :jobs shows it", JobKind(b.Kind), prose.Group(b.Done()), prose.Plural(b.Total, b.Noun))
	case n > 1:
		return esc.Sprintf("at work: %s; :jobs lists them", prose.Plural(n, "job"))
	}
	return safetext.Text{}
}

// Bulk is long work with an outcome per item. The work writes it, the screen reads it.
type Bulk struct {
	Kind, Title string // of the job: no names
	Noun        string
	Total       int
	Ready       string // word for the end of a complete search
	Run         func(ctx context.Context, j operator.Running, b *Bulk) error
	Then        func() tea.Cmd // runs when it has ended on the screen; nil: nothing
	Cancel      context.CancelFunc
	list        desk.Listing // of its outcomes, when last shown; nil: never
	begun       time.Time    // zero where the operator has opened its outcomes

	mu      sync.Mutex
	id      jobs.ID // in the journal, once it has begun
	rows    []Outcome
	now     safetext.Text // the current step, where that is more than a count
	tail    safetext.Text // added at the end
	found   string        // name of the rows, where they are not Nouns; set at the end
	Failed  int
	Undo    []string
	Undone  []string
	ended   bool
	stopped bool // by the operator
	Err     error
}

// keptEnded bounds the jobs of this session that keep their outcomes after the end.
const keptEnded = 20

// Locked reads or writes what the work and the screen share.
func (b *Bulk) Locked(do func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	do()
}

func (b *Bulk) JobID() (id jobs.ID) {
	b.Locked(func() { id = b.id })
	return id
}

// Done counts its items with an outcome.
func (b *Bulk) Done() (n int) {
	b.Locked(func() { n = len(b.rows) })
	return n
}

func (b *Bulk) Add(o Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rows = append(b.rows, o)
	if !o.Ok {
		b.Failed++
	}
}

// Took keeps the undo entry of a change to one item, or says why z cannot undo it.
func (b *Bulk) Took(d *desk.Desk, done operator.Done) safetext.Text {
	undo, why := d.Stuck.Took(d.Esc, done)
	b.Locked(func() { b.Undo = append(b.Undo, undo...) })
	return why
}

// Note names the current step.
func (b *Bulk) Note(t safetext.Text) { b.Locked(func() { b.now = t }) }

// Tell adds words to the end of the work.
func (b *Bulk) Tell(t safetext.Text) { b.Locked(func() { b.tail = t }) }

// Stop marks the work as stopped by the operator.
func (b *Bulk) Stop() { b.Locked(func() { b.stopped = true }) }

// Settle replaces the outcomes by the final ones, which may count other things: found names them.
func (b *Bulk) Settle(rows []Outcome, found string) {
	b.Locked(func() { b.rows, b.Failed, b.found = nil, 0, found })
	for _, o := range rows {
		b.Add(o)
	}
}

// became counts what became of the items, by the words of their outcomes in the order in which they came.
func (b *Bulk) became(esc safetext.Escaper) safetext.Text {
	count, words := map[string]int{}, []string{}
	for _, o := range b.rows {
		if count[o.Word]++; count[o.Word] == 1 {
			words = append(words, o.Word)
		}
	}
	total, noun := b.Total, b.Noun
	if b.found != "" {
		total, noun = len(b.rows), b.found
	}
	text := esc.Const(prose.Plural(total, noun))
	if len(words) == 1 && len(b.rows) == total {
		return esc.Sprintf("%s %s", text, words[0])
	} else if len(b.rows) < total {
		text = esc.Sprintf("%s of %s", prose.Group(len(b.rows)), text)
	}
	for i, w := range words {
		text = esc.Sprintf("%s%s %s %s", text, []string{":", ","}[min(i, 1)], prose.Group(count[w]), w)
	}
	return text
}

func (b *Bulk) numbers(esc safetext.Escaper) safetext.Text {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.became(esc)
	if b.Ready != "" {
		text = esc.Sprintf("%s of %s searched", prose.Group(len(b.rows)-b.Failed), prose.Plural(b.Total, b.Noun))
	}
	switch {
	case !b.ended && !b.now.IsEmpty():
		return esc.Sprintf("%s. %s. C stops; esc leaves it running.", text, b.now)
	case !b.ended:
		return esc.Sprintf("%s. C stops after the %s under way; esc leaves it running.", text, b.Noun)
	case b.stopped && len(b.rows) < b.Total:
		return esc.Sprintf("stopped at %s; the rest was left as it is", text)
	case b.Err != nil && (b.Failed == 0 || len(b.rows) < b.Total):
		return esc.Sprintf("ended early at %s: %s", text, prose.Reason(esc, b.Err))
	case b.Ready != "":
		text = esc.Sprintf("%s: %s", b.Ready, text)
	}
	if !b.tail.IsEmpty() {
		return esc.Sprintf("%s; %s", text, b.tail)
	}
	return text
}

func (b *Bulk) hasEnded() (ended bool) {
	b.Locked(func() { ended = b.ended })
	return ended
}

// Progress is the progress without the keys of a screen.
func (b *Bulk) Progress(esc safetext.Escaper) safetext.Text {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := esc.Sprintf("%s of %s, %s not done", prose.Group(len(b.rows)), prose.Plural(b.Total, b.Noun), prose.Group(b.Failed))
	if !b.now.IsEmpty() {
		text = esc.Sprintf("%s; %s", text, b.now)
	}
	return text
}

// Watch starts long work and shows it.
func (w *Underway) Watch(b *Bulk) tea.Cmd {
	ctx, cancel := context.WithCancel(w.D.Ctx)
	b.Cancel, b.begun = cancel, w.D.Time.Clock.Now()
	w.Bulks = append(w.Bulks, b)
	runner := w.D.Jobs
	work := w.D.Ask(func(context.Context) any {
		defer cancel()
		err := runner.Run(ctx, b.Kind, b.Title, func(ctx context.Context, j operator.Running) error {
			b.Locked(func() { b.id = j.ID() })
			return b.Run(ctx, j, b)
		})
		b.Locked(func() { b.ended, b.Err = true, err })
		return loop.Then(func() tea.Cmd { return w.bulkEnded(b) })
	})
	return tea.Batch(work, w.openBulk(b, false), w.bulkTick(b))
}

// Watching returns the watch on long work, to start after a question about it.
func (w *Underway) Watching(b *Bulk) func() tea.Cmd { return func() tea.Cmd { return w.Watch(b) } }

// openBulk lists the outcomes of long work, above the current list or in its place.
func (w *Underway) openBulk(b *Bulk, above bool) tea.Cmd {
	if above {
		b.begun = time.Time{}
	}
	return w.D.Frame.Beside("Job", above, func(address int) desk.Listing {
		b.list = w.Outcomes(b, address)
		return b.list
	})
}

// shown reports whether the outcomes of long work are on the screen.
func (w *Underway) shown(b *Bulk) bool { return b.list != nil && w.D.Frame.Shows(b.list.Address()) }

// bulkTick updates long work on the screen until it ends.
func (w *Underway) bulkTick(b *Bulk) tea.Cmd {
	return w.D.Later(loop.Over)(bulkEvery, loop.Then(func() tea.Cmd {
		switch {
		case b.hasEnded():
			return nil
		case w.shown(b):
			return tea.Batch(b.list.Reload(), w.bulkTick(b))
		}
		return w.bulkTick(b)
	}))
}

func (w *Underway) bulkEnded(b *Bulk) tea.Cmd {
	w.Bulks = slices.DeleteFunc(slices.Clone(w.Bulks), func(o *Bulk) bool { return o == b })
	w.ended = append([]*Bulk{b}, w.ended[:min(len(w.ended), keptEnded-1)]...)
	w.D.Frame.Did(b.Undo, b.Undone)
	if len(b.Undo) > 0 {
		w.D.Stuck.Set("") // it can be undone, as far as it got
	}
	tone := paint.ToneInfo
	if b.Failed > 0 || b.Err != nil {
		tone = paint.ToneWarn
	}
	text := b.numbers(w.D.Esc)
	if b.Then != nil && w.shown(b) && w.D.Modal.Dialog == nil {
		w.D.Say(tone, text)
		if cmd := b.Then(); cmd != nil {
			return cmd
		}
	}
	if len(b.Undo) > 0 {
		text = w.D.Esc.Sprintf("%s; z undoes it", text)
	}
	w.D.Say(tone, text)
	if w.shown(b) && !w.D.Spoken && w.D.Modal.Dialog == nil && b.tellsNothing(w.D.Time.Clock.Now()) {
		return tea.Batch(w.D.Frame.CloseSide(), w.D.Frame.Changed(true))
	}
	return w.D.Frame.Changed(true)
}

// briefly is how long work may take whose outcomes close by themselves.
const briefly = 2 * time.Second

// tellsNothing reports whether all went well at once: one line says so, and the operator is back in the list.
func (b *Bulk) tellsNothing(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Then == nil && b.Err == nil && !b.stopped && b.tail.IsEmpty() && now.Sub(b.begun) < briefly &&
		!slices.ContainsFunc(b.rows, func(o Outcome) bool { return !o.Ok || !o.Why.IsEmpty() })
}

func (w *Underway) Outcomes(b *Bulk, address int) desk.Listing {
	return record.Of(w.D, bulkKind(w, b), address)
}

func bulkKind(w *Underway, b *Bulk) record.Kind[Outcome] {
	esc := w.D.Esc
	return record.Kind[Outcome]{
		Noun: "outcome",
		Tell: func(esc safetext.Escaper, o Outcome) safetext.Text {
			return esc.Sprintf("%s: %s in %s. %s", o.Word, esc.LineMax(o.Name, prose.MaxTitle), o.Store, o.Why)
		},
		Empty:   "Nothing is done yet.",
		Columns: []record.Column{{Title: "OUTCOME", Width: 16, Least: 10}, {Title: "STORE", Width: 12, Least: 8}, {Title: "ITEM", Width: 40, Least: 20}, {Title: "WHY", Least: 24}},
		Fetch: func(_ context.Context, q operator.PageQuery) (record.Page[Outcome], error) {
			var rows []Outcome
			var calm bool
			b.Locked(func() { rows, calm = b.rows[:len(b.rows):len(b.rows)], b.Failed == 0 })
			if w.D.Spoken { // read out when it is over: its progress was heard already
				rows = slices.DeleteFunc(slices.Clone(rows), func(o Outcome) bool { return o.Ok })
			}
			out, err := record.Cut(rows, "", q, func(i int, o Outcome) (record.Row[Outcome], bool) {
				return outcomeRecord(esc, i, o), q.Matches(o.Word, o.Store, o.Name, o.Why.String())
			})
			out.Said = list.Said{Text: b.numbers(esc), Calm: calm}
			return out, err
		},
		Detail: func(_ context.Context, raw Outcome) *text.Page { return outcomeText(esc, raw) },
		Name:   "job", Field: func(raw Outcome) string { return raw.Name },
		Datum: func(o Outcome) desk.Datum {
			return desk.DatumOf("store", o.Store, "item", o.Name, "ok", o.Ok, "outcome", o.Word, "why", o.Why.String())
		},
		Keys: func(*record.List[Outcome]) []act.Act {
			return []act.Act{{Keys: []string{"C"}, Name: "stop", Verb: "stop", Doc: "stop after the item under way; what is done stays done",
				Why: func() string { return act.When(b.hasEnded(), "it has ended") },
				Do: func() tea.Cmd {
					b.Stop()
					b.Cancel()
					return w.D.Tell("stopping")
				}}}
		},
	}
}

func outcomeRecord(esc safetext.Escaper, i int, o Outcome) record.Row[Outcome] {
	t := paint.ToneInfo
	if !o.Ok {
		t = paint.ToneWarn
	}
	return record.Row[Outcome]{Key: strconv.Itoa(i), Raw: o, Tones: []paint.Tone{t}, Cells: []safetext.Text{esc.Const(o.Word), esc.Line(o.Store), prose.NameFirst(esc, o.Name), o.Why}}
}

func outcomeText(esc safetext.Escaper, o Outcome) *text.Page {
	kind := text.Warn
	if o.Ok {
		kind = text.Note
	}
	return text.NewPage(append([]text.Line{{Value: esc.LineMax(o.Name, desk.MaxField), Kind: text.Title},
		desk.Field("store", esc.Line(o.Store)), desk.Field("outcome", esc.Const(o.Word))}, text.Known(text.Line{Value: o.Why, Kind: kind})...), "")
}

// Each runs one step for each of Total items, also after a failure, until the context ends between two.
func (b *Bulk) Each(ctx context.Context, j operator.Running, key func(int) string, do func(ctx context.Context, i int) Outcome) error {
	for i := range b.Total {
		ran := false
		err := j.Step(ctx, key(i), func(ctx context.Context) error {
			ran = true
			// After a stop the current item still finishes, within its store's deadline: cut off, its fate is unknown.
			o := do(context.WithoutCancel(ctx), i)
			b.Add(o)
			if !o.Ok {
				return errNotDone
			}
			return nil
		})
		if ran {
			j.Progress(int64(i+1), int64(b.Total), b.Noun, "") // the last item reports progress before the end too
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, errNotDone) {
			return err // the journal cannot be written, or the job was cancelled
		}
	}
	if b.Failed > 0 {
		return fmt.Errorf("%d of %d: %w", b.Failed, b.Total, errNotDone)
	}
	return nil
}

var errNotDone = errors.New("not done")

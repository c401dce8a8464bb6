package pane

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/recalled"
	"memdesk/model"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// Reading is a request to show an item.
type Reading struct {
	Ref   model.Ref
	Line  int
	Terms []string
}

// readDue says that the selection has rested.
type readDue struct{ gen int }

// readDone is an item, or why it cannot be read.
type readDone struct {
	want     Reading
	text     *text.Page
	revision model.Revision // of the text; empty when there is none
}

// Reader shows one item at a time, by one read at most, and then goes on to the item wanted by then.
type Reader struct {
	d     *desk.Desk
	ask   func(func(context.Context) any) tea.Cmd
	after func(time.Duration, any) tea.Cmd
	Pager *text.Pager
	Want  Reading
	Shown model.Ref
	line  int            // that it was opened at
	Rev   model.Revision // of the shown item; Seen is for acts
	gen   int
	Busy  bool

	rested bool // the pause before the read is over
	again  bool // the answer under way may be older than what was asked for
}

func NewReader(d *desk.Desk, pane int) *Reader {
	ask := d.Asker(pane)
	return &Reader{d: d, ask: ask, after: d.Later(pane), Pager: text.New(d.St, ask)}
}

// Rest asks for an item once the selection stays on it.
func (r *Reader) Rest(w Reading) tea.Cmd {
	if w.Ref == r.Want.Ref {
		return nil
	}
	r.Want, r.rested = w, false
	r.gen++
	return r.after(list.PreviewAfter, readDue{r.gen})
}

// Open asks for an item at once; again reads it even when it is shown already.
func (r *Reader) Open(w Reading, again bool) tea.Cmd {
	if r.Want.Ref == w.Ref && r.Shown == w.Ref && !again {
		return nil
	}
	r.Want, r.rested, r.again = w, true, true
	r.gen++
	return r.read()
}

// Update takes the answers to its own questions.
func (r *Reader) Update(msg any) tea.Cmd {
	switch msg := msg.(type) {
	case readDue:
		return r.due(msg)
	case readDone:
		return r.done(msg)
	case text.LaidOut:
		r.Pager.Arrive(msg)
	}
	return nil
}

func (r *Reader) due(m readDue) tea.Cmd {
	if m.gen != r.gen {
		return nil
	}
	r.rested = true
	return r.read()
}

func (r *Reader) read() tea.Cmd {
	if r.Busy || r.Want.Ref.Store == "" {
		return nil
	}
	r.Busy, r.again = true, false
	want, d := r.Want, r.d
	return r.ask(func(ctx context.Context) any {
		page, revision := Read(ctx, d, want)
		return readDone{want, page, revision}
	})
}

// Read reads an item, or says why it cannot be read.
func Read(ctx context.Context, d *desk.Desk, want Reading) (*text.Page, model.Revision) {
	s, err := d.Fleet.Store(want.Ref.Store)
	var it model.Item
	gone := false // the store is open, and the item is not in it
	switch {
	case err != nil:
	case s.Browser == nil:
		it, err = recalled.Read(ctx, s, want.Ref.ID, strings.Join(want.Terms, " "))
	default:
		it, err = s.Browser.Read(ctx, want.Ref.ID)
		gone = errors.Is(err, model.NotFound)
	}
	if err == nil {
		return desk.ItemText(d, s, it), it.Revision
	}
	why, advice := d.Esc.Sprintf("it cannot be shown: %s", prose.Reason(d.Esc, err)), "`ctrl+r` asks the store again."
	if gone {
		why, advice = d.Esc.Sprintf("it was forgotten or moved: %s", prose.Reason(d.Esc, err)), "`z` undoes your last act, `esc` leads to the list."
	}
	page := []text.Line{{Value: d.Esc.Line(want.Ref.ID), Kind: text.Title}, {Kind: text.Blank}, {Value: why, Kind: text.Alert}}
	if !d.Plain { // it has words, not keys
		page = append(page, text.Advice(d.Esc, advice))
	}
	return text.NewPage(page, ""), ""
}

func (r *Reader) done(m readDone) tea.Cmd {
	r.Busy = false
	if m.want.Ref != r.Want.Ref || r.again {
		if !r.rested { // its pause is not over
			return nil
		}
		return r.read()
	}
	same := r.Shown == m.want.Ref && r.line == m.want.Line
	r.Shown, r.line, r.Rev = m.want.Ref, m.want.Line, m.revision
	r.Pager.Terms = m.want.Terms
	switch {
	case same:
		return r.Pager.Update(m.text)
	case r.Pager.Brief && m.text.Body != "":
		return r.Pager.Show(m.text, m.text.Begins(), m.want.Terms)
	}
	return r.Pager.Show(m.text, m.want.Line, m.want.Terms)
}

// FromTop shows the item from its metadata on, after a brief preview.
func (r *Reader) FromTop() tea.Cmd {
	if r.Pager.Brief {
		return nil
	}
	return r.Pager.Home()
}

func (r *Reader) Clear() {
	r.gen++
	r.Want, r.Shown = Reading{}, model.Ref{}
	r.Pager.Clear()
}

// Seen is the revision of an item on the screen; empty when unknown.
func (r *Reader) Seen(ref model.Ref) model.Revision {
	if r.Shown != ref {
		return ""
	}
	return r.Rev
}

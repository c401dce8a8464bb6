package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/recalled"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// previewAfter is how long the selection must rest before its item is read, so
// that a held key does not read every item that it passes.
const previewAfter = 60 * time.Millisecond

// maxField bounds a metadata value on the screen, in bytes; what is cut is said.
const maxField = 16 << 10

// maxFields bounds how many metadata fields are shown; the rest is counted.
const maxFields = 500

// reading is a wish to see an item.
type reading struct {
	ref   model.Ref
	line  int
	terms []string
}

// readDue says that the selection has rested.
type readDue struct{ gen int }

// readDone is an item, or why it cannot be had.
type readDone struct {
	want     reading
	text     *text.Page
	revision model.Revision // that the text shows; empty when there is none
}

// reader shows one item at a time. It has at most one read under way and then
// goes on to the item that is wanted by then.
type reader struct {
	d     *desk
	ask   func(func(context.Context) any) tea.Cmd
	after func(time.Duration, any) tea.Cmd
	pager *text.Pager
	want  reading
	shown model.Ref
	line  int            // that it was opened at
	rev   model.Revision // of what is shown
	gen   int
	busy  bool

	rested bool // the pause before what is wanted is over
}

func newReader(d *desk, pane int) *reader {
	ask := d.asker(pane)
	return &reader{d: d, ask: ask, after: d.later(pane), pager: text.New(d.st, ask)}
}

// rest asks for an item once the selection stays on it.
func (r *reader) rest(w reading) tea.Cmd {
	if w.ref == r.want.ref {
		return nil
	}
	r.want, r.rested = w, false
	r.gen++
	return r.after(previewAfter, readDue{r.gen})
}

// open asks for an item at once; again reads it even when it is shown already.
func (r *reader) open(w reading, again bool) tea.Cmd {
	if r.want.ref == w.ref && r.shown == w.ref && !again {
		return nil
	}
	r.want, r.rested = w, true
	r.gen++
	return r.read()
}

func (r *reader) due(m readDue) tea.Cmd {
	if m.gen != r.gen {
		return nil
	}
	r.rested = true
	return r.read()
}

func (r *reader) read() tea.Cmd {
	if r.busy || r.want.ref.Store == "" {
		return nil
	}
	r.busy = true
	want, d := r.want, r.d
	return r.ask(func(ctx context.Context) any {
		s, err := d.fleet.Store(want.ref.Store)
		var it model.Item
		switch {
		case err != nil:
		case s.Browser == nil:
			it, err = recalled.Read(ctx, s, want.ref.ID, strings.Join(want.terms, " "))
		default:
			it, err = s.Browser.Read(ctx, want.ref.ID)
		}
		if err != nil {
			return readDone{want: want, text: failedText(d.esc, want.ref, err)}
		}
		return readDone{want, itemText(d, s, it), it.Revision}
	})
}

func (r *reader) done(m readDone) tea.Cmd {
	r.busy = false
	if m.want.ref != r.want.ref {
		if !r.rested { // its pause is not over
			return nil
		}
		return r.read()
	}
	same := r.shown == m.want.ref && r.line == m.want.line
	r.shown, r.line, r.rev = m.want.ref, m.want.line, m.revision
	r.pager.Terms = m.want.terms
	switch {
	case same:
		return r.pager.Update(m.text, true)
	case r.pager.Brief && m.text.Body != "":
		return r.pager.Show(m.text, 1, m.want.terms)
	}
	return r.pager.Show(m.text, m.want.line, m.want.terms)
}

// whole shows all of the item from its metadata on, after a brief preview.
func (r *reader) whole() tea.Cmd {
	if r.pager.Brief {
		return nil
	}
	return r.pager.Home()
}

// clear shows nothing.
func (r *reader) clear() {
	r.gen++
	r.want, r.shown = reading{}, model.Ref{}
	r.pager.Clear()
}

// loading reports whether what is shown is not what is wanted.
func (r *reader) loading() bool { return r.busy || r.pager.Busy }

func failedText(esc safetext.Escaper, ref model.Ref, err error) *text.Page {
	return text.NewPage([]text.Line{
		{Value: esc.Line(ref.ID), Kind: text.Title},
		{Kind: text.Blank},
		{Value: esc.Sprintf("!! it cannot be shown: %s", prose.Reason(esc, err)), Kind: text.Warn},
		{Value: esc.Const("ctrl+r asks the store again."), Kind: text.Note},
	}, "")
}

// itemText is an item as the pager shows it: metadata first, then the body.
func itemText(d *desk, s model.Store, it model.Item) *text.Page {
	esc := d.esc
	field := func(name string, v safetext.Text) text.Line { return text.Line{Name: esc.Const(name), Value: v} }
	title := it.Title
	if title == "" {
		title = it.ID
	}
	head := []text.Line{{Value: esc.LineMax(title, maxField), Kind: text.Title}}
	for _, f := range it.Flags {
		head = append(head, text.Line{Value: esc.Line(flagText(f)), Kind: text.Warn})
	}
	spec, _ := s.Tier(it.Tier)
	tier := esc.Line(it.Tier)
	if spec.Title != "" {
		tier = esc.Sprintf("%s (%s)", tier, esc.Line(spec.Title))
	}
	head = append(head, field("reference", esc.Line(model.Ref{Store: s.Name, ID: it.ID}.String())), field("tier", tier))
	if it.Scope != "" {
		head = append(head, field("scope", esc.Line(it.Scope)))
	}
	head = append(head, field("size", sizeText(esc, spec, it)), field("changed", esc.Const(changed(d, it.Modified))))
	head = append(head, d.writerLines(s, it)...)
	if it.Revision != "" {
		head = append(head, field("revision", esc.Line(string(it.Revision))))
	}
	if hidden := safetext.Hidden(it.Body); hidden > 0 {
		head = append(head, text.Line{Name: esc.Const("hidden"), Kind: text.Warn,
			Value: esc.Sprintf("%s shown escaped", prose.Plural(int64(hidden), "control or invisible character"))})
	}
	head = append(head, metaLines(esc, it)...)
	head = append(head, linkLines(esc, it)...)
	head = append(head, text.Line{Kind: text.Blank})
	if it.Body == "" {
		head = append(head, text.Line{Value: esc.Const("The body is empty."), Kind: text.Note})
	}
	return text.NewPage(head, it.Body)
}

func sizeText(esc safetext.Escaper, spec model.TierSpec, it model.Item) safetext.Text {
	if spec.Cap > 0 {
		return esc.Sprintf("%s (%s bytes), cap %s", prose.Size(it.Bytes), prose.Group(it.Bytes), prose.Capacity(spec))
	}
	return esc.Sprintf("%s (%s bytes)", prose.Size(it.Bytes), prose.Group(it.Bytes))
}

func changed(d *desk, t time.Time) string {
	if t.IsZero() {
		return "the store keeps no time"
	}
	return prose.Moment(t) + ", " + d.time.Ago(t)
}

func metaLines(esc safetext.Escaper, it model.Item) []text.Line {
	if len(it.Meta) == 0 {
		return nil
	}
	lines := []text.Line{{Kind: text.Blank}, {Value: esc.Const("metadata"), Kind: text.Title}}
	for i, f := range it.Meta {
		if i == maxFields {
			return append(lines, text.Line{Value: esc.Sprintf("and %s", prose.Plural(int64(len(it.Meta)-i), "more field")), Kind: text.Note})
		}
		kind := text.Field
		if f.ReadOnly {
			kind = text.Note
		}
		lines = append(lines, text.Line{Name: esc.LineMax(f.Name, 200), Value: esc.LineMax(f.Value, maxField), Kind: kind})
	}
	return lines
}

func linkLines(esc safetext.Escaper, it model.Item) []text.Line {
	if len(it.Links) == 0 && it.LinksTotal == 0 {
		return nil
	}
	lines := []text.Line{{Kind: text.Blank}, {Value: esc.Const("links"), Kind: text.Title}}
	for _, l := range it.Links {
		others := make([]safetext.Text, len(l.Other))
		for i, o := range l.Other {
			others[i] = esc.Line(o)
		}
		words := esc.Join(others, ", ")
		if l.Label != "" {
			words = esc.Sprintf("%s: %s", esc.Line(l.Label), words)
		}
		if l.Role != "" {
			words = esc.Sprintf("%s, as %s", words, esc.Line(l.Role))
		}
		lines = append(lines, text.Line{Name: orElse(esc.Line(l.Kind), esc.Const("link")), Value: words})
	}
	if rest := it.LinksTotal - int64(len(it.Links)); rest > 0 {
		lines = append(lines, text.Line{Value: esc.Sprintf("and %s that are not listed here", prose.Plural(rest, "more link")), Kind: text.Note})
	}
	return lines
}

package text

import (
	"context"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/tui/kit/paint"
)

// held is a reader whose reads and pauses wait.
type held struct {
	*Reader
	open   []func(context.Context) any
	pauses []any
}

func newHeld() *held {
	h := &held{}
	h.Reader = NewReader(New(paint.New(paint.Looks{}, true), func(f func(context.Context) any) tea.Cmd { h.open = append(h.open, f); return nil }),
		func(_ time.Duration, msg any) tea.Cmd { h.pauses = append(h.pauses, msg); return nil })
	return h
}

// page is the page of a row; all of a source are read one at a time.
func page(source, key string) Wanted {
	return Wanted{Key: key, Source: source, Read: func(context.Context) *Page { return NewPage(nil, key) }}
}

// answer ends a read.
func (h *held) answer(n int) { h.Update(h.open[n](context.Background())) }

func (h *held) body() string {
	if h.Text == nil {
		return ""
	}
	return h.Text.Body
}

// A read that ends while the cursor still moves must not start the next one, which waits for its own pause.
func TestReadThatEndsWhileTheCursorMoves(t *testing.T) {
	h := newHeld()
	h.Open(page("s", "a"))
	h.Rest(page("s", "b"))
	if h.answer(0); len(h.open) != 1 || h.body() != "" {
		t.Fatalf("%d reads, want the first only; %q is shown", len(h.open), h.body())
	}
	if h.Update(h.pauses[0]); len(h.open) != 2 {
		t.Fatalf("%d reads after the pause, want two", len(h.open))
	}
	if h.answer(1); h.body() != "b" {
		t.Errorf("%q is read, want b", h.body())
	}
}

// A page that is asked for again while it is read is read twice: the answer may be older than a write in between.
func TestReadAgainWhileReading(t *testing.T) {
	h := newHeld()
	h.Open(page("s", "a"))
	h.Again()
	if h.answer(0); len(h.open) != 2 || h.body() != "" {
		t.Fatalf("%d reads, %q is shown", len(h.open), h.body())
	}
	if h.answer(1); len(h.open) < 3 || h.body() != "a" { // the third lays it out
		t.Errorf("%d reads, %q is shown", len(h.open), h.body())
	}
}

// Only one page of a source may be read at a time, and only the wanted one shown. A source that hangs holds up no other.
func TestReaderShowsWhatIsWanted(t *testing.T) {
	h := newHeld()
	h.Open(page("s", "a"))
	h.Open(page("s", "b"))
	if len(h.open) != 1 {
		t.Fatalf("%d reads under way", len(h.open))
	}
	h.Open(page("other", "c"))
	if h.answer(1); h.body() != "c" {
		t.Errorf("%q is shown while another source hangs", h.body())
	}
	h.Open(page("s", "b"))
	h.answer(0)
	if h.answer(len(h.open) - 1); h.body() != "b" {
		t.Errorf("%q is shown, want b", h.body())
	}
}

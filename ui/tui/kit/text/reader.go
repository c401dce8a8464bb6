package text

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// restAfter is the time that the cursor must rest before the page of its row is read: a held key reads none.
const restAfter = 60 * time.Millisecond

// Wanted is a page to be read. Its key tells it from the pages of other rows.
type Wanted struct {
	Key    string
	Source string   // of which one page is read at a time: on a hanging mount each read holds a thread
	Terms  []string // words to be marked in it
	Read   func(ctx context.Context) *Page
}

// Reader is a pager that reads what it shows: the page of the row where the cursor rests.
type Reader struct {
	*Pager
	later func(time.Duration, any) tea.Cmd
	want  Wanted
	asked int // the number of the read of want; 0: it was not begun, or its answer may be old
	count int // reads so far
	busy  map[string]bool
	shown string // key of the page on the screen
	keep  bool   // a newer page of the same key keeps its place

	gen     int  // of the pauses
	resting bool // the pause before the read is under way
}

// rested says that the cursor has rested.
type rested struct {
	of  *Reader
	gen int
}

// wasRead is a page that was read.
type wasRead struct {
	of    *Reader
	want  Wanted
	count int
	page  *Page
}

func NewReader(p *Pager, later func(time.Duration, any) tea.Cmd) *Reader {
	return &Reader{Pager: p, later: later, busy: map[string]bool{}}
}

// Rest reads a page once the cursor stays at its row; the first one at once.
func (r *Reader) Rest(w Wanted) tea.Cmd {
	switch {
	case r.shown == "" && !r.Reading():
		return r.Open(w)
	case w.Key == r.want.Key && r.asked > 0:
		return nil
	case w.Key == r.want.Key && r.resting:
		r.want = w // as it is laid out by now
		return nil
	}
	r.wants(w)
	r.resting = true
	return r.later(restAfter, rested{r, r.gen})
}

// Open reads a page at once, unless it was asked for already.
func (r *Reader) Open(w Wanted) tea.Cmd {
	if w.Key == r.want.Key && r.asked > 0 {
		return nil
	}
	r.wants(w)
	return r.read()
}

func (r *Reader) wants(w Wanted) {
	r.gen++
	if w.Key != r.want.Key {
		r.asked, r.keep = 0, false
	}
	r.want, r.resting = w, false
}

// Outdate has the page read again when it is asked for the next time; keep: it is shown at the same place then.
func (r *Reader) Outdate(keep bool) { r.asked, r.keep = 0, keep }

// Again reads the page on the screen once more.
func (r *Reader) Again() tea.Cmd {
	r.Outdate(true)
	return r.read()
}

// Stale reports whether the page on the screen is to be read again and nothing has asked for it yet.
func (r *Reader) Stale() bool { return r.shown != "" && r.asked == 0 && !r.resting }

// Wants reports whether a key is that of the page that is or will be shown.
func (r *Reader) Wants(key string) bool { return key == r.want.Key || key == r.shown }

// Reading reports whether a page of the same source is being read.
func (r *Reader) Reading() bool { return r.busy[r.want.Source] }

// Settled reports whether the page on the screen is the one that is wanted.
func (r *Reader) Settled() bool { return r.asked > 0 && !r.Reading() }

func (r *Reader) Clear() {
	r.gen++
	r.want, r.asked, r.shown, r.resting = Wanted{}, 0, "", false
	r.Pager.Clear()
}

func (r *Reader) read() tea.Cmd {
	r.resting = false
	if r.want.Key == "" || r.Reading() {
		return nil
	}
	r.count++
	r.asked, r.busy[r.want.Source] = r.count, true
	want, count := r.want, r.count
	return r.ask(func(ctx context.Context) any { return wasRead{r, want, count, want.Read(ctx)} })
}

// Update takes the answers to its own questions.
func (r *Reader) Update(msg any) tea.Cmd {
	switch msg := msg.(type) {
	case rested:
		if msg.of == r && msg.gen == r.gen {
			return r.read()
		}
	case wasRead:
		if msg.of == r {
			return r.came(msg)
		}
	case LaidOut:
		r.Arrive(msg)
	}
	return nil
}

// came shows the page that was wanted, or reads the one that is wanted by now.
func (r *Reader) came(m wasRead) tea.Cmd {
	delete(r.busy, m.want.Source)
	switch {
	case m.count == r.asked:
	case r.asked == 0 && !r.resting:
		return r.read()
	default:
		return nil
	}
	same := r.shown == m.want.Key && r.keep
	r.shown, r.keep = m.want.Key, false
	r.Terms = m.want.Terms
	switch {
	case same:
		return r.Pager.Update(m.page)
	case r.Brief && m.page.Body != "":
		return r.Show(m.page, m.page.Begins(), m.want.Terms)
	}
	return r.Show(m.page, m.page.Line, m.want.Terms)
}

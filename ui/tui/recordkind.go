package tui

import (
	"context"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
)

// column is one column of a list of records; the last one takes what is left.
type column struct {
	title string
	width int
	right bool
}

// record is one row, escaped when its page arrived.
type record[T any] struct {
	key   string
	cells []safetext.Text
	tones []paint.Tone // of the cells; shorter is padded with toneInfo
	raw   T
}

// traits are what a list has beside its rows: signs, orders, what is known of a row.
type traits[T any] struct {
	badge int                                         // column that is a state with a sign, from 1; 0: none
	less  map[int]func(a, b T) int                    // orders by column, where its text does not sort; nil: all do
	store func(raw T) string                          // whose row it is; nil: of no one store
	poll  bool                                        // the source tells no changes: the list is asked for again by the clock
	lay   func(p *records[T])                         // called before a detail is asked for; may be nil
	facts func(ctx context.Context, raw T) *text.Page // all that is known of a row, behind i; nil: the detail has it
}

// recordKind is what a list of records shows and where it comes from.
type recordKind[T any] struct {
	traits[T]
	pane    int
	missing string // why there is no source, when there is none; empty: there is one
	noun    string
	empty   string // what an empty list means
	columns []column
	// least is what each column keeps where there is no room for all of them: 0 goes
	// first, and the last is what the last column needs. nil: all stay as they are.
	least   []int
	fetch   func(ctx context.Context, q PageQuery) (span[record[T]], said, error)
	detail  func(ctx context.Context, raw T) *text.Page     // runs in a command
	keys    func(p *records[T]) []act.Act                   // of this kind only; nil: none
	datum   func(raw T) datum                               // the row as data; nil: it is neither copied nor exported
	field   func(raw T) string                              // what y copies; nil: nothing
	name    string                                          // of an export
	marking bool                                            // rows can be marked
	about   safetext.Text                                   // what all rows are of, a breadcrumb; empty: of no one thing
	tell    func(esc safetext.Escaper, raw T) safetext.Text // the row as a sentence; nil: its cells with their titles
	crumb   func(raw T) safetext.Text                       // names the row that fills the pane; nil: its first cell
	near    func(r record[T]) (distance int, ok bool)       // the row where the cursor begins, 0 away; nil: the first
	line    int                                             // of the screen where that row goes
	// fresh reads one row anew; nil: rows are told from what acts on them.
	fresh func(ctx context.Context, raw T) (record[T], error)
	hint  string                   // what a filter takes, shown where it is typed
	check func(query string) error // why a filter cannot be taken; nil: all can
	// live tells the state of the source, cheaply: when it changes the list is asked
	// for again while it is on the screen. nil: the list does not grow by itself.
	live func(ctx context.Context) string
}

// said is what a source says about the whole list; calm: there is no trouble.
type said struct {
	text safetext.Text
	calm bool
	due  due
}

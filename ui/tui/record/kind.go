package record

import (
	"context"

	"memdesk/internal/safetext"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
)

// Column is one column of a list of records; the last one takes what is left.
type Column struct {
	Title string
	Width int
	Right bool
}

// Row is one row, escaped when its page arrived.
type Row[T any] struct {
	Key   string
	Cells []safetext.Text
	Tones []paint.Tone // of the cells; shorter is padded with toneInfo
	Raw   T
}

// Traits are the extras of a list: signs, orders, facts about a row.
type Traits[T any] struct {
	Badge int                                         // column that is a state with a sign, from 1; 0: none
	Less  map[int]func(a, b T) int                    // orders by column, where its text does not sort; nil: all do
	Store func(raw T) string                          // whose row it is; nil: of no one store
	Poll  bool                                        // the source tells no changes: the list is asked for again by the clock
	Lay   func(p *List[T])                            // called before a detail is asked for; may be nil
	Facts func(ctx context.Context, raw T) *text.Page // all that is known of a row, behind i; nil: the detail has it
}

// Kind is what a list of records shows and where it comes from.
type Kind[T any] struct {
	Traits[T]
	Pane    int
	Missing string // why there is no source, when there is none; empty: there is one
	Noun    string
	Empty   string // what an empty list means
	Columns []Column
	// Least is the width that each column keeps where there is no room for all: 0 goes
	// first, and the last is what the last column needs. nil: all stay as they are.
	Least   []int
	Fetch   func(ctx context.Context, q operator.PageQuery) (list.Span[Row[T]], desk.Said, error)
	Detail  func(ctx context.Context, raw T) *text.Page     // runs in a command
	Keys    func(p *List[T]) []act.Act                      // of this kind only; nil: none
	Datum   func(raw T) desk.Datum                          // the row as data; nil: it is neither copied nor exported
	Field   func(raw T) string                              // what y copies; nil: nothing
	Name    string                                          // of an export
	Marking bool                                            // rows can be marked
	Whole   func(raw T) bool                                // the row stands for others, and is not marked itself; nil: none does
	About   safetext.Text                                   // what all rows are of, a breadcrumb; empty: of no one thing
	Tell    func(esc safetext.Escaper, raw T) safetext.Text // the row as a sentence; nil: its cells with their titles
	Crumb   func(raw T) safetext.Text                       // names the row that fills the pane; nil: its first cell
	Near    func(r Row[T]) (distance int, ok bool)          // the row where the cursor begins, 0 away; nil: the first
	Line    int                                             // of the screen where that row goes
	// Fresh reads one row anew; nil: rows are told from what acts on them.
	Fresh func(ctx context.Context, raw T) (Row[T], error)
	Hint  string                   // what a filter takes, shown where it is typed
	Check func(query string) error // why a filter cannot be taken; nil: all can
	// Live tells the state of the source, cheaply: when it changes the list is asked
	// for again while it is on the screen. nil: the list does not grow by itself.
	Live func(ctx context.Context) string
}

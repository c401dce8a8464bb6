package record

import (
	"context"
	"strconv"
	"strings"
	"time"

	"memdesk/internal/safetext"
	"memdesk/model"
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
	Least int // kept for lack of room, and what the last one needs; 0: it shrinks and goes first
	Right bool
	Dim   bool // it supports the others: a size, an age, a kind
	Age   bool // the age of the rows; the youngest sort first
}

// Row is one row, escaped when its page arrived.
type Row[T any] struct {
	Key   string
	Cells []safetext.Text         // fewer than the columns: the last one takes the room of those that are missing
	Tones []paint.Tone            // of the cells; shorter is padded with toneInfo
	Runs  map[int][]paint.Stretch // parts of a cell with a look of their own; nil: none
	At    time.Time               // its age is written anew whenever an Age column is drawn; zero: the cell stays
	Raw   T
}

// Page is one page of a list.
type Page[T any] = list.Span[Row[T]]

// OnePage is a list of one page; row makes a row, and reports whether the filter passes it.
func OnePage[S, T any](all []S, row func(i int, v S) (Row[T], bool)) (out Page[T]) {
	for i, v := range all {
		if r, passes := row(i, v); passes {
			out.Rows = append(out.Rows, r)
		}
	}
	out.Total = model.Count{N: int64(len(out.Rows))}
	return out
}

// Cut is a page out of many rows in memory, with a cursor for rows of this stamp alone; a cursor behind their end, as
// rows may have gone, has an empty page. row makes a row, and reports whether the filter passes it.
func Cut[S, T any](all []S, stamp string, q operator.PageQuery, row func(i int, v S) (Row[T], bool)) (out Page[T], err error) {
	i := 0
	if q.Cursor != "" {
		of, n, _ := strings.Cut(q.Cursor, ":")
		if i, err = strconv.Atoi(n); err != nil || of != stamp || i < 0 {
			return out, model.Errorf(model.InvalidInput, "list", "the list was made anew: ctrl+r shows it")
		}
	}
	out.Total = model.Count{N: int64(len(all)), Unknown: q.Filter != ""}
	for ; i < len(all) && len(out.Rows) < q.Limit; i++ {
		if r, passes := row(i, all[i]); passes {
			out.Rows = append(out.Rows, r)
		}
	}
	if i < len(all) {
		out.Next = stamp + ":" + strconv.Itoa(i)
	}
	return out, nil
}

// text is a cell as it reads now.
func (p *List[T]) text(r Row[T], i int) safetext.Text {
	if p.Kind.Columns[i].Age && !r.At.IsZero() {
		return p.D.Esc.Const(p.D.Time.Age(r.At))
	}
	return r.Cells[i]
}

func (r Row[T]) tone(i int) paint.Tone {
	if i < len(r.Tones) {
		return r.Tones[i]
	}
	return paint.ToneInfo
}

// Traits are the extras of a list: signs, orders, facts about a row.
type Traits[T any] struct {
	Badge int                                         // the column of a state with a sign, from 1, sorted worst first; 0: none
	Worst bool                                        // a list of one page begins with the worst state, a longer one as its source has it
	Less  map[int]func(a, b T) int                    // orders by column, where text order is wrong; nil: none needed
	Store func(raw T) string                          // the row's store, of which one detail is read at a time; nil: not of one store
	Poll  bool                                        // the source reports no changes: the list is polled
	Lay   func(p *List[T])                            // lays a detail of two texts out for its room before it is asked for; nil: one text
	Facts func(ctx context.Context, raw T) *text.Page // all fields of a row, behind i; nil: the detail has them
	// Tree: rows belong to those above them, and keys fold them. No column sorts them, the list stays beside its detail,
	// and the first column gets the room of a dim last one that cannot be read.
	Tree    bool
	Shape   func() any // what is folded, hidden and sorted by keys of this kind: a list is read out again when it changes; nil: nothing
	Beside  int        // a narrower pane has no room for the columns beside the detail: the list stands above it; 0: any has
	NoMatch string     // what a filter without rows means; it names the filter with %q; empty: the usual words
	Aside   string     // title of the detail; empty: the noun
	NoList  string     // before the reason why a source gave no rows; empty: the reason alone
	Stays   bool       // the page of a row stays when its row leaves the list
	Brief   int        // a detail of fewer lines begins at the words of its body
	// Head are lines above the list, in place of its source's note and of the filter in the heading; nil: these.
	Head func(width, height int) []string
	// Bare is said in place of rows; nil: what every list says.
	Bare func() text.Line
	// Page is what is read of a row, beside the list and on the whole screen; nil: its detail.
	Page func(r Row[T]) text.Wanted
	// Words are those of a filter that rows and details mark; nil: all of it.
	Words func(query string) string
	// Cells brings the cells up to date that change while their row stands; nil: none does.
	Cells func(r *Row[T])
	// Share gives the widths of the columns in a room, and reports whether a cell is cut; nil: the last one takes what is left.
	Share func(fit list.Fit, room int) (widths []int, cuts bool)
	// Cut shortens a cell that is wider than its column; nil: all of them lose their ends.
	Cut func(raw T, column int, t safetext.Text, width int) safetext.Text
	// Last draws the last cell; nil: it is drawn as it came.
	Last func(r *paint.Row, raw T)
}

// Kind says what a list of records shows and where it comes from.
type Kind[T any] struct {
	Traits[T]
	Pane    int
	Missing string // why there is no source; empty: there is one
	Noun    string
	Empty   string // what an empty list means, as advice
	Columns []Column
	Fetch   func(ctx context.Context, q operator.PageQuery) (Page[T], error)
	Detail  func(ctx context.Context, raw T) *text.Page     // runs in a command
	Keys    func(p *List[T]) []act.Act                      // of this kind only; nil: none
	Datum   func(raw T) desk.Datum                          // the row as data; nil: it is neither copied nor exported
	Field   func(raw T) string                              // what y copies; nil: nothing
	Name    string                                          // of an export
	Marking bool                                            // rows can be marked
	Heading func(raw T) bool                                // the row stands for those below it and is never marked; nil: no such rows
	About   safetext.Text                                   // the list's subject, a breadcrumb; empty: none
	Tell    func(esc safetext.Escaper, raw T) safetext.Text // the row as a sentence; nil: its cells with their titles
	Crumb   func(raw T) safetext.Text                       // names the row that fills the pane; nil: its first cell
	Near    func(r Row[T]) (distance int, ok bool)          // the row where the cursor begins, at distance 0; nil: the first
	Line    int                                             // screen line of that row
	Hint    string                                          // what a filter takes, shown where it is typed
	Check   func(query string) error                        // why a filter cannot be taken; nil: all can
	// Live is a cheap stamp of the source: a change refreshes the list on the screen. nil: it does not grow.
	Live func(ctx context.Context) string
}

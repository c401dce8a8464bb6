package desk

import (
	"context"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
)

// Frame is the screen around the panes, as panes and acts see it. Its methods run on the update loop.
type Frame interface {
	dialog.Host
	// Saying is the text of the status line.
	Saying() safetext.Text
	// News says what happened by itself. Where the result of an act stands, it goes to the messages alone.
	News(tone paint.Tone, text safetext.Text)
	// Refuse says why a key does not work, on a page where a line is too short.
	Refuse(b act.Act, why string) tea.Cmd
	// Enter makes a pane visible; Refresh fetches again what is shown.
	Enter(pane int) tea.Cmd
	Refresh() tea.Cmd
	// Beside shows a list, with an address of its own, in place of the pane or above the current list.
	Beside(title string, above bool, list func(address int) Listing) tea.Cmd
	// CloseSide goes back from such a list to what it covers.
	CloseSide() tea.Cmd
	// RefreshSide reloads such a list, if there is one: an editor changes which texts are put aside.
	RefreshSide() tea.Cmd
	// Shows reports whether the pane or list of an address is on the screen.
	Shows(address int) bool
}

// Watched is a pane that is refreshed also while another one is on the screen.
type Watched interface{ Watch() tea.Cmd }

// Pane is one screen of the console. Its methods run on the update loop and do no I/O.
type Pane interface {
	// Enter is called each time the pane becomes visible.
	Enter() tea.Cmd
	// Update takes the answer of a command of this pane.
	Update(msg any) tea.Cmd
	// Resize gives the room for Render.
	Resize(width, height int) tea.Cmd
	// Render draws height lines of width columns; cursor is the place of typed text, nil without an input.
	Render(width, height int) (lines []string, cursor *tea.Position)
	// Bindings are the keys of the place where the operator is.
	Bindings() []act.Act
	// Crumbs name the place, outermost first, without the pane's own name.
	Crumbs() []safetext.Text
	// Position is the cursor's place in the list; busy: something is being loaded.
	Position() (at safetext.Text, busy bool)
	// Trouble warns that the list is old, and why; empty: it is not.
	Trouble() safetext.Text
	// Typing is the input that has the focus, or nil.
	Typing() *text.Input
	// Typed is called when the text of the focused input has changed.
	Typed() tea.Cmd
	// Outermost reports whether there is no level further out.
	Outermost() bool
	// Back goes one level out; it does nothing at the outermost.
	Back() tea.Cmd
	// Refresh fetches again what is shown.
	Refresh() tea.Cmd
	// Unavailable says why the pane cannot be opened in this version; empty when it can.
	Unavailable() string
}

// Listing is a list of records of any type: the frame draws it, the linear mode reads it out.
type Listing interface {
	Pane
	Readout
	// Apply shows the list under a filter.
	Apply(query string) tea.Cmd
	// Reload fetches the rows again, not the detail.
	Reload() tea.Cmd
	// OwnKeys are the keys of this kind of list only.
	OwnKeys() []act.Act
}

// Readout reads a list page by page. Rows count from 0 on the last page read. Not safe for concurrent use.
type Readout interface {
	// Address is where answers for the list go.
	Address() int
	Facts() ListFacts
	// Begin applies a filter and clears all marks; InvalidInput when the list does not take it,
	// Unsupported when there is no list. The first page is read after the command has ended.
	Begin(query string) (tea.Cmd, error)
	// Changed reports whether an act has changed the filter or the order since the last page.
	Changed() bool
	// ReadPage reads the page at a cursor.
	ReadPage(ctx context.Context, cursor string, limit int) (PageRead, error)
	// Row is one row of the page as a sentence.
	Row(n int) safetext.Text
	// Place puts the cursor on a row and shows the list.
	Place(n int)
	// Renew reads one row again where acts do not update it.
	Renew(ctx context.Context, n int) error
	// Item is the item of a row; without a store when the row is no item.
	Item(n int) model.Ref
	// DetailOf is the whole of a row, for reading.
	DetailOf(ctx context.Context, n int) *text.Page
	// Marked are the marks on rows; nil where none can be marked.
	Marked() list.Marked
	Mark(n int)
	// Bindings are the keys of the list; an act with a Verb and without Args needs no row.
	Bindings() []act.Act
}

// SpokenRows are the rows of a page that is read out.
const SpokenRows = 20

// PageOf is a page of n rows that are in memory: the rows from first on.
func PageOf(n int, cursor string, limit int) (first int, page PageRead) {
	first, _ = strconv.Atoi(cursor)
	first = min(first, n)
	page = PageRead{Rows: min(limit, n-first), Total: model.Count{N: int64(n)}}
	if next := first + page.Rows; next < n {
		page.Next = strconv.Itoa(next)
	}
	return first, page
}

// Fixed are the answers of a Readout whose rows are no items, cannot be marked and are in one order.
type Fixed struct{}

func (Fixed) Changed() bool                    { return false }
func (Fixed) Renew(context.Context, int) error { return nil }
func (Fixed) Item(int) model.Ref               { return model.Ref{} }
func (Fixed) Marked() list.Marked              { return nil }
func (Fixed) Mark(int)                         {}

// ListFacts are facts about a list, whatever its rows are.
type ListFacts struct {
	Name, Noun, Empty string
}

// PageRead is one page of a Readout.
type PageRead struct {
	Rows    int
	Next    string
	Total   model.Count
	Notices []safetext.Text
	// Problems are what could not be read: the list is incomplete.
	Problems []string
}

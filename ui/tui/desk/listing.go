package desk

import (
	"context"

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
	// Address is where answers for the list go.
	Address() int
	// Apply shows the list under a filter.
	Apply(query string) tea.Cmd
	// Reload fetches the rows again, not the detail.
	Reload() tea.Cmd
	// OwnKeys are the keys of this kind of list only.
	OwnKeys() []act.Act
}

// Readout is a list for the ear: what the console lists, read from the row at the cursor on. Its rows are called by their
// keys, so that a number that was said stays with its row.
type Readout interface {
	// Start puts the cursor on the first row, as if nobody had moved it; Move moves it.
	Start() tea.Cmd
	Move(by int) tea.Cmd
	Facts() ListFacts
	// Shape differs where another place, filter or order is listed than before.
	Shape() any
	// Ahead are the next rows, at most n.
	Ahead(n int) list.Ahead
	// Notices are what is to be said of the whole list.
	Notices() []safetext.Text
	// Renew reads the rows again where they change without an act.
	Renew() tea.Cmd
	// Place puts the cursor on a row; false: it has left the list.
	Place(key string) bool
	// Row is the row at the cursor as a sentence.
	Row() safetext.Text
	// Item is the item at the cursor; without a store when the row is no item.
	Item() model.Ref
	// Whole is all of the row at the cursor, for reading.
	Whole(ctx context.Context) *text.Page
	// Marked are the marks on rows; nil where none can be marked.
	Marked() list.Marked
	// Mark marks the row at the cursor.
	Mark()
	// Bindings are the keys of the list; an act with a Verb and without Args needs no row.
	Bindings() []act.Act
}

// SpokenRows are the rows of a page that is read out.
const SpokenRows = 20

// ListFacts are facts about a list, whatever its rows are.
type ListFacts struct {
	Name, Noun, Empty, Query string
}

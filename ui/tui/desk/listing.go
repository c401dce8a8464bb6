package desk

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/text"
)

// Frame is the screen around the panes, as they and the acts see it. Its methods run on the
// update loop.
type Frame interface {
	dialog.Host
	// Saying is the text of the status line.
	Saying() safetext.Text
	// Refuse says why a key does not work, where a line is too short on a page.
	Refuse(b act.Act, why string) tea.Cmd
	// Enter makes a pane visible; Refresh asks again for what is shown.
	Enter(pane int) tea.Cmd
	Refresh() tea.Cmd
	// Beside shows a list in place of the pane, or above the one that is shown; it is made
	// for an address of its own.
	Beside(title string, above bool, list func(address int) Listing) tea.Cmd
	// HasSide reports whether there is such a list; Shows, whether the pane or list of an
	// address is on the screen.
	HasSide() bool
	Shows(address int) bool
}

// Due are the requests that want an answer soon: the badge of the tab.
type Due struct{ Soon, Overdue int }

// Words are the source's note about the whole list.
func (s Said) Words(esc safetext.Escaper) safetext.Text {
	if s.Calm {
		return s.Text
	}
	return esc.Sprintf("Notice: %s", s.Text)
}

// Watched is a pane that is looked at by itself, also while another one is on the screen.
type Watched interface{ Watch() tea.Cmd }

// Pane is one screen of the console. Its methods run on the update loop and do
// no I/O.
type Pane interface {
	// Enter is called each time the pane becomes visible.
	Enter() tea.Cmd
	// Update takes the answer of a command that the pane has asked for.
	Update(msg any) tea.Cmd
	// Resize gives the room that render will have.
	Resize(width, height int) tea.Cmd
	// Render draws exactly height lines of width columns; cursor is where typed
	// text goes, nil when nothing is typed.
	Render(width, height int) (lines []string, cursor *tea.Position)
	// Bindings are the keys of the place where the operator is.
	Bindings() []act.Act
	// Crumbs name the place, outermost first, without the pane's own name.
	Crumbs() []safetext.Text
	// Position says where the cursor stands in what is shown, and whether
	// something is being loaded.
	Position() (at safetext.Text, busy bool)
	// Trouble is a warning about the list: that it is old and
	// why. Empty: nothing.
	Trouble() safetext.Text
	// Typing is the input that has the focus, or nil.
	Typing() *text.Input
	// Typed is called when the text of the focused input has changed.
	Typed() tea.Cmd
	// Outermost reports whether there is no level further out.
	Outermost() bool
	// Back goes one level out; it does nothing at the outermost.
	Back() tea.Cmd
	// Refresh asks again for what is shown.
	Refresh() tea.Cmd
	// Unavailable says why the pane cannot be opened in this version, or nothing.
	Unavailable() string
}

// Listing is a list of records of one type, as everything that serves all lists uses
// it: the frame draws it, the linear mode reads it out.
type Listing interface {
	Pane
	Readout
	// Apply shows the list under a filter.
	Apply(query string) tea.Cmd
	// Reload asks again for the rows, not for the detail.
	Reload() tea.Cmd
	// OwnKeys are the keys of this kind of list only.
	OwnKeys() []act.Act
}

// Readout reads a list page by page. Rows are counted from 0 on the page that was read
// last; nothing here is for more than one goroutine.
type Readout interface {
	// Address is where answers for the list go.
	Address() int
	Facts() ListFacts
	// Begin puts a filter in force and takes all marks away; InvalidInput when the list
	// does not take it, Unsupported when there is no list.
	Begin(query string) error
	// ReadPage reads the page at a cursor.
	ReadPage(ctx context.Context, cursor string, limit int) (PageRead, error)
	// Row is one row of it as a sentence.
	Row(n int) safetext.Text
	// Place puts the cursor on a row, and shows the list.
	Place(n int)
	// Renew reads one row anew where a row is not kept up to date by what acts on it.
	Renew(ctx context.Context, n int) error
	// Item is the item that a row is; without a store where it is none.
	Item(n int) model.Ref
	// DetailOf is the whole of a row, for the reader, and the revision of an item.
	DetailOf(ctx context.Context, n int) (*text.Page, model.Revision)
	// Marked are the marks on rows; nil where none can be marked.
	Marked() list.Marked
	Mark(n int)
	// Acts are the acts of the list; one with a Verb and without Args is for no row.
	Acts() []act.Act
}

// ListFacts are facts about a list, whatever its rows are.
type ListFacts struct {
	Name, Noun, Empty string
}

// PageRead is a page that was read.
type PageRead struct {
	Rows    int
	Next    string
	Total   model.Count
	Notices []safetext.Text
}

// Said is a source's note about the whole list; calm: there is no trouble.
type Said struct {
	Text safetext.Text
	Calm bool
	Due  Due
}

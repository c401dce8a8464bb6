package tui

import (
	"context"
	"io"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/internal/drafts"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/kit/keys"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// Options is everything that the console takes from outside.
type Options struct {
	Fleet *backends.Fleet

	Operator      string // identity for the frame
	Authenticated bool   // false: the identity is claimed, and the frame says so
	// ReadOnlyReason, when not empty, makes the whole console read-only and is
	// shown at all times: the audit log cannot be written, the role is reader.
	ReadOnlyReason string
	Notices        []string // shown at the start: intents that have no outcome

	Plain   bool // ASCII, no colour, no attributes, everything stacked
	NoColor bool
	ASCII   bool
	Linear  bool   // a conversation of lines instead of a screen; nothing is drawn over
	NoMouse bool   // the terminal keeps the mouse for itself
	Theme   string // one of Themes; empty or unknown is auto
	// IdleLock blanks the screen when no key was pressed for so long; 0 is never.
	IdleLock time.Duration
	Environ  []string // KEY=value; TERM, LANG, LC_*, NO_COLOR are read

	Clock      clock.Clock      // nil: the system's
	Audit      AuditSource      // nil: the pane says why it is empty
	Quarantine QuarantineSource // nil: the pane says why it is empty
	Conflicts  ConflictSource   // nil: the pane says why it is empty
	Settle     time.Duration    // after which a copy that was removed is looked for again; 0 is two minutes
	Erasure    ErasureSource    // nil: the pane says why it is empty
	Acts       Acts             // nil: nothing can be changed, and the keys say so
	Drafts     *drafts.Folder   // of texts in an editor; nil: nothing can be edited, and the keys say so
	Jobs       Jobs             // nil: only one item at a time can be changed, and the keys say so
	// Edit runs an editor on a file of this machine in the operator's terminal; nil:
	// $VISUAL or $EDITOR of Environ, where the terminal is this process's own.
	Edit func(path string) tea.ExecCommand

	Input  io.Reader // nil: the terminal; when it is no file, its end ends the console
	Output io.Writer // nil: the terminal
	// Sizes gives the size of a terminal that is no file, such as an SSH session's:
	// one at the start and one for each change. The console does not close it.
	Sizes <-chan Size
}

// Size is the size of a terminal in cells.
type Size struct{ Width, Height int }

// desk is what all panes share.
type desk struct {
	ctx        context.Context // of the session: commands end with it
	fleet      *backends.Fleet
	st         *paint.Styles    // of the update loop, which may change them
	esc        safetext.Escaper // the same escaping, for commands: it never changes
	time       prose.Clock
	stuck      stuck
	audit      AuditSource
	quarantine QuarantineSource
	conflicts  ConflictSource
	settle     time.Duration // after which a removed copy is looked for again
	erasure    ErasureSource
	acts       Acts
	drafts     *drafts.Folder
	edit       func(path string) tea.ExecCommand
	remote     bool              // the terminal is not this process's own
	shell      bool              // a shell with jobs runs this process, and takes the terminal when it stops
	env        map[string]string // of the session
	jobs       Jobs
	writing    *sync.WaitGroup                                  // files that are being written
	readOnly   string                                           // why nothing may be changed, empty when it may
	forget     func(ref model.Ref, seen model.Revision) tea.Cmd // ask whether an item should go
	discard    func(e QuarantineEntry, begun func()) tea.Cmd    // ask whether a quarantine entry should go
	history    func(ref model.Ref) tea.Cmd                      // list the recorded versions of an item
	app        *App                                             // what acts: it asks, and it owns dialogs
	plain      bool
	share      int                             // thousandths of the width that lists have beside a detail; 0: as designed
	dragging   bool                            // the mouse holds the line between them
	say        func(paint.Tone, safetext.Text) // a message on the status line until the next key
	open       func(visit) tea.Cmd             // list items in the Tiers pane
	// Of the linear mode, which has no screen; nil and false in the console.
	postpone func(pause time.Duration, due reply) tea.Cmd // instead of a clock that ticks
	heard    func(paint.Tone, safetext.Text)              // each message at once, instead of the status line
	spoken   bool                                         // what no editor can take is typed line by line
}

// visit names a store whose items are to be listed from another pane.
type visit struct{ store string }

// reply carries the answer of a command to the pane that asked.
type reply struct {
	pane int
	msg  any
}

// asker runs a question in a command and delivers its answer to one pane. A nil
// answer is dropped.
func (d *desk) asker(pane int) func(func(context.Context) any) tea.Cmd {
	return func(f func(context.Context) any) tea.Cmd {
		return guarded(func() tea.Msg {
			msg := f(d.ctx)
			if msg == nil {
				return nil
			}
			return reply{pane, msg}
		})
	}
}

// pane is one screen of the console. Its methods run on the update loop and do
// no I/O.
type pane interface {
	// enter is called each time the pane becomes visible.
	enter() tea.Cmd
	// update takes the answer of a command that the pane has asked for.
	update(msg any) tea.Cmd
	// resize gives the room that render will have.
	resize(width, height int) tea.Cmd
	// render draws exactly height lines of width columns; cursor is where typed
	// text goes, nil when nothing is typed.
	render(width, height int) (lines []string, cursor *tea.Position)
	// bindings are the keys of the place where the operator is.
	bindings() []keys.Binding
	// crumbs name the place, outermost first, without the pane's own name.
	crumbs() []safetext.Text
	// position says where the cursor stands in what is shown, and whether
	// something is being loaded.
	position() (at safetext.Text, busy bool)
	// trouble is what the operator must know about what is shown: that it is old and
	// why. Empty: nothing.
	trouble() safetext.Text
	// typing is the input that has the focus, or nil.
	typing() *text.Input
	// typed is called when the text of the focused input has changed.
	typed() tea.Cmd
	// outermost reports whether there is no level further out.
	outermost() bool
	// back goes one level out; it does nothing at the outermost.
	back() tea.Cmd
	// refresh asks again for what is shown.
	refresh() tea.Cmd
	// unavailable says why the pane cannot be opened in this version, or nothing.
	unavailable() string
}

// later delivers msg to one pane after a pause.
func (d *desk) later(pane int) func(time.Duration, any) tea.Cmd {
	return func(pause time.Duration, msg any) tea.Cmd {
		if d.postpone != nil {
			return d.postpone(pause, reply{pane, msg})
		}
		return tea.Tick(pause, func(time.Time) tea.Msg { return reply{pane, msg} })
	}
}

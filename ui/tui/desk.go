package tui

import (
	"cmp"
	"context"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/internal/drafts"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
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
	// Anchored says how far the audit log is kept outside, empty when there is none; nil: nobody knows.
	Anchored func(context.Context) (string, model.HealthState)

	Plain   bool // ASCII, no colour, no attributes, everything stacked
	NoColor bool
	ASCII   bool
	Linear  bool   // a conversation of lines instead of a screen; nothing is drawn over
	NoMouse bool   // the terminal keeps the mouse for itself
	Theme   string // one of Themes; empty or unknown is auto
	// IdleLock blanks the screen when no key was pressed for so long; 0 is never.
	IdleLock time.Duration
	Environ  []string // KEY=value; TERM, LANG, LC_*, NO_COLOR are read

	Clock clock.Clock // nil: the system's
	// Poll is the pause between two looks at a list whose source tells no changes; 0 is never.
	Poll   time.Duration
	Settle time.Duration // after which a copy that was removed is looked for again; 0 is two minutes
	Sources
	// Edit runs an editor on a file of this machine in the operator's terminal; nil:
	// $VISUAL or $EDITOR of Environ, where the terminal is this process's own.
	Edit func(path string) tea.ExecCommand

	Terminal
}

// Terminal is where keys come from and the screen goes to.
type Terminal struct {
	Input  io.Reader // nil: the terminal; when it is no file, its end ends the console
	Output io.Writer // nil: the terminal
	// Sizes gives the size of a terminal that is no file, such as an SSH session's:
	// one at the start and one for each change. The console does not close it.
	Sizes <-chan Size
}

// Size is the size of a terminal in cells.
type Size struct{ Width, Height int }

// desk is what all panes share: the stores, how they are drawn, and the acts.
type desk struct {
	ctx      context.Context // of the session: commands end with it
	fleet    *backends.Fleet
	st       *paint.Styles    // of the update loop, which may change them
	esc      safetext.Escaper // the same escaping, for commands: it never changes
	time     prose.Clock
	stuck    stuck
	readOnly string                                          // why nothing may be changed, empty when it may
	app      *App                                            // the frame
	ask      func(func(context.Context) any) tea.Cmd         // answers go to what lies over the panes
	say      func(paint.Tone, safetext.Text)                 // a message on the status line until the next key
	open     func(visit) tea.Cmd                             // list items in the Tiers pane
	later    func(pane int) func(time.Duration, any) tea.Cmd // delivers a message after a pause
	Sources
	terminal
	divider
	glances glances
	workflows
	screens
}

// Sources are what the panes read and what changes memory; a nil one is absent, and the pane or
// the key says so.
type Sources struct {
	Audit      AuditSource      // nil: the pane says why it is empty
	Quarantine QuarantineSource // nil: the pane says why it is empty
	Conflicts  ConflictSource   // nil: the pane says why it is empty
	Erasure    ErasureSource    // nil: the pane says why it is empty
	Origins    OriginSource     // nil: nobody knows who wrote what, and no column says it
	Stories    StorySource      // nil: the quarantine cannot be grouped, and the key says so
	Acts       Acts             // nil: nothing can be changed, and the keys say so
	Drafts     *drafts.Folder   // of texts in an editor; nil: nothing can be edited, and the keys say so
	Jobs       Jobs             // nil: only one item at a time can be changed, and the keys say so
}

// terminal is what the session runs on.
type terminal struct {
	plain  bool
	remote bool              // the terminal is not this process's own
	shell  bool              // a shell with jobs runs this process, and takes the terminal when it stops
	env    map[string]string // of the session
	edit   func(path string) tea.ExecCommand
	// Of the linear mode, which has no screen; nil and false in the console.
	heard  func(paint.Tone, safetext.Text) // each message at once, instead of the status line
	spoken bool                            // what no editor can take is typed line by line
}

// divider is the line between a list and what stands beside it.
type divider struct {
	share    int  // thousandths of the width that lists have; 0: as designed
	dragging bool // the mouse holds it
	wide     bool // the list has all of the room, until ctrl+w is pressed again
}

// workflows are the acts of the console, each with the state that it needs.
type workflows struct {
	modal       *modal
	edits       *edits
	exports     *exports
	undos       *undos
	removals    *removals
	revisions   *revisions
	resolutions *resolutions
	takebacks   *takebacks
	storyActs   *storyActs
	requests    *requests
	work        *underway
}

func newWorkflows(d *desk, o Options) workflows {
	return workflows{
		modal: &modal{d: d}, edits: &edits{d: d}, exports: &exports{d: d}, undos: &undos{d: d}, removals: &removals{d},
		revisions: &revisions{d}, resolutions: &resolutions{d, cmp.Or(o.Settle, settleTime)}, takebacks: &takebacks{d}, storyActs: &storyActs{d}, requests: &requests{d: d}, work: &underway{d: d},
	}
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

// ticking delivers messages to one pane by the clock.
func ticking(pane int) func(time.Duration, any) tea.Cmd {
	return func(pause time.Duration, msg any) tea.Cmd {
		return tea.Tick(pause, func(time.Time) tea.Msg { return reply{pane, msg} })
	}
}

package tui

import (
	"context"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/internal/drafts"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
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
	Linear  bool // a conversation of lines instead of a screen; nothing is drawn over
	// Keys are the operator's own: the word of an act, or a command line, by its key.
	Keys    map[string]string
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
	loop
	fleet    *backends.Fleet
	stuck    stuck
	readOnly string // why nothing may be changed, empty when it may
	frame    frame
	// anchored says how far the audit log is kept outside; nil: nobody knows.
	anchored func(context.Context) (string, model.HealthState)
	tied     bool                // an erasure was begun that ends with this console
	open     func(visit) tea.Cmd // list items in the Tiers pane
	Sources
	terminal
	divider
	glances glances
	modal   *modal
	exports *exports
	settle  time.Duration // after which a copy that was removed is looked for again
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
	plain   bool
	remote  bool              // the terminal is not this process's own
	shell   bool              // a shell with jobs runs this process, and takes the terminal when it stops
	env     map[string]string // of the session
	environ []string          // the same as it was given
	edit    func(path string) tea.ExecCommand
	// Of the linear mode, which has no screen; nil and false in the console.
	heard  func(paint.Tone, safetext.Text) // each message at once, instead of the status line
	spoken bool                            // what no editor can take is typed line by line
	own    customKeys
}

// frame is the screen around the panes, as they and the acts see it. Its methods run on the
// update loop.
type frame interface {
	host
	// saying is what stands on the status line.
	saying() safetext.Text
	// refuse says why a key does not work, where a line is too short on a page.
	refuse(b act.Act, why string) tea.Cmd
	// enter makes a pane visible; refresh asks again for what is shown.
	enter(pane int) tea.Cmd
	refresh() tea.Cmd
	// beside shows a list in place of the pane, or above the one that is shown; it is made
	// for an address of its own.
	beside(title string, above bool, list func(address int) listing) tea.Cmd
	// hasSide reports whether there is such a list; shows, whether the pane or list of an
	// address is on the screen.
	hasSide() bool
	shows(address int) bool
}

// refreshSide asks again for the list that stands in place of the pane, if one does: the
// texts that were put aside are others after an editor.
func (d *desk) refreshSide() tea.Cmd {
	if !d.frame.hasSide() {
		return nil
	}
	return d.frame.refresh()
}

// divider is the line between a list and what stands beside it.
type divider struct {
	share    int  // thousandths of the width that lists have; 0: as designed
	dragging bool // the mouse holds it
	wide     bool // the list has all of the room, until ctrl+w is pressed again
}

// visit names a store whose items are to be listed from another pane.
type visit struct{ store string }

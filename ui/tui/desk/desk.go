package desk

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/internal/drafts"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/paint"
)

// Desk is shared by all panes: the stores, how they are drawn, and the acts.
type Desk struct {
	loop.Loop
	Fleet    *backends.Fleet
	Stuck    stuck
	ReadOnly string // why nothing may be changed, empty when it may
	Frame    Frame
	// Anchored says how far the audit log is kept outside; nil: nobody knows.
	Anchored func(context.Context) (string, model.HealthState)
	Tied     bool                // an erasure was begun that ends with this console
	Open     func(Visit) tea.Cmd // list items in the Tiers pane
	Sources
	terminal
	divider
	Glances glances
	Modal   *dialog.Modal
	Exports *exports
	Settle  time.Duration // after which a copy that was removed is looked for again
}

// New is a desk on some stores, in a frame; plain: nothing is drawn over anything.
func New(l loop.Loop, fleet *backends.Fleet, f Frame, plain bool) *Desk {
	l.Esc = l.St.Esc
	d := &Desk{Loop: l, Fleet: fleet, Frame: f, terminal: terminal{Plain: plain}}
	d.Modal, d.Exports = &dialog.Modal{Loop: &d.Loop, Host: f, Plain: plain}, &exports{d: d}
	return d
}

// Sources feed the panes and change memory; a nil one is absent, and the pane or
// the key says so.
type Sources struct {
	Audit      AuditSource      // nil: the pane says why it is empty
	Quarantine QuarantineSource // nil: the pane says why it is empty
	Conflicts  ConflictSource   // nil: the pane says why it is empty
	Changes    ChangeSource     // nil: nothing is listed anew but when it is asked for
	Erasure    ErasureSource    // nil: the pane says why it is empty
	Origins    OriginSource     // nil: nobody knows who wrote what, and no column says it
	Stories    StorySource      // nil: the quarantine cannot be grouped, and the key says so
	Acts       Acts             // nil: nothing can be changed, and the keys say so
	Drafts     *drafts.Folder   // of texts in an editor; nil: nothing can be edited, and the keys say so
	Jobs       Jobs             // nil: only one item at a time can be changed, and the keys say so
}

// terminal is what the session runs on.
type terminal struct {
	Plain   bool
	Remote  bool              // the terminal is not this process's own
	Shell   bool              // a shell with jobs runs this process, and takes the terminal when it stops
	Env     map[string]string // of the session
	Environ []string          // the same as it was given
	Edit    func(path string) tea.ExecCommand
	// Of the linear mode, which has no screen; nil and false in the console.
	Heard  func(paint.Tone, safetext.Text) // each message at once, instead of the status line
	Spoken bool                            // what no editor can take is typed line by line
}

// divider is the line between a list and what stands beside it.
type divider struct {
	Share    int  // thousandths of the width that lists have; 0: as designed
	Dragging bool // the mouse holds it
	Wide     bool // the list has all of the room, until ctrl+w is pressed again
}

// Visit names a store whose items are to be listed from another pane.
type Visit struct{ Store string }

// Package desk is what panes and acts share: the stores, the sources, the frame around them, the exports.
package desk

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/internal/drafts"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/loop"
)

// Desk is shared by all panes: the stores, how they are drawn, and the acts.
type Desk struct {
	loop.Loop
	Fleet    *backends.Fleet
	Stuck    stuck
	ReadOnly string // why nothing may be changed; empty when changes are allowed
	Frame    Frame
	// Anchored says how much of the audit log is anchored; nil: unknown.
	Anchored func(context.Context) (string, model.HealthState)
	Tied     bool                  // an erasure was begun that ends with this console
	Open     func(ScopeOf) tea.Cmd // list items in the Tiers pane
	Sources
	terminal
	divider
	AutoRefresh autoRefresh
	Modal       *dialog.Modal
	Exports     *exports
	Settle      time.Duration // time until a removed copy is looked for again
}

// New is a desk on some stores, in a frame; plain: without overlays.
func New(l loop.Loop, fleet *backends.Fleet, f Frame, plain bool) *Desk {
	l.Esc = l.St.Esc
	d := &Desk{Loop: l, Fleet: fleet, Frame: f, terminal: terminal{Plain: plain}}
	d.Modal, d.Exports = &dialog.Modal{Loop: &d.Loop, Host: f, Plain: plain}, &exports{d: d}
	return d
}

// Sources feed the panes and change memory; a nil one is absent, and its pane or key says so.
type Sources struct {
	Audit      AuditSource        // nil: the pane says why it is empty
	Quarantine QuarantineSource   // nil: the pane says why it is empty
	Conflicts  ConflictSource     // nil: the pane says why it is empty
	Changes    *operator.Changes  // nil: lists are read anew only on request
	Erasure    *operator.Erasures // nil: the pane says why it is empty
	Origins    OriginSource       // nil: writers are unknown, and no column shows them
	Stories    StorySource        // nil: the quarantine cannot be grouped, and the key says so
	Acts       Acts               // nil: nothing can be changed, and the keys say so
	Drafts     *drafts.Folder     // of texts in an editor; nil: nothing can be edited, and the keys say so
	Jobs       Jobs               // nil: only one item at a time can be changed, and the keys say so
	// Lacks is the operator's role where it does not cover an act, else empty; nil: every act is covered.
	Lacks func(operator.Act) string
}

// Closed says that the operator's role has no sight of what a pane shows; empty where it has.
func (s *Sources) Closed(act operator.Act, what string) string {
	if s.Lacks != nil {
		if role := s.Lacks(act); role != "" {
			return "your role (" + role + ") does not include " + what
		}
	}
	return ""
}

type terminal struct {
	Plain   bool
	Remote  bool              // the terminal is not this process's own
	Shell   bool              // started from a shell with job control, which takes the terminal when this process stops
	Env     map[string]string // of the session
	Environ []string          // the same, unparsed
	Edit    func(path string) tea.ExecCommand
	Spoken  bool // the linear mode: no screen, and text that no editor can take is typed line by line
}

// divider is the line between a list and its detail.
type divider struct {
	Share    int  // thousandths of the width for lists; 0: the default
	Dragging bool // the mouse holds it
	Wide     bool // the list has the whole width, until ctrl+w is pressed again
}

package tui

import (
	"context"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/ui/tui/desk"
)

// Options are the console's inputs.
type Options struct {
	Fleet *backends.Fleet

	Operator      string // identity for the frame
	Authenticated bool   // false: the identity is claimed, and the frame says so
	// ReadOnlyReason, when not empty, makes the whole console read-only and is always shown: the audit
	// log cannot be written, or the role is reader.
	ReadOnlyReason string
	Notices        []string // shown at the start: intents that have no outcome
	Due            []string // among the notices, and in no box at the start: the tabs say it all day
	// Anchored says how much of the audit log is anchored, empty without an anchor; nil: unknown.
	Anchored func(context.Context) (string, model.HealthState)

	Plain   bool // ASCII, no colour, no attributes, everything stacked
	NoColor bool
	ASCII   bool
	// Keys are the operator's own keys: each maps to the word of an act, or to a command line.
	Keys map[string]string
	// Views are opened by name, beside those of the session.
	Views   map[string]backends.ViewConfig
	NoMouse bool   // the terminal keeps the mouse for itself
	Theme   string // one of Themes; empty or unknown is auto
	// IdleLock blanks the screen after this time without a key; 0 is never.
	IdleLock time.Duration
	Environ  []string // KEY=value; TERM, LANG, LC_*, NO_COLOR are read

	Clock clock.Clock // nil: the system's
	// Poll is the pause between two reads of a list whose source reports no changes; 0 is never.
	Poll   time.Duration
	Settle time.Duration // time until a removed copy is looked for again; 0 is two minutes
	desk.Sources
	// Edit runs an editor on a file of this machine in the operator's terminal; nil: $VISUAL or
	// $EDITOR of Environ, where the terminal is this process's own.
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
	// Gone is called when the operator has gone without leaving, before work that is under way is told to end; may
	// be nil.
	Gone func()
}

// Size is the size of a terminal in cells.
type Size struct{ Width, Height int }

// Package pane holds what panes share beside the desk: acts, the item on the whole screen, the writers.
package pane

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/change"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/edit"
	"memdesk/ui/tui/task"
)

// Bench is the desk with the acts of more than one pane.
type Bench struct {
	*desk.Desk
	Edits *edit.Edits
	Undos *change.Undos
	Work  *task.Underway
	// Log lists what the audit log has about an item.
	Log func(model.Ref) tea.Cmd
}

// NoLog says why there is no log to list.
func (b *Bench) NoLog() string {
	return act.When(b.Audit == nil, "no audit log is attached to this console")
}

func NewBench(d *desk.Desk) *Bench {
	work := &task.Underway{D: d}
	return &Bench{Desk: d, Work: work, Edits: &edit.Edits{D: d}, Undos: &change.Undos{D: d, Work: work}}
}

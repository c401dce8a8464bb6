package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// New builds a console without a program around it.
func New(o Options) *App { return NewApp(context.Background(), o) }

// Patient makes a console never say that something is being loaded: on a busy
// machine every answer is late.
func Patient(m tea.Model) { m.(*App).slow.after = time.Hour }

// CrashOf is where a console broke.
func CrashOf(m any) string { return m.(*App).end.crash }

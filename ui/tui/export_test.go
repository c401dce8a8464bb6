package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// New makes a console without a program around it.
func New(o Options) *App { return NewApp(context.Background(), o) }

// Patient stops a console from saying that it is loading: on a busy machine every answer is late.
func Patient(m tea.Model) { m.(*App).slow.after = time.Hour }

// CrashOf returns where a console panicked.
func CrashOf(m any) string { return m.(*App).end.crash }

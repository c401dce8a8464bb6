package tui

import (
	"fmt"
	"path"
	"runtime"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// crashed is how the program comes to its end after a panic.
type crashed struct {
	crash string // where it broke; it is about to end
	quit  func() // ends it from View, where no command can be returned
}

// crashMsg ends the program after a panic in a command.
type crashMsg string

// guarded runs a command so that a panic ends the program in good order. Bubble
// Tea's own recovery prints the panic value, and that may hold what a store said.
func guarded(cmd tea.Cmd) tea.Cmd {
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = crashMsg(crashSite())
			}
		}()
		return cmd()
	}
}

// guard is deferred by Init and Update.
func (a *App) guard(cmd *tea.Cmd) {
	if r := recover(); r != nil {
		a.end.crash = crashSite()
		*cmd = tea.Quit
	}
}

// guardView is deferred by View, which has no command to return.
func (a *App) guardView(v *tea.View) {
	if r := recover(); r != nil {
		a.end.crash = crashSite()
		v.Content = ""
		if a.end.quit != nil {
			go a.end.quit()
		}
	}
}

// crashSite names the functions that led to a panic, and nothing of what they
// worked on.
func crashSite() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	var sites []string
	for len(sites) < 4 {
		f, more := frames.Next()
		if name := path.Base(f.Function); f.Function != "" && !strings.HasPrefix(name, "runtime.") {
			sites = append(sites, fmt.Sprintf("%s (%s:%d)", name, path.Base(f.File), f.Line))
		}
		if !more {
			break
		}
	}
	return strings.Join(sites, " from ")
}

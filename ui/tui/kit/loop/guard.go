package loop

import (
	"fmt"
	"path"
	"runtime"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Crash ends the program after a panic in a command.
type Crash string

// guarded ends the program after a panic. Bubble Tea's own recovery would print content of a store.
func guarded(cmd tea.Cmd) tea.Cmd {
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = Crash(Site())
			}
		}()
		return cmd()
	}
}

// Site names the functions on the way to a panic, without their data.
func Site() string {
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

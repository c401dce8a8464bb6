package edit

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

// command takes this long and fails.
type command time.Duration

var errOfEditor = errors.New("of the editor")

func (c command) Run() error {
	time.Sleep(time.Duration(c))
	return errOfEditor
}
func (command) SetStdin(io.Reader)  {}
func (command) SetStdout(io.Writer) {}
func (command) SetStderr(io.Writer) {}

// After an editor that ends at once, the terminal must come back only when the renderer is idle; a
// slower editor must not be delayed.
func TestUnhurried(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{0: leastAway, leastAway / 2: leastAway, time.Minute: time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			var c tea.ExecCommand = unhurried{command(took)}
			begun := time.Now()
			if err := c.Run(); !errors.Is(err, errOfEditor) {
				t.Errorf("it ends with %v", err)
			}
			if got := time.Since(begun); got != want {
				t.Errorf("a command of %s ends after %s, want %s", took, got, want)
			}
		})
	}
}

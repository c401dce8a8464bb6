package edit

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

// command takes a time and fails.
type command time.Duration

var errOfEditor = errors.New("of the editor")

func (c command) Run() error {
	time.Sleep(time.Duration(c))
	return errOfEditor
}
func (command) SetStdin(io.Reader)  {}
func (command) SetStdout(io.Writer) {}
func (command) SetStderr(io.Writer) {}

// An editor that ends at once gives the terminal back when the renderer stands still; a
// slower one is not held up.
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

//go:build unix

package tui

import (
	"context"
	"io"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"memdesk/internal/clock"
)

// TestASignalEndsTheConsole: SIGTERM ends both the context and the program; the order must not matter.
func TestASignalEndsTheConsole(t *testing.T) {
	for round := range 40 {
		master, tty, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		if err := pty.Setsize(tty, &pty.Winsize{Cols: 80, Rows: 24}); err != nil {
			t.Fatal(err)
		}
		shown := newScreen()
		go func() { _, _ = io.Copy(shown, master) }() // ends with the terminal
		ctx, stop := signal.NotifyContext(t.Context(), syscall.SIGTERM)
		ended := make(chan error, 1)
		go func() {
			ended <- Run(ctx, Options{Clock: clock.Fixed(time.Unix(0, 0)), Terminal: Terminal{Input: tty, Output: tty}, Environ: []string{"TERM=xterm-256color"}})
		}()
		shown.until("Health")
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if err != nil && context.Cause(ctx) == nil {
				t.Fatalf("round %d: %v", round, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("round %d: the console goes on after SIGTERM", round)
		}
		stop()
		_, _ = master.Close(), tty.Close()
	}
}

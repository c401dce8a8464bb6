package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// Run shows the console until the operator leaves, the context ends or the
// terminal is closed; the first two are no error. A panic restores the terminal
// and becomes an error that names the place in the program and no content.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.Linear {
		o.Plain, o.Poll = true, 0 // what is read out does not change by itself
		return runLinear(ctx, o)
	}
	a := newApp(ctx, o)
	err := run(ctx, a, o)
	cancel()
	a.d.written(leaveWait)
	return err
}

// leaveWait is how long leaving waits for files that are being written to be
// removed again: a file system that does not answer holds nobody.
const leaveWait = 3 * time.Second

// written waits until no file is being written.
func (d *desk) written(atMost time.Duration) {
	done := make(chan struct{})
	go func() { d.exports.writing.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(atMost):
	}
}

// ending is an input whose end ends the program: the operator has hung up.
type ending struct {
	io.Reader
	hangUp func()
}

func (e ending) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err != nil {
		e.hangUp()
	}
	return n, err
}

func run(ctx context.Context, a *App, o Options) error {
	ctx, hangUp := context.WithCancel(ctx)
	defer hangUp()
	opts := programOptions(ctx, hangUp, o)
	if o.Sizes != nil {
		select { // Bubble Tea takes the first size only before it starts
		case s := <-o.Sizes:
			opts = append(opts, tea.WithWindowSize(s.Width, s.Height))
		case <-ctx.Done():
			return nil
		}
	}
	p := tea.NewProgram(a, opts...)
	a.end.quit = p.Quit
	if o.Sizes != nil {
		go forwardSizes(ctx, o.Sizes, p.Send)
	}
	_, err := p.Run()
	switch {
	case a.end.crash != "":
		return fmt.Errorf("console: an internal error in %s; an act that was under way is an open intent in the audit log", a.end.crash)
	case errors.Is(err, context.Canceled), errors.Is(err, tea.ErrInterrupted):
		return nil
	case err != nil:
		return fmt.Errorf("console: %w", err)
	}
	return nil
}

func programOptions(ctx context.Context, hangUp func(), o Options) []tea.ProgramOption {
	opts := []tea.ProgramOption{tea.WithContext(ctx)}
	switch in := o.Input.(type) {
	case nil:
	case *os.File:
		opts = append(opts, tea.WithInput(in)) // a terminal, whose end is a signal
	default:
		// One session of several in this process: signals are not for it.
		opts = append(opts, tea.WithInput(ending{in, hangUp}), tea.WithoutSignalHandler())
	}
	if o.Output != nil {
		opts = append(opts, tea.WithOutput(o.Output))
		if _, file := o.Output.(*os.File); !file {
			// Bubble Tea takes what is no file for no terminal, and would leave out colours.
			opts = append(opts, tea.WithColorProfile(colorprofile.Env(o.Environ)))
		}
	}
	if o.Environ != nil {
		opts = append(opts, tea.WithEnvironment(o.Environ))
	}
	return opts
}

// forwardSizes ends with the context or the channel.
func forwardSizes(ctx context.Context, sizes <-chan Size, send func(tea.Msg)) {
	for {
		select {
		case s, ok := <-sizes:
			if !ok {
				return
			}
			send(tea.WindowSizeMsg{Width: s.Width, Height: s.Height})
		case <-ctx.Done():
			return
		}
	}
}

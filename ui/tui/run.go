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

	"memdesk/ui/tui/kit/loop"
)

// Run shows the console until the operator leaves, the context ends or the terminal is closed; the
// first two are no error. A panic restores the terminal and becomes an error that names the place
// in the program, without content.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := NewApp(ctx, o)
	err := run(ctx, a, o)
	cancel()
	written := make(chan struct{}) // the text of the built-in editor is in its draft, and no file is being written
	go func() { a.D.Edits.Flush(); a.D.Exports.Writing.Wait(); close(written) }()
	select {
	case <-written:
	case <-time.After(leaveWait):
	}
	return err
}

// leaveWait bounds the wait for files: a stuck file system must not hold the operator.
const leaveWait = 3 * time.Second

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
		go ForwardSizes(ctx, o.Sizes, p.Send)
	}
	_, err := p.Run()
	if err != nil && a.end.crash == "" && !errors.Is(err, tea.ErrInterrupted) && o.Gone != nil {
		o.Gone() // the terminal has ended: its signal may come later
	}
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
	// The context ends with the program's signals. Bubble Tea's own handler would send a message
	// to a loop that has ended with the context, and wait for it for ever.
	opts := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler()}
	switch in := o.Input.(type) {
	case nil:
	case *os.File:
		opts = append(opts, tea.WithInput(in)) // a terminal, whose end is a signal
	default:
		opts = append(opts, tea.WithInput(ending{in, hangUp}))
	}
	switch out := o.Output.(type) {
	case nil:
		opts = append(opts, tea.WithOutput(marginlessFile{os.Stdout}))
	case *os.File:
		opts = append(opts, tea.WithOutput(marginlessFile{out}))
	default:
		// Bubble Tea takes anything but a file for no terminal, and would leave out colours.
		opts = append(opts, tea.WithOutput(marginless{out}), tea.WithColorProfile(colorprofile.Env(o.Environ)))
	}
	if o.Environ != nil {
		opts = append(opts, tea.WithEnvironment(o.Environ))
	}
	return opts
}

// ForwardSizes ends with the context or the channel.
func ForwardSizes(ctx context.Context, sizes <-chan Size, send func(tea.Msg)) {
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

// crashed says how the program ends after a panic.
type crashed struct {
	crash string // place of the panic; the program is about to end
	quit  func() // ends the program from View, which returns no command
}

// guard is deferred by Init and Update.
func (a *App) guard(cmd *tea.Cmd) {
	if r := recover(); r != nil {
		a.end.crash = loop.Site()
		*cmd = tea.Quit
	}
}

// guardView is deferred by View, which has no command to return.
func (a *App) guardView(v *tea.View) {
	if r := recover(); r != nil {
		a.end.crash = loop.Site()
		v.Content = ""
		if a.end.quit != nil {
			go a.end.quit()
		}
	}
}

package cli

import (
	"context"
	"log/slog"
	"memdesk/internal/sdnotify"
	"memdesk/model"
	"os"
	"os/signal"
	"regexp"
	"sync"
	"syscall"
)

// The forms of a server's log.
const (
	logText = "text"
	logJSON = "json"
)

// RunProcess is Run with signals: SIGINT and SIGTERM end the command. SIGHUP ends it too, unless it is
// a server without a terminal, which reads its keys again. A umask keeps nothing from the owner: the next start could
// not enter the state directory.
func (p Program) RunProcess() int {
	syscall.Umask(syscall.Umask(0o077) &^ 0o700)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal is the system's own: it ends the program at once
	p.hangup = make(chan os.Signal, 1)
	signal.Notify(p.hangup, syscall.SIGHUP)
	return p.Run(ctx)
}

// heedHangup handles SIGHUP until ctx ends. The signal stays caught: a terminal that closes sends it, and its shell sends
// it again while the program still clears up.
func (a *app) heedHangup(ctx context.Context, end func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.hangup:
		}
		if !a.serving.Load() || a.Terminal(a.Stdin) {
			end()
			return
		}
	}
}

// running notifies the service manager that the server is ready, and that it stops when ctx ends. over waits
// for the second notice, and sends it where ctx has ended without it.
func (a *app) running(ctx context.Context) (over func()) {
	a.serving.Store(true)
	a.notify(sdnotify.Ready)
	stopping := sync.OnceFunc(func() { a.notify(sdnotify.Stopping) })
	never := context.AfterFunc(ctx, stopping)
	return func() {
		if never(); ctx.Err() != nil {
			stopping()
		}
	}
}

// notify sends a state to the service manager, if there is one. A failure does not stop the server.
func (a *app) notify(state string) {
	if err := sdnotify.Send(a.Env, state); err != nil {
		a.sayf("the service manager does not listen: %v", err)
	}
}

// openLog makes the logger that --log-format asks for.
func (a *app) openLog() error {
	switch a.flags.log {
	case "", logText:
	case logJSON:
		a.logger = slog.New(slog.NewJSONHandler(a.errw, nil))
	default:
		return usage("--log-format is %s or %s", logText, logJSON)
	}
	return nil
}

var placeholder = regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z]`)

// sentence removes the arguments from a format. Many people read the JSON log of a collector, so its
// lines hold no name, address, path or content.
func sentence(format string) string { return placeholder.ReplaceAllString(format, "…") }

// logf is sayf with the time, for servers.
func (a *app) logf(format string, args ...any) {
	if a.logger == nil { // its lines have the time already
		format, args = "%s "+format, append([]any{when(a.Clock.Now())}, args...)
	}
	a.sayf(format, args...)
}

// interruptible waits for a read that cannot be cancelled, until an interrupt; the read itself ends with the
// process.
func interruptible[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	done := make(chan answer, 1)
	go func() {
		v, err := read()
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		return a.v, a.err
	case <-ctx.Done():
		var zero T
		return zero, model.Interrupted("")
	}
}

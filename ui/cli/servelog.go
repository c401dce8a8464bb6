package cli

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"regexp"
	"syscall"

	"memdesk/internal/sdnotify"
)

// The forms of a server's log.
const (
	logText = "text"
	logJSON = "json"
)

// openLog makes the logger that --log-format asks for.
func (a *app) openLog() error {
	switch a.flags.log {
	case "", logText:
	case logJSON:
		a.logger = slog.New(slog.NewJSONHandler(a.errRaw, nil))
	default:
		return usage("--log-format is %s or %s", logText, logJSON)
	}
	return nil
}

var placeholder = regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z]`)

// sentence is a format without what it is about. Lines of a JSON log go to collectors that many
// read, so they say what happened and never to whom: no name, no address, no path, no content.
func sentence(format string) string { return placeholder.ReplaceAllString(format, "…") }

// logf is a line of a server about something that happened now.
func (a *app) logf(format string, args ...any) {
	if a.logger != nil {
		a.logger.Info(sentence(format))
		return
	}
	a.sayf("%s "+format, append([]any{when(a.Clock.Now())}, args...)...)
}

// RunProcess is Run for a process of its own: SIGINT and SIGTERM end the command. SIGHUP ends it
// too, unless it is a server without a terminal: that one reads its keys again.
func (p Program) RunProcess() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal is the system's own: it ends the program at once
	p.hangup = make(chan os.Signal, 1)
	signal.Notify(p.hangup, syscall.SIGHUP)
	return p.Run(ctx)
}

// heedHangup answers SIGHUP until ctx ends.
func (a *app) heedHangup(ctx context.Context, end func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.hangup:
		}
		if !a.serving.Load() || a.Terminal(a.Stdin) {
			signal.Stop(a.hangup) // the second one is the system's own
			end()
			return
		}
	}
}

// running says that a server answers from now on, until ctx ends. over waits until the end has
// been told too.
func (a *app) running(ctx context.Context) (over func()) {
	a.serving.Store(true)
	a.notify(sdnotify.Ready)
	told := make(chan struct{})
	never := context.AfterFunc(ctx, func() { defer close(told); a.notify(sdnotify.Stopping) })
	return func() {
		if !never() {
			<-told
		}
	}
}

// notify tells the service manager, if there is one. A server serves whether or not it listens.
func (a *app) notify(state string) {
	if err := sdnotify.Send(a.Env, state); err != nil {
		a.sayf("the service manager does not listen: %v", err)
	}
}

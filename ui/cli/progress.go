package cli

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"memdesk/gdpr"
)

// progress tells on standard error where long work is, from its first second on: on a
// terminal in one line that is written over, elsewhere in a line every few seconds. end
// takes the line away; nothing is told after it.
func (a *app) progress() (told func(string), end func()) {
	const firstAfter, lineEvery = time.Second, 5
	var mu sync.Mutex
	now := ""
	stop, stopped := make(chan struct{}), make(chan struct{})
	over := a.Terminal(a.Stderr) && !a.flags.plain && !a.flags.json
	go func() {
		defer close(stopped)
		tick := time.NewTicker(firstAfter)
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-stop:
				if over && n > 0 {
					_, _ = io.WriteString(a.Stderr, "\r\x1b[K")
				}
				return
			case <-tick.C:
			}
			mu.Lock()
			line := now
			mu.Unlock()
			switch {
			case line == "":
			case over:
				_, _ = io.WriteString(a.Stderr, "\r\x1b[K"+a.text.Line(line).String())
			case n%lineEvery == 0:
				a.sayf("%s", line)
			}
		}
	}()
	return func(line string) {
			mu.Lock()
			defer mu.Unlock()
			now = line
		}, func() {
			close(stop)
			<-stopped
		}
}

// identifiers takes a person's identifiers from a file or standard input, a line each;
// the first is the id where none was given.
func (a *app) identifiers(ctx context.Context, from string, in *gdpr.Intake) error {
	if from == "" {
		return nil
	}
	text, err := a.readInput(ctx, from)
	if err != nil {
		return err
	}
	for line := range strings.Lines(text) {
		switch line = strings.TrimSpace(line); {
		case line == "":
		case in.Subject == "":
			in.Subject = line
		default:
			in.Aliases = append(in.Aliases, line)
		}
	}
	if in.Subject == "" {
		return usage("--identifiers: there is none in it")
	}
	return nil
}

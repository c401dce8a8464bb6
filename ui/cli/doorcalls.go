package cli

import (
	"context"
	"path/filepath"
	"time"

	"memdesk/internal/counts"
	"memdesk/internal/statedir"
	"memdesk/operator"
)

// callsFile is where doors count their calls, below the state directory: keys "VERB OUTCOME".
const callsFile = "serve/calls.json"

// callsEvery is how often a door saves its counts.
const callsEvery = 5 * time.Second

// countCalls counts the calls of a door until end, for `serve metrics`, which is another process.
// Whose calls they are is counted nowhere.
func (a *app) countCalls(ctx context.Context, s *operator.Session) (called func(verb, outcome string), end func()) {
	if s.State == "" {
		return a.logCall, func() {}
	}
	kept := counts.Open(filepath.Join(s.State, filepath.FromSlash(callsFile)), func() error { return statedir.Ensure(s.State) })
	save := func() {
		if err := kept.Save(); err != nil {
			a.logf("the calls cannot be counted: %v", err)
		}
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(callsEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				save()
			}
		}
	}()
	return func(verb, outcome string) {
		kept.Add(verb + " " + outcome)
		a.logCall(verb, outcome)
	}, func() { stop(); <-ended; save() }
}

// logCall is the line of a JSON log about one call.
func (a *app) logCall(verb, outcome string) {
	if a.logger != nil {
		a.logger.Info("call", "verb", verb, "outcome", outcome)
	}
}

// count counts the guests' calls until the returned function is called.
func (g *guests) count(ctx context.Context, s *operator.Session) (end func()) {
	closed := g.app.closeOrphans(ctx, s)
	called, counted := g.app.countCalls(ctx, s)
	g.called = called
	return func() { counted(); closed() }
}

// orphansWait is how long the end of a server waits for the reading of a long log.
const orphansWait = 2 * time.Second

// closeOrphans closes, beside the serving, the intents of servers that were killed. end waits for it.
func (a *app) closeOrphans(ctx context.Context, s *operator.Session) (end func()) {
	if s.Log == nil || s.Log.Writable() != nil {
		return func() {}
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n, err := s.Log.CloseOrphans(ctx)
		if n > 0 {
			a.sayf("%s of servers that are gone had no recorded outcome: closed in the audit log as unknown", plural(int64(n), "act"))
		}
		if err != nil && ctx.Err() == nil {
			a.logf("acts without an outcome cannot be closed in the audit log: %v", err)
		}
	}()
	return func() {
		late := time.AfterFunc(orphansWait, stop)
		<-ended
		late.Stop()
		stop()
	}
}

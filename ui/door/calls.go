package door

import (
	"context"
	"path/filepath"
	"time"

	"memdesk/internal/counts"
	"memdesk/internal/statedir"
)

// CallsFile is where doors count their calls, below the state directory: keys "VERB OUTCOME".
const CallsFile = "serve/calls.json"

// callsEvery is how often a door saves its counts.
const callsEvery = 5 * time.Second

// CountCalls counts the calls of a door until end, for `serve metrics`, which is another process. Callers are
// not counted apart. unsaved hears errors of saving.
func CountCalls(ctx context.Context, state string, unsaved func(error)) (called func(verb, outcome string), end func()) {
	kept := counts.Open(filepath.Join(state, filepath.FromSlash(CallsFile)), func() error { return statedir.Ensure(state) })
	save := func() {
		if err := kept.Save(); err != nil {
			unsaved(err)
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
	return func(verb, outcome string) { kept.Add(verb + " " + outcome) }, func() { stop(); <-ended; save() }
}

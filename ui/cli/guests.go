package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"memdesk/internal/bearer"
	"memdesk/model"
	"memdesk/operator"
)

// guests are the callers of a served address. Each has a session of its own, so that every
// change stands under the caller's own name. Their tokens are read again when the file of
// the tokens changes, and on a hang-up signal.
type guests struct {
	app  *app
	door *bearer.Door
	file string
	seen os.FileInfo // the file, as it was before its tokens were read
	// called counts the calls; desks and provider pass it on.
	called func(verb, outcome string)

	mu       sync.Mutex
	sessions map[string]*operator.Session
}

// tokensEvery is how often the file of the tokens is looked at.
const tokensEvery = time.Second

// guestsOf opens a session for every caller of the file of tokens.
func (a *app) guestsOf(ctx context.Context, s *operator.Session, file string) (*guests, int, error) {
	g, callers, err := a.doorFor(s, file)
	if err != nil {
		return nil, 0, err
	}
	g.sessions = map[string]*operator.Session{}
	if err := g.let(ctx, callers); err != nil {
		g.close()
		return nil, 0, err
	}
	return g, len(callers), nil
}

// doorFor is a door for the callers of the file of tokens, who need no session yet.
func (a *app) doorFor(s *operator.Session, file string) (*guests, []bearer.Caller, error) {
	file, err := a.tokensFile(s, file)
	if err != nil {
		return nil, nil, err
	}
	seen, _ := os.Stat(file) // readTokens says what is wrong with it
	callers, err := readTokens(file)
	if err != nil {
		return nil, nil, err
	}
	return &guests{app: a, door: bearer.New(callers, bearer.Limits{}), file: file, seen: seen}, callers, nil
}

// let opens the sessions that are missing, then lets in these callers only.
func (g *guests) let(ctx context.Context, callers []bearer.Caller) error {
	for _, c := range callers {
		if g.sessions == nil || g.session(c.Name) != nil {
			continue
		}
		v := &app{Program: g.app.Program, flags: g.app.flags, errw: g.app.errw, text: g.app.text, logger: g.app.logger, caller: c.Name, beside: g.app.session}
		s, err := v.stores(ctx)
		if err != nil {
			if v.session != nil {
				_ = v.session.Close() // the first error is the one that counts
			}
			return err
		}
		g.mu.Lock()
		g.sessions[c.Name] = s
		g.mu.Unlock()
	}
	g.door.Update(callers)
	return nil
}

func (g *guests) session(name string) *operator.Session {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.sessions[name]
}

// watch begins to read the tokens again, until ctx ends. While they cannot be read nobody is
// let in: a token that somebody tries to take away must not go on. A change of the file since
// its first reading, and a hang-up since watch returned, are seen.
func (g *guests) watch(ctx context.Context) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	go func() {
		defer signal.Stop(hangup)
		g.readAgain(ctx, hangup)
	}()
}

func (g *guests) readAgain(ctx context.Context, hangup <-chan os.Signal) {
	tick := time.NewTicker(tokensEvery)
	defer tick.Stop()
	last := g.seen
	for {
		forced := false
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			forced = true
		case <-tick.C:
		}
		now, err := os.Stat(g.file)
		if err != nil {
			now = nil
		}
		if !forced && sameFile(last, now) {
			continue
		}
		last = now
		callers, err := readTokens(g.file)
		if err == nil {
			err = g.let(ctx, callers)
		}
		if err != nil {
			g.door.Update(nil)
			g.app.sayf("nobody is let in: %s", err.Error())
			continue
		}
		g.app.sayf("read the tokens again: %s", plural(int64(len(callers)), "token"))
	}
}

func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && a.Mode() == b.Mode()
}

// gone is the provider of a store that could not be opened.
type gone struct{ err error }

func (g gone) Retain(context.Context, model.RetainRequest) (model.RetainResult, error) {
	return model.RetainResult{}, g.err
}

func (g gone) Recall(context.Context, model.RecallRequest) (model.RecallResult, error) {
	return model.RecallResult{}, g.err
}

func (g gone) Forget(context.Context, model.ForgetRequest) (model.ForgetResult, error) {
	return model.ForgetResult{}, g.err
}

func (g gone) Health(context.Context) model.HealthStatus {
	return model.NewHealth(time.Now(), model.HealthFinding{Kind: model.FindingUnreachable, Message: g.err.Error()})
}

func (g *guests) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.sessions {
		if err := s.Close(); err != nil {
			g.app.sayf("closing: %s", err.Error())
		}
	}
}

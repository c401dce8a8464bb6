package door

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"memdesk/backends"
	"memdesk/internal/atomicfile"
	"memdesk/internal/bearer"
	"memdesk/internal/safetext"
	"memdesk/internal/statedir"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/origin"
)

// Guests are the callers of a served address. Each has a session of its own, so that every change is recorded
// under the caller's own name. The token file is read again when it changes, and on a hang-up signal.
type Guests struct {
	Door *bearer.Door
	File string // of the tokens
	// Called hears every call; desks and Provider pass it on. Nil: calls are not counted.
	Called func(verb, outcome string)

	open func(ctx context.Context, name string) (*operator.Session, error)
	say  func(format string, args ...any)
	seen os.FileInfo // the file, as it was before its tokens were read; nil: not all of its callers are admitted
	told string      // who is not let in, and why

	mu       sync.Mutex
	count    int
	sessions map[string]*operator.Session
}

// Invite reads the token file and opens a session for each caller; with a nil open callers need none. say
// hears the events of watching the file.
func Invite(ctx context.Context, file string, open func(ctx context.Context, name string) (*operator.Session, error), say func(format string, args ...any)) (*Guests, error) {
	seen, _ := os.Stat(file) // readTokens reports the error
	callers, err := readTokens(file)
	if err != nil {
		return nil, err
	}
	g := &Guests{Door: bearer.New(nil, bearer.Limits{}), File: file, open: open, say: say, seen: seen, sessions: map[string]*operator.Session{}}
	if err := g.admit(ctx, callers); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

func readTokens(file string) ([]bearer.Caller, error) {
	callers, err := bearer.ReadTokens(file)
	if err != nil {
		return nil, model.E(model.InvalidInput, "", fmt.Errorf("%s: %w", file, err))
	}
	return callers, nil
}

// Tokens counts the valid tokens.
func (g *Guests) Tokens() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return safetext.Count(int64(g.count), "token")
}

// admit admits only these callers: at once those whose session is open, so that a token taken out does not stay valid
// while stores open, and then the others. One whose session does not open stays out, and keeps nobody else out.
func (g *Guests) admit(ctx context.Context, callers []bearer.Caller) (failed error) {
	missing := func(c bearer.Caller) bool { return g.open != nil && g.Session(c.Name) == nil }
	g.Door.Update(slices.DeleteFunc(slices.Clone(callers), missing))
	for _, c := range callers {
		if !missing(c) {
			continue
		}
		s, err := g.open(ctx, c.Name)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", c.Name, err))
			continue
		}
		g.mu.Lock()
		g.sessions[c.Name] = s
		g.mu.Unlock()
	}
	callers = slices.DeleteFunc(slices.Clone(callers), missing)
	g.Door.Update(callers)
	g.mu.Lock()
	g.count = len(callers)
	g.mu.Unlock()
	return failed
}

func (g *Guests) Session(name string) *operator.Session {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.sessions[name]
}

// tokensEvery is the pause between two checks of the token file.
const tokensEvery = time.Second

// Watch reads the tokens again on changes, until ctx ends. While they are unreadable nobody is admitted: a
// token being revoked must not stay valid. Watch sees a change of the file since its first reading, and a
// hang-up since Watch returned.
func (g *Guests) Watch(ctx context.Context) { go g.readAgain(ctx, Hangups(ctx)) }

// Hangups receives the hang-up signals of the process until ctx ends.
func Hangups(ctx context.Context) <-chan os.Signal {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	context.AfterFunc(ctx, func() { signal.Stop(c) })
	return c
}

func (g *Guests) readAgain(ctx context.Context, hangup <-chan os.Signal) {
	tick := time.NewTicker(tokensEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			g.look(ctx, true)
		case <-tick.C:
			g.look(ctx, false)
		}
	}
}

// look reads the tokens when the file has changed, and until its callers are admitted.
func (g *Guests) look(ctx context.Context, forced bool) {
	now, err := os.Stat(g.File)
	if err != nil {
		now = nil
	}
	if !forced && g.told == "" && sameFile(g.seen, now) {
		return
	}
	callers, err := readTokens(g.File)
	who := "nobody is let in: %s"
	if err != nil {
		g.Door.Update(nil)
	} else {
		who, err = "not all are let in: %s", g.admit(ctx, callers)
	}
	if err == nil {
		g.seen, g.told = now, ""
		g.say("read the tokens again: %s", g.Tokens())
		return
	}
	g.seen = nil
	if g.told != err.Error() {
		g.told = err.Error()
		g.say(who, strings.ReplaceAll(g.told, "\n", "; "))
	}
}

func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && a.Mode() == b.Mode()
}

func (g *Guests) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.sessions {
		if err := s.Close(); err != nil {
			g.say("closing: %s", err.Error())
		}
	}
}

// Desks gives each guest a desk, and a new one when the guest's scopes change.
func (g *Guests) Desks(settings Desk) func(bearer.Caller) *Desk {
	var mu sync.Mutex
	made := map[string]*Desk{}
	settings.Called = g.Called
	return func(c bearer.Caller) *Desk {
		mu.Lock()
		defer mu.Unlock()
		key := c.Name + " " + strings.Join(c.Scopes, ",")
		if made[key] == nil {
			made[key] = settings.Of(g.Session(c.Name), c)
		}
		return made[key]
	}
}

// Of is the desk of a caller over a session's stores, with the settings of d.
func (d Desk) Of(s *operator.Session, c bearer.Caller) *Desk {
	d.Fleet, d.Undo, d.Ledger, d.Trace, d.Names, d.Caller = s.Fleet, s.Writes(), s.Ledger, s.Trace, s.Paths, c
	d.Trusted, d.Unwritable, d.Refused, d.Suspect = s.Config.Door.Trust[c.Name], s.Unwritable, func(ctx context.Context, verb, scope string) { s.Refused(ctx, "", verb, scope) }, s.Withheld()
	return &d
}

// Provider is the Provider contract of one store, for all guests.
func (g *Guests) Provider(store string) http.Handler {
	refused := func(ctx context.Context, c backends.Caller, scope string) {
		g.Session(c.Name).Refused(ctx, store, bearer.Verb(scope), scope)
	}
	return backends.Serve(backends.Served{Door: g.Door, Called: g.Called, Refused: refused,
		Store: func(c backends.Caller) model.Store {
			guest := g.Session(c.Name)
			guest.Fleet.ReopenSoon(reopenEvery)
			s, err := guest.Fleet.Store(store)
			if err != nil { // it did not open for this guest: its calls say why
				return model.Store{Name: store, Provider: gone{err}}
			}
			s = s.Wrap(restoresKnown(guest.Ledger))
			if !c.May(bearer.ScopeErase) {
				s = s.Wrap(noErasure(func(ctx context.Context) { refused(ctx, c, bearer.ScopeErase) }))
			}
			s.Provider = guest.Writes().Provider(s)
			s.Features = maps.Clone(s.Features)
			if s.Features == nil {
				s.Features = map[string]bool{}
			}
			s.Features[model.FeatureErase] = c.May(bearer.ScopeErase)
			return s
		}})
}

// restoresKnown believes that an item is restored, which may have a name that a new one may not have (R34), only where the
// item was changed through memdesk. A field of the store's own comes only with a restored item, and with one that an
// erasure writes anew. Without a ledger nothing can be written either.
func restoresKnown(ledger *origin.Ledger) model.Middleware {
	return func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Retain != nil && c.Retain.Restore && ledger != nil {
			_, was, err := ledger.Latest(c.Store.Name, c.Retain.ID)
			c.Retain.Restore = was && err == nil
		}
		if c.Retain != nil && !c.Retain.Restore && !c.Retain.Erase {
			c.Retain.Meta = slices.Clone(c.Retain.Meta)
			for i := range c.Retain.Meta {
				c.Retain.Meta[i].ReadOnly = false
			}
		}
		return next(ctx)
	}
}

// noErasure refuses a change that leaves undo without a text: one that is called an erasure, and the removal of all
// that concerns a person.
func noErasure(refused func(context.Context)) model.Middleware {
	return func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Retain != nil && c.Retain.Erase || c.Forget != nil && (c.Forget.Erase || c.Forget.DataSubjectID != "") {
			refused(ctx)
			return model.Refuse("serve", "the token has not the scope "+bearer.ScopeErase)
		}
		return next(ctx)
	}
}

// Only admits callers whose token has a scope.
func Only(callers *bearer.Door, scope string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		guest := callers.Admit(r)
		switch {
		case guest == nil:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the server rejected the token (401)", http.StatusUnauthorized)
			return
		case !guest.May(scope):
			http.Error(w, "the token has not the scope "+scope, http.StatusForbidden)
			return
		}
		call, err := guest.BeginSoon(r)
		if err != nil {
			w.Header().Set("Retry-After", bearer.RetryAfter)
			http.Error(w, "too many calls at a time", http.StatusTooManyRequests)
			return
		}
		defer call.End()
		next.ServeHTTP(w, r)
	})
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

// TokensFile is the state directory's token file, made with a first token where there is none.
func TokensFile(state string) (file string, made bool, err error) {
	if err := statedir.Ensure(state); err != nil {
		return "", false, err
	}
	file = filepath.Join(state, "serve", "tokens")
	if _, err := os.Lstat(file); !errors.Is(err, os.ErrNotExist) {
		return file, false, nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", false, err
	}
	return file, true, atomicfile.Write(file, []byte("agent "+rand.Text()+rand.Text()+"\n"), 0o600)
}

package backends

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"memdesk/backends/internal/attributes"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Kind is one sort of store that memdesk can open.
type Kind struct {
	Name      string
	Summary   string // one line for people
	Location  string // what --open KIND=… and path take
	NeedsPath bool
	// Bare: the location is no path but the name of a variable or the like. It is
	// handed over as it was written, in StoreConfig.Location.
	Bare bool
	// Variable: the location is the name of an environment variable that holds it,
	// because it is a secret. It goes into StoreConfig.DSNEnv.
	Variable bool
	Keys     []string // of its [[store]] block, beside the common ones: fields of StoreConfig
	// Own are keys that StoreConfig has no field for, each with its default, whose type
	// is the key's: string, bool, int, Duration, Path, []string or map[string]string.
	// They arrive in StoreConfig.Own.
	Own map[string]any
	// Open opens the store for reading; it creates nothing. The caller closes it.
	Open func(ctx context.Context, c StoreConfig, env Env) (model.Store, error)
	// Create makes a new empty store; AlreadyExists where something stands. nil for
	// a kind whose stores are made by the system they belong to.
	Create func(ctx context.Context, c StoreConfig, env Env) error
	// Check applies the kind's rules to its block when a configuration is read: the
	// key that is wrong, and why. nil: there are none beyond the types. set tells
	// whether the block has a key.
	Check func(c StoreConfig, set func(key string) bool) (key string, err error)
}

// Env holds the dependencies of opening a store beside its configuration.
type Env struct {
	Clock clock.Clock
	// Getenv reads the variables that a block names; nil is os.Getenv.
	Getenv func(string) string
	// SearchOnly: the caller only recalls over every tier. A kind whose tiers stand in its
	// items may leave them out of Store.Tiers then.
	SearchOnly bool
	// Kept returns the ids of the items that undo keeps, or an open erasure lists, for the store of a kind and
	// path. A change may have removed the file that identifies the store: these ids identify it then, so that the
	// undo, or the erasure's next run, can open it. nil: none are.
	Kept func(kind, path string) []string
}

// kept asks Kept about one store, and only when the adapter calls it: it reads every undo entry and every open plan.
func (e Env) kept(c StoreConfig) func() []string {
	return func() []string {
		if e.Kept == nil {
			return nil
		}
		return e.Kept(c.Kind, c.Path)
	}
}

// lookup reads the environment.
func (e Env) lookup() func(string) string {
	if e.Getenv == nil {
		return os.Getenv
	}
	return e.Getenv
}

// Registry holds kinds by name. It is a value built in one place; nothing
// registers itself.
type Registry struct {
	kinds map[string]Kind
}

// Register adds a kind. An empty or taken name and a kind that cannot open are
// errors, never a silent replacement (provider-contract.md S15).
func (r *Registry) Register(k Kind) error {
	switch _, taken := r.kinds[k.Name]; {
	case k.Name == "":
		return model.Errorf(model.InvalidInput, "register", "a kind needs a name")
	case k.Open == nil:
		return model.Errorf(model.InvalidInput, "register", "kind %q is no backend: it has no Open", k.Name)
	case taken:
		return model.Errorf(model.AlreadyExists, "register", "kind %q is registered already", k.Name)
	}
	if err := k.checkOwn(); err != nil {
		return err
	}
	if r.kinds == nil {
		r.kinds = map[string]Kind{}
	}
	r.kinds[k.Name] = k
	return nil
}

// Kind finds a kind; absence is no error (S15).
func (r *Registry) Kind(name string) (Kind, bool) {
	k, ok := r.kinds[name]
	return k, ok
}

// takes reports whether a kind has a key of its own of this name.
func (r *Registry) takes(key string) bool {
	for _, k := range r.kinds {
		if _, ok := k.Own[key]; ok {
			return true
		}
	}
	return false
}

// Names lists the kinds, sorted (S15).
func (r *Registry) Names() []string {
	return slices.Sorted(maps.Keys(r.kinds))
}

// variableName matches the name of an environment variable.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// kindLike matches a mistyped kind. Anything else after --open is not
// repeated.
var kindLike = regexp.MustCompile(`^[a-z-]{1,16}$`)

// ParseOpen turns --open flags into store blocks. The name is the kind, then
// kind-2 and so on; relative locations start at dir.
func ParseOpen(reg *Registry, flags []string, dir string, env func(string) string) ([]StoreConfig, error) {
	var out []StoreConfig
	count := map[string]int{}
	for _, f := range flags {
		kind, location, ok := strings.Cut(f, "=")
		k, known := reg.Kind(kind)
		switch {
		case !ok: // the value is not repeated: a location may hold a secret in the wrong place
			return nil, model.Errorf(model.InvalidInput, "open", "--open takes KIND=LOCATION; kinds are %s", strings.Join(reg.Names(), ", "))
		case !known && !kindLike.MatchString(kind):
			return nil, model.Errorf(model.InvalidInput, "open", "--open: there is no such kind; there are %s", strings.Join(reg.Names(), ", "))
		case !known:
			return nil, model.Errorf(model.InvalidInput, "open", "--open: unknown kind %q; there are %s", kind, strings.Join(reg.Names(), ", "))
		case (k.NeedsPath || k.Variable) && location == "":
			return nil, model.Errorf(model.InvalidInput, "open", "--open %s=: a location is missing: %s", kind, k.Location)
		}
		count[kind]++
		name := kind
		if n := count[kind]; n > 1 {
			name = fmt.Sprintf("%s-%d", kind, n)
		}
		c := StoreConfig{Name: name, Kind: kind, Location: location, Origin: "--open"}
		switch {
		case k.Variable && !variableName.MatchString(location): // a connection string, to be kept out of every message
			return nil, model.Errorf(model.InvalidInput, "open", "--open %s=…: give the name of an environment variable, never the connection string itself", kind)
		case k.Variable:
			c.DSNEnv = location
		case !k.Bare:
			c.Path = ExpandPath(location, dir, env)
		}
		out = append(out, c)
	}
	return out, nil
}

// Policy is the middleware between every caller and a store, outermost first:
// audit, then role and read-only, then the gate, then the deadline.
type Policy struct {
	// Audit records every change before it is made. nil: there is no log, so every store is
	// read-only and says so; a program that records by itself passes Unrecorded.
	Audit model.Middleware
	// ReadOnly refuses every change, with the reason, and has the stores opened for reading only;
	// empty allows changes.
	ReadOnly string
	// Role refuses what the caller's role does not cover; nil passes everything.
	Role model.Middleware
	// Gate holds and suppresses; nil passes everything.
	Gate model.Middleware
	// Origin stands inside the gate and notes who wrote; nil notes nothing.
	Origin model.Middleware
	// Extend adds to a store below all layers; nil leaves it as it is.
	Extend func(model.Store) model.Store
	// Timeout per operation, before a store's own; 0 leaves it to the store, then to
	// DefaultTimeout.
	Timeout time.Duration
}

// Unrecorded is a Policy.Audit that records nothing: for tests, and for a program that keeps a
// record of its own around the stores.
func Unrecorded(ctx context.Context, _ *model.Call, next func(context.Context) error) error {
	return next(ctx)
}

// unaudited is why a store without a log is read-only.
const unaudited = "no audit log was given, and nothing is changed without a record: pass Policy.Audit"

// DefaultTimeout bounds one operation of a store.
const DefaultTimeout = 10 * time.Second

// Open opens every configured store side by side and wraps each in the policy. A
// store that fails is a member with its error; Open itself does not fail.
func Open(ctx context.Context, reg *Registry, configs []StoreConfig, env Env, p Policy) *Fleet {
	members := make([]Member, len(configs))
	hung := make([]atomic.Bool, len(configs))
	done := make(chan int)
	for i, c := range configs {
		go func() {
			members[i] = openMember(ctx, reg, c, env, p, &hung[i])
			done <- i
		}()
	}
	for range configs {
		<-done
	}
	return NewFleet(members, func(ctx context.Context, name string) Member {
		for i, c := range configs {
			if c.Name == name {
				return openMember(ctx, reg, c, env, p, &hung[i])
			}
		}
		return Member{Name: name, Err: model.Errorf(model.NotFound, "open", "no store is named %q", name)}
	})
}

// openMember opens a store. hung says that an earlier try has not come back: another would leave one more thread in
// the same system call.
func openMember(ctx context.Context, reg *Registry, c StoreConfig, env Env, p Policy, hung *atomic.Bool) Member {
	m := Member{Name: c.Name, Kind: c.Kind, Location: c.Path, Environment: c.Environment, Origin: c.Origin}
	if c.DSNEnv != "" {
		m.Location = "$" + c.DSNEnv
	}
	k, ok := reg.Kind(c.Kind)
	if !ok {
		m.Err = model.Errorf(model.Unsupported, "open", "this version has no backend of kind %q; it has %s", c.Kind, strings.Join(reg.Names(), ", "))
		return m
	}
	c, _, _ = k.withOwn(c, nil) // without a block nothing can be wrong
	timeout := cmp.Or(p.Timeout, time.Duration(c.Timeout), DefaultTimeout)
	own := c.ReadOnly
	c.ReadOnly = own || p.ReadOnly != "" // the handle itself cannot write then
	if hung.Load() {
		m.Err = model.Errorf(model.Timeout, "open", "the store has not answered an earlier try to open it")
		return m
	}
	s, err := openWithin(ctx, timeout, k, c, env, hung)
	if err != nil {
		m.Err = err
		return m
	}
	s.Name, s.Kind, s.Environment = c.Name, c.Kind, c.Environment
	if own && (!s.ReadOnly || c.ReadOnlyReason != "") {
		s.ReadOnly, s.ReadOnlyReason = true, cmp.Or(c.ReadOnlyReason, "its configuration says read_only")
	}
	why := p.ReadOnly
	if why == "" && p.Audit == nil {
		why = unaudited
	}
	if why != "" && !own && (!s.ReadOnly || p.ReadOnly != "") {
		s.ReadOnly, s.ReadOnlyReason = true, why
	}
	if s.Location != "" {
		m.Location = s.Location
	}
	if s.Maintainer != nil && filepath.IsAbs(s.Location) { // its files are on this machine
		s.Maintainer = attributes.Of(s.Maintainer)
	}
	if p.Extend != nil {
		s = p.Extend(s)
	}
	m.Store = s.Wrap(p.layers(cmp.Or(p.Timeout, time.Duration(c.Timeout), s.Timeout, DefaultTimeout))...)
	return m
}

// lastWords is how long a store may still say, after its deadline, why it did not open. SQLite's wait for a lock
// cannot be interrupted.
const lastWords = 250 * time.Millisecond

// openWithin gives up on a place that does not answer: a dead mount keeps a stat
// for ever. What it opens too late is closed again; until then it is hung.
func openWithin(ctx context.Context, timeout time.Duration, k Kind, c StoreConfig, env Env, hung *atomic.Bool) (model.Store, error) {
	type opened struct {
		store model.Store
		err   error
	}
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, timeout)
	done := make(chan opened, 1)
	go func() {
		defer cancel()
		var s model.Store
		err := guarded("open", func() (err error) {
			if s, err = k.Open(ctx, c, env); err != nil && c.Path != "" && absent(c.Path) {
				err = missing(k, c.Path)
			}
			return err
		})
		done <- opened{s, err}
	}()
	select {
	case o := <-done:
		return o.store, o.err
	case <-ctx.Done():
		select {
		case o := <-done: // a store that honours the deadline knows best why it had to wait
			if errors.Is(o.err, model.Timeout) {
				break
			}
			return o.store, o.err
		case <-time.After(lastWords):
			hung.Store(true)
			go func() {
				if o := <-done; o.err == nil {
					_ = o.store.Close()
				}
				hung.Store(false)
			}()
		}
		if err := caller.Err(); errors.Is(err, context.Canceled) {
			return model.Store{}, model.Ended("open", err)
		}
		return model.Store{}, model.Errorf(model.Timeout, "open", "the store did not answer within %s; --timeout gives it longer", timeout)
	}
}

// absent reports whether nothing stands at a path, or a link that leads nowhere.
func absent(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// missing says of every kind alike that a store's path is not there; a kind that takes such a path opens without an error.
func missing(k Kind, path string) error {
	const what = "path %q does not exist; check it, or mount what it lies on"
	if k.Create != nil {
		return model.Errorf(model.NotFound, "open", what+"; `memdesk create` makes a new store", filepath.Base(path))
	}
	return model.Errorf(model.NotFound, "open", what, filepath.Base(path))
}

func (p Policy) layers(timeout time.Duration) []model.Middleware {
	var out []model.Middleware
	if p.Audit != nil {
		out = append(out, p.Audit)
	}
	if p.Role != nil {
		out = append(out, p.Role)
	}
	out = append(out, ReadOnly)
	if p.Gate != nil {
		out = append(out, p.Gate)
	}
	if p.Origin != nil {
		out = append(out, p.Origin)
	}
	return append(out, Deadline(timeout))
}

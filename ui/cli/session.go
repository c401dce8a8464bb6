package cli

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/sshd"
)

// base opens the session without stores: configuration, log and undo.
func (a *app) base() (*operator.Session, error) {
	if a.session != nil {
		return a.session, nil
	}
	// --open replaces only the stores of the configuration. Roles still hold.
	path, explicit := backends.ConfigPath(a.flags.config, a.Env)
	cfg, err := backends.LoadConfig(a.Kinds, path, explicit, a.Env)
	if err != nil {
		return nil, err
	}
	o := operator.Options{Config: cfg, Kinds: a.Kinds, Env: a.Env, Dir: a.Dir, Clock: a.Clock, Version: a.Version, TTY: a.TTY,
		Door: operator.CommandLine, ReadOnly: a.flags.readOnly, Beside: a.beside, Note: a.noted}
	switch v := a.visitor; {
	case a.caller != "":
		o.Door, o.Who = operator.Agents, operator.Agent(a.caller)
	case v != nil:
		o.Door, o.Who, o.Looker = operator.Visit, v.Operator, v.Role != sshd.Operator
	default:
		o.Who = audit.IdentifyOperator(a.Env, a.User, a.TTY)
		switch role := a.Env(sshd.RoleVariable); sshd.Role(role) {
		case "", sshd.Operator:
		case sshd.Reader: // the machine's sshd sets it too, from the key's line
			o.Looker = true
		default:
			return nil, usage("%s is %s or %s, not %q", sshd.RoleVariable, sshd.Operator, sshd.Reader, role)
		}
	}
	a.session, err = operator.New(o)
	return a.session, err
}

// open opens the stores that the flags, the configuration or discovery name.
func (a *app) open(ctx context.Context) (*operator.Session, error) {
	s, err := a.base()
	if err != nil {
		return nil, err
	}
	if s.Fleet != nil {
		return s, nil
	}
	configs, err := a.storeConfigs(s)
	if err != nil {
		return nil, err
	}
	s.Open(ctx, configs, a.flags.timeout)
	return s, nil
}

// storeArgs are the arguments by which another process, in another directory, opens the same stores.
func (a *app) storeArgs(config string) (args []string) {
	if config != "" {
		args = append(args, "--config", a.path(config))
	}
	for _, o := range a.flags.open {
		kind, location, _ := strings.Cut(o, "=")
		if k, ok := a.Kinds.Kind(kind); ok && !k.Bare && !k.Variable && location != "" {
			location = a.path(location)
		}
		args = append(args, "--open", kind+"="+location)
	}
	return args
}

// allConfigs lists the stores that there are. It keeps in unknown those that this version cannot open.
func (a *app) allConfigs(s *operator.Session) ([]backends.StoreConfig, error) {
	switch {
	case len(a.flags.open) > 0:
		return backends.ParseOpen(a.Kinds, a.flags.open, a.Dir, a.Env)
	case len(s.Config.Stores) > 0:
		return s.Config.Stores, nil
	}
	var configs []backends.StoreConfig
	a.unknown = nil
	for _, c := range backends.Discover(a.Dir, a.Env) {
		if _, known := a.Kinds.Kind(c.Kind); known {
			configs = append(configs, c)
		} else {
			a.unknown = append(a.unknown, c)
		}
	}
	return configs, nil
}

// noStoreNamed is the error for a name that no store has, open or not. A name is of the configuration: "not found" is
// about an item.
func (a *app) noStoreNamed(s *operator.Session, name string) error {
	configs, err := a.allConfigs(s)
	if err != nil {
		return err
	}
	there := "; there are " + strings.Join(mapped(configs, func(c backends.StoreConfig) string { return c.Name }), ", ")
	if len(configs) == 0 {
		there = ", and none is configured"
	}
	return usage("no store is named %q%s", name, there)
}

// storeConfigs lists the stores to open.
func (a *app) storeConfigs(s *operator.Session) ([]backends.StoreConfig, error) {
	configs, err := a.allConfigs(s)
	if err != nil {
		return nil, err
	}
	if len(a.flags.stores) > 0 {
		var chosen []backends.StoreConfig
		for i, name := range a.flags.stores {
			at := slices.IndexFunc(configs, func(c backends.StoreConfig) bool { return c.Name == name })
			if at < 0 {
				return nil, a.noStoreNamed(s, name)
			}
			if !slices.Contains(a.flags.stores[:i], name) {
				chosen = append(chosen, configs[at])
			}
		}
		configs = chosen
	}
	if len(a.only) > 0 {
		configs = slices.DeleteFunc(slices.Clone(configs), func(c backends.StoreConfig) bool { return !slices.Contains(a.only, c.Name) })
	}
	return configs, nil
}

// noted prints what could not be recorded beside a change or a refusal. The JSON log holds no address and no path.
func (a *app) noted(problem string) {
	if a.logger != nil {
		a.logger.Error("what belongs to a change could not be kept: its writer, the record of a refusal, or an anchor")
		return
	}
	a.errorf("%s", problem)
}

// narrowed reports whether --store leaves out stores, or --open those of the configuration. Beside --open nothing is
// discovered, so what discovery would find counts as nobody's.
func (a *app) narrowed(s *operator.Session) bool {
	return len(a.flags.stores) > 0 || len(a.flags.open) > 0 && len(s.Config.Stores) > 0
}

// stores opens the fleet and demands at least one store.
func (a *app) stores(ctx context.Context) (*operator.Session, error) {
	s, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case len(s.Fleet.Members()) > 0:
		return s, nil
	case len(a.only) == 0:
		return nil, noStore(s.Config.File)
	}
	_, err = a.openStore(a.only[0])
	return nil, err
}

// onlyStore opens the one store of a command; which says in the error of several what it is for.
func (a *app) onlyStore(ctx context.Context, which string) (*operator.Session, model.Store, error) {
	s, err := a.stores(ctx)
	if err != nil {
		return nil, model.Store{}, err
	}
	members := s.Fleet.Members()
	if len(members) != 1 {
		return nil, model.Store{}, usage("there are %d stores: name %s with --store", len(members), which)
	}
	a.only = []string{members[0].Name} // an error from here on is of this store
	store, err := a.openStore(members[0].Name)
	return s, store, err
}

func noStore(file string) error {
	if file != "" {
		return usage("no store: %s has no [[store]] block, and none was found. Take the # away from a block there, give --open KIND=LOCATION, or try `memdesk demo`", file)
	}
	return usage("no store: none is configured and none was found. Give --open KIND=LOCATION, write a configuration (`memdesk config init`), or try `memdesk demo`")
}

// at finds the store that a reference names.
func (a *app) at(ctx context.Context, text string) (s *operator.Session, store model.Store, ref model.Ref, err error) {
	if ref, err = model.ParseRef(text); err == nil {
		s, store, err = a.named(ctx, ref.Store)
	}
	return s, store, ref, err
}

// named opens the store of this name, and no other one unless it is open already.
func (a *app) named(ctx context.Context, name string) (*operator.Session, model.Store, error) {
	a.need(name)
	s, err := a.stores(ctx)
	if err != nil {
		return nil, model.Store{}, err
	}
	store, err := a.openStore(name)
	return s, store, err
}

// command is the function of a cobra command.
type command = func(cmd *cobra.Command, args []string) error

// onBase runs a command that needs no store.
func (a *app) onBase(do func(ctx context.Context, s *operator.Session, args []string) error) command {
	return func(cmd *cobra.Command, args []string) error {
		s, err := a.base()
		if err != nil {
			return err
		}
		return do(cmd.Context(), s, args)
	}
}

// onStores runs a command over the open stores, at least one.
func (a *app) onStores(do func(ctx context.Context, s *operator.Session, args []string) error) command {
	return a.onBase(func(ctx context.Context, s *operator.Session, args []string) error {
		if _, err := a.stores(ctx); err != nil {
			return err
		}
		return do(ctx, s, args)
	})
}

// onItem runs a command on the item that the first argument names.
func (a *app) onItem(do func(ctx context.Context, s *operator.Session, store model.Store, ref model.Ref) error) command {
	return func(cmd *cobra.Command, args []string) error {
		s, store, ref, err := a.at(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return do(cmd.Context(), s, store, ref)
	}
}

// need limits the stores that will open to those needed. Once the stores are open it does nothing.
func (a *app) need(store string) {
	if a.session == nil || a.session.Fleet == nil {
		a.only = append(a.only, store)
	}
}

// openStore finds a store by name. A store that could not be opened is exit code 1.
func (a *app) openStore(name string) (model.Store, error) {
	for _, m := range a.session.Fleet.Members() {
		switch {
		case m.Name != name:
		case m.Err != nil:
			return model.Store{}, &exitError{exitFailed, m.Err}
		default:
			return m.Store, nil
		}
	}
	if all, err := a.allConfigs(a.session); err == nil && slices.ContainsFunc(all, func(c backends.StoreConfig) bool { return c.Name == name }) {
		return model.Store{}, usage("--store leaves out %s", name)
	}
	return model.Store{}, a.noStoreNamed(a.session, name)
}

// progress prints the progress of long work on standard error from its first second on: on a terminal in one
// line that it overwrites, elsewhere in a line every few seconds. end removes the line.
func (a *app) progress() (told func(string), end func()) {
	const firstAfter, lineEvery = time.Second, 5
	var now atomic.Pointer[string]
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
			switch line := now.Load(); {
			case line == nil:
			case over:
				_, _ = io.WriteString(a.Stderr, "\r\x1b[K"+a.text.Line(*line).String())
			case n%lineEvery == 0:
				a.sayf("%s", *line)
			}
		}
	}()
	return func(line string) { now.Store(&line) }, func() {
		close(stop)
		<-stopped
	}
}

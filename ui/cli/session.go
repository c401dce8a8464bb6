package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/gdpr/receipt"
	"memdesk/internal/statedir"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/ui/sshd"
	"memdesk/undo"
)

// session holds the stores, the audit log and the undo store of one command.
type session struct {
	cfg   backends.Config
	state string     // state directory, empty when there is no place for one
	log   *audit.Log // nil when there is no place for one
	undo  *undo.Keeper
	fleet *backends.Fleet
	// What is known of writers; nil when there is no place for it.
	ledger *origin.Ledger
	shelf  *origin.Shelf
	trace  *origin.Trace
	paths  *origin.Paths
	who    audit.Actor
	// unknown lists the places that discovery found and this version has no backend for.
	unknown []backends.StoreConfig
	reader  bool // the operator may only look
}

// base opens what is needed without any store: configuration, log and undo.
func (a *app) base() (*session, error) {
	if a.session != nil {
		return a.session, nil
	}
	// --open replaces the stores of the configuration only: who may change what
	// still holds.
	path, explicit := backends.ConfigPath(a.flags.config, a.Env)
	cfg, err := backends.LoadConfig(a.Kinds, path, explicit, a.Env)
	if err != nil {
		return nil, err
	}
	s := &session{cfg: cfg}
	s.who = audit.IdentifyOperator(a.Env, a.User, a.TTY)
	if a.visitor != nil {
		s.who = a.visitor.Operator
	}
	if a.caller != "" {
		s.who = audit.Actor{ID: "agent " + a.caller}
	}
	s.who = s.who.Named(cfg.Operator.Names)
	s.reader = slices.ContainsFunc(cfg.Operator.Readers, func(r string) bool {
		return r != "" && (r == s.who.ID || r == s.who.Key)
	})
	if s.state, err = statedir.Path(a.Env); err != nil {
		s.undo = undo.New("", 0, a.Clock, func() error { return err })
		a.session = s
		return s, nil // reading needs no state
	}
	s.origins()
	s.log, err = audit.Open(audit.Options{
		Dir: filepath.Join(s.state, "audit"), Clock: a.Clock, Tool: "memdesk " + a.Version,
		Actor: s.who, Role: s.role(a), Session: a.TTY, SegmentBytes: cfg.Audit.SegmentBytes, Traces: s.traces, Marks: s.marks,
	})
	if err != nil {
		return nil, err
	}
	s.undo = undo.New(filepath.Join(s.state, "undo"), time.Duration(cfg.Undo.Keep), a.Clock,
		func() error { return statedir.Ensure(s.state) })
	a.session = s
	return s, nil
}

// traces says what stands in the state directory that only changes leave, for a desk whose
// audit log is not there; empty for a new one.
func (s *session) traces() string {
	var found []string
	for _, sub := range []struct{ dir, what string }{{"requests", "erasure requests"}, {"receipts", "receipts of erasures"}} {
		if names, err := os.ReadDir(filepath.Join(s.state, "gdpr", sub.dir)); err == nil && len(names) > 0 {
			found = append(found, sub.what)
		}
	}
	entries, _, err := s.undo.List()
	if err == nil && slices.ContainsFunc(entries, func(e undo.Entry) bool { return e.After != "" }) {
		found = append(found, "undo entries of changes that were made")
	}
	if len(found) == 0 {
		return ""
	}
	return "the state directory holds " + strings.Join(found, ", ")
}

// marks are what the receipts say about how far the audit log had come. One that cannot be
// read says nothing; `gdpr verify` finds it.
func (s *session) marks() []audit.Mark {
	dir := filepath.Join(s.state, "gdpr", "receipts")
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []audit.Mark
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			continue
		}
		rec, _, err := receipt.Read(b, "")
		at, terr := time.Parse(time.RFC3339, rec.Finished)
		if err == nil && terr == nil && rec.LogHead.Seq > 0 {
			out = append(out, audit.Mark{What: "the receipt of request " + rec.Request, Seq: rec.LogHead.Seq, Hash: rec.LogHead.Hash, At: at})
		}
	}
	return out
}

func (s *session) role(a *app) string {
	if s.reader || a.visitor != nil && a.visitor.Role != sshd.Operator {
		return "reader"
	}
	return "operator"
}

// unwritable says why nothing may be changed in this session, empty when it may.
func (s *session) unwritable(a *app) string {
	switch {
	case a.flags.readOnly:
		return "--read-only was given"
	case s.reader:
		return "the configuration makes this operator a reader"
	case a.visitor != nil && a.visitor.Role != sshd.Operator:
		return "this key may only look"
	}
	if s.state == "" {
		return statedir.ErrNoHome.Error()
	}
	if err := statedir.Check(s.state); err != nil {
		return "no change without an audit log: " + err.Error()
	}
	if err := s.log.Writable(); err != nil {
		return "no change without an audit log: " + err.Error()
	}
	return ""
}

// open opens the stores that the flags, the configuration or discovery name.
func (a *app) open(ctx context.Context) (*session, error) {
	s, err := a.base()
	if err != nil {
		return nil, err
	}
	if s.fleet != nil {
		return s, nil
	}
	configs, err := a.storeConfigs(s)
	if err != nil {
		return nil, err
	}
	policy := backends.Policy{ReadOnly: s.unwritable(a), Timeout: a.flags.timeout}
	if s.log != nil {
		policy.Audit = audit.Middleware(s.log)
	}
	if s.state != "" {
		desk := s.desk(a)
		policy.Gate = desk.Gate()
		s.undo.Heed(desk.Suppressed().Judge)
		policy.Origin = origin.Gate(origin.Rules{Ledger: s.ledger, Shelf: s.shelf, Clock: a.Clock, Default: a.writer(s),
			Names: desk.Suppressed().Names, ReviewAll: s.cfg.Door.Untrusted == "review", Note: func(problem string) { a.sayf("%s", problem) }})
		if a.caller == "" { // what is held is for operators only
			policy.Extend = s.shelf.Attach
		}
	}
	s.fleet = backends.Open(ctx, a.Kinds, configs, backends.Env{Clock: a.Clock, Getenv: a.Env}, policy)
	return s, nil
}

// storeConfigs are the blocks to open. What discovery found and this version
// cannot open is noted in the session and counts nowhere else.
func (a *app) storeConfigs(s *session) ([]backends.StoreConfig, error) {
	var configs []backends.StoreConfig
	switch {
	case len(a.flags.open) > 0:
		var err error
		if configs, err = backends.ParseOpen(a.Kinds, a.flags.open, a.Dir, a.Env); err != nil {
			return nil, err
		}
	case len(s.cfg.Stores) > 0:
		configs = s.cfg.Stores
	default:
		for _, c := range backends.Discover(a.Dir, a.Env) {
			if _, known := a.Kinds.Kind(c.Kind); known {
				configs = append(configs, c)
			} else {
				s.unknown = append(s.unknown, c)
			}
		}
	}
	if len(a.only) > 0 {
		configs = slices.DeleteFunc(slices.Clone(configs), func(c backends.StoreConfig) bool { return !slices.Contains(a.only, c.Name) })
	}
	if len(a.flags.stores) == 0 {
		return configs, nil
	}
	var chosen []backends.StoreConfig
	for _, name := range a.flags.stores {
		found := false
		for _, c := range configs {
			if c.Name == name {
				chosen, found = append(chosen, c), true
			}
		}
		if !found {
			return nil, &exitError{exitUsage, model.Errorf(model.InvalidInput, "store", "no store is named %q", name)}
		}
	}
	return chosen, nil
}

// stores opens the fleet and demands at least one store.
func (a *app) stores(ctx context.Context) (*session, error) {
	s, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	if len(s.fleet.Members()) == 0 && len(a.only) > 0 {
		return nil, usage("no store is named %s", strings.Join(a.only, " or "))
	}
	if len(s.fleet.Members()) == 0 {
		return nil, noStore()
	}
	return s, nil
}

func noStore() error {
	return usage("no store: none is configured and none was found. Give --open KIND=LOCATION, write a configuration (`memdesk config init`), or try `memdesk demo`")
}

// at finds the store that a reference names.
func (a *app) at(ctx context.Context, text string) (*session, model.Store, model.Ref, error) {
	ref, err := model.ParseRef(text)
	if err != nil {
		return nil, model.Store{}, model.Ref{}, err
	}
	a.need(ref.Store)
	s, err := a.stores(ctx)
	if err != nil {
		return nil, model.Store{}, model.Ref{}, err
	}
	store, err := a.openStore(ref.Store)
	return s, store, ref, err
}

// need adds a store to those that will be opened: nobody waits for stores that are
// not asked. Once the stores are open it changes nothing.
func (a *app) need(store string) {
	if a.session == nil || a.session.fleet == nil {
		a.only = append(a.only, store)
	}
}

// openStore finds a store by name. One that could not be opened is a failure of
// its own, whatever the reason: never "not found", which speaks of an item.
func (a *app) openStore(name string) (model.Store, error) {
	for _, m := range a.session.fleet.Members() {
		switch {
		case m.Name == name && m.Err != nil:
			return model.Store{}, &exitError{exitFailed, m.Err}
		case m.Name == name:
			return m.Store, nil
		}
	}
	_, err := a.session.fleet.Store(name)
	return model.Store{}, &exitError{exitUsage, err}
}

// mayChange refuses what changes anything at all, for the commands that do not
// go through a store's own layers.
func (a *app) mayChange(s *session, op string) error {
	if why := s.unwritable(a); why != "" {
		return model.Refuse(op, why)
	}
	return nil
}

func (s *session) close() error {
	if s.fleet == nil {
		return nil
	}
	return s.fleet.Close()
}

// origins opens what is known of writers.
func (s *session) origins() {
	ready := func() error { return statedir.Ensure(s.state) }
	dir := filepath.Join(s.state, "origin")
	s.ledger, s.trace, s.paths = origin.OpenLedger(dir, ready), origin.OpenTrace(dir, ready), origin.OpenPaths(dir, ready)
	s.shelf = origin.OpenShelf(filepath.Join(s.state, "held"), ready)
}

// writer is who writes when a change names nobody: the operator, or the agent of a
// served store.
func (a *app) writer(s *session) origin.Writer {
	w := origin.Writer{Actor: s.who.ID, Client: "memdesk", Version: a.Version, Session: origin.Clip(a.TTY), Face: "cli",
		Channel: origin.User, Trust: origin.Trusted}
	switch {
	case a.caller != "":
		w = origin.Writer{Actor: s.who.ID, Session: origin.Clip(a.TTY), Face: "provider", Channel: origin.Unknown, Trust: origin.Untrusted}
	case a.visitor != nil:
		w.Face = "console"
	}
	return w
}

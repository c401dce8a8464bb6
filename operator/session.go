package operator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/conflict"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/gdpr/suppress"
	"memdesk/internal/atomicfile"
	"memdesk/internal/clock"
	"memdesk/internal/statedir"
	"memdesk/jobs"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/quarantine/review"
	"memdesk/undo"
)

// Options configure a session.
type Options struct {
	Config  backends.Config
	Kinds   *backends.Registry
	Env     func(string) string
	Dir     string // working directory, from which relative paths are read
	Clock   clock.Clock
	Version string
	Who     audit.Actor // from the door; names of the configuration are added
	TTY     string      // names the terminal in the log
	// Door is how the operator or agent comes in.
	Door Door
	// ReadOnly: --read-only was given. Looker: the door lets this key only read.
	ReadOnly, Looker bool
	// SearchOnly: this session only recalls over every tier (backends.Env).
	SearchOnly bool
	// Beside is another session of this process with the same state: concurrent records are flushed together.
	// nil: none.
	Beside *Session
	// Note hears errors of recording a change's origin; nil drops them.
	Note func(problem string)
}

// Door is the entrance of an operator or agent.
type Door string

// The doors.
const (
	CommandLine Door = "cli"
	Console     Door = "console"       // also linear mode
	Visit       Door = "visit"         // the console over SSH, by a server of this program
	Agents      Door = origin.Contract // HTTP or MCP: Who is an agent
)

// Session is one operator, or agent, at work. Without a state directory a session only reads, and the parts
// that live there are nil. It is safe for concurrent use once Open has returned.
type Session struct {
	Options
	State  string     // state directory, empty without
	Log    *audit.Log // nil without
	Undo   *undo.Keeper
	Fleet  *backends.Fleet // nil before Open
	Ledger *origin.Ledger
	Shelf  *origin.Shelf
	Trace  *origin.Trace
	Paths  *origin.Paths
	Judge  *review.Judge // of planted memories

	roles  []Role   // at least one
	reader bool     // by the configuration
	policy string   // hash of the rights of all; empty without such configuration
	told   sync.Map // reads whose refusal is recorded
	mu     sync.Mutex
	noted  bool // the policy is recorded
	desk   *gdpr.Desk
}

// New opens log and undo, and no store.
func New(o Options) (*Session, error) {
	s := &Session{Options: o}
	s.Who = o.Who.Named(o.Config.Operator.Names)
	s.reader = slices.ContainsFunc(o.Config.Operator.Readers, func(r string) bool {
		return r != "" && (s.Who.Is(r) || r == s.Who.Key)
	})
	s.roles, s.policy = s.grantedRoles(), policyHash(o.Config.Operator)
	var err error
	if s.State, err = statedir.Path(o.Env); err != nil {
		s.Undo = undo.New("", 0, o.Clock, func() error { return err })
		return s, nil // reads need no state
	}
	ready := func() error { return statedir.Ensure(s.State) }
	notes := filepath.Join(s.State, "origin")
	s.Ledger, s.Trace, s.Paths = origin.OpenLedger(notes, ready), origin.OpenTrace(notes, ready), origin.OpenPaths(notes, ready)
	s.Judge, err = review.NewJudge(review.JudgeOptions{Model: o.Config.Scanner.Model, Command: o.Config.Scanner.Command,
		Dir: filepath.Join(s.State, "scanner"), Ready: func() error { return errors.Join(ready(), os.MkdirAll(filepath.Join(s.State, "scanner"), 0o700)) }})
	if err != nil {
		return nil, model.Errorf(model.InvalidInput, "config", "%s: scanner.model: %w", o.Config.File, err)
	}
	s.Shelf = origin.OpenShelf(filepath.Join(s.State, "held"), ready)
	var beside *audit.Log
	if o.Beside != nil && o.Beside.State == s.State {
		beside = o.Beside.Log
	}
	var erased *suppress.List
	s.Log, err = audit.Open(audit.Options{
		Beside: beside, Names: func(texts ...string) (bool, error) { return erased.Names(texts...) },
		Dir: filepath.Join(s.State, "audit"), Clock: o.Clock, Tool: s.tool(),
		Actor: s.Who, Role: s.Role(), Session: o.TTY, SegmentBytes: o.Config.Audit.SegmentBytes, Traces: s.traces, Marks: s.marks,
		Permit:  func() error { return statedir.Barred(s.State) },
		Anchors: anchors(o.Config.Audit.Anchors), CheckpointEvery: uint64(o.Config.Audit.CheckpointEvery), AnchorEvery: time.Duration(o.Config.Audit.AnchorEvery),
		KeyAgent: o.Config.Audit.KeyAgent, KeyCommand: o.Config.Audit.KeyCommand, AgentSocket: o.Env("SSH_AUTH_SOCK"),
	})
	if err != nil {
		return nil, model.E(model.InvalidInput, "config", err)
	}
	s.Undo = undo.New(filepath.Join(s.State, "undo"), time.Duration(o.Config.Undo.Keep), o.Clock, ready)
	s.desk = s.newDesk(ready)
	erased = s.desk.Suppressed()
	return s, nil
}

// Unwritable says why nothing may be changed in this session; empty when changes are allowed.
func (s *Session) Unwritable() string { return s.forbidden(func(r rule) bool { return !r.readers }) }

// storesClosed says why the stores are opened read-only; empty when they are not.
func (s *Session) storesClosed() string { return s.forbidden(func(r rule) bool { return r.changes }) }

// forbidden says why no act that f accepts is possible here; empty when one is.
func (s *Session) forbidden(f func(rule) bool) string {
	if why := s.lookOnly(); why != "" {
		return why
	}
	for act, r := range rules {
		if f(r) && s.has(act) {
			return s.unlogged()
		}
	}
	return "the role " + s.Role() + " changes nothing"
}

// unlogged says why nothing can be recorded; empty when it can: no record, no act.
func (s *Session) unlogged() string {
	if s.State == "" {
		return statedir.ErrNoHome.Error()
	}
	if err := statedir.Check(s.State); err != nil {
		return "no change without an audit log: " + err.Error()
	}
	err := s.Log.Writable()
	if err == nil {
		return ""
	}
	why := "no change without an audit log: " + err.Error()
	if errors.Is(err, audit.ErrTampered) {
		why += "; `memdesk audit verify` says more"
	}
	return why
}

// lookOnly says why this operator only reads, whatever the role.
func (s *Session) lookOnly() string {
	switch {
	case s.ReadOnly:
		return "--read-only was given"
	case s.reader:
		return "the configuration makes this operator a reader"
	case s.Looker && s.Door != Visit:
		return "MEMDESK_ROLE=readonly: this session may only look"
	case s.Looker:
		return "this key may only look"
	}
	return ""
}

// Open opens stores behind the session's policy: log, role, gate, origin, deadline. timeout 0 keeps the
// stores' own.
func (s *Session) Open(ctx context.Context, stores []backends.StoreConfig, timeout time.Duration) {
	policy := backends.Policy{ReadOnly: s.storesClosed(), Timeout: timeout, Role: s.byRole}
	if s.Log != nil {
		policy.Audit = audit.Middleware(s.Log)
	}
	if s.State != "" {
		policy.Gate = s.desk.Gate()
		s.Undo.Heed(s.desk.Suppressed().Judge)
		s.Paths.Record = func(ctx context.Context, store, id string, rename func(context.Context) error) error {
			return s.recorded(ctx, "rename", store, id, "", rename)
		}
		s.Trace.Names, s.Paths.Names = s.desk.Suppressed().Names, s.desk.Suppressed().Names
		policy.Origin = origin.Gate(origin.Rules{Ledger: s.Ledger, Shelf: s.Shelf, Clock: s.Clock, Default: s.Writer(),
			Names: s.desk.Suppressed().Names, ReviewAll: s.Config.Door.Untrusted == "review", Suspect: s.Judge.Suspect, Note: s.note})
		if s.Door != Agents { // held content is for operators only
			policy.Extend = s.Shelf.Attach
		}
	}
	kept := func(kind, path string) []string {
		if s.State == "" {
			return nil
		}
		where := model.Store{Kind: kind, Location: path}.Identity()
		return append(s.Undo.Kept(where), s.desk.PlannedIn(where)...)
	}
	s.Fleet = backends.Open(ctx, s.Kinds, stores, backends.Env{Clock: s.Clock, Getenv: s.Env, SearchOnly: s.SearchOnly, Kept: kept}, policy)
}

func (s *Session) note(problem string) {
	if s.Note != nil {
		s.Note(problem)
	}
}

// anchors are the configured places that keep the log's checkpoints.
func anchors(configured []backends.AnchorConfig) []audit.Anchor {
	var out []audit.Anchor
	for _, c := range configured {
		out = append(out, audit.Anchor(c))
	}
	return out
}

// Close signs the log's head and gives it to the anchors, then closes the stores. A failed anchor is
// reported, also by Health, and the next session retries it.
func (s *Session) Close() error {
	if s.Log != nil {
		if err := s.Log.Close(context.Background()); err != nil {
			s.note("the audit log's head is not anchored everywhere: " + err.Error())
		}
	}
	if s.Fleet == nil {
		return nil
	}
	return s.Fleet.Close()
}

// Writer is the writer of a change that names none: the operator, or the agent of a served store. The contract has no
// field for a source: a token whose user is trusted writes as that user. Writes over the contract are reviewed only
// where the configuration wants all untrusted ones reviewed: a desk afar works through it too.
func (s *Session) Writer() origin.Writer {
	if s.Door == Agents {
		name := strings.TrimPrefix(s.Who.ID, Agent("").ID) // of the token (AD16)
		w := origin.Writer{Actor: name, Session: origin.Clip(s.TTY), Face: string(s.Door), Channel: origin.Unknown, Trust: origin.Untrusted,
			Agent: s.Config.Door.Untrusted == "review"}
		if slices.Contains(s.Config.Door.Trust[name], origin.User) {
			w.Channel, w.Trust = origin.User, origin.Trusted
		}
		return w
	}
	face := CommandLine
	if s.Door == Visit {
		face = Console
	}
	return origin.Writer{Actor: s.Who.ID, Client: "memdesk", Version: s.Version, Session: origin.Clip(s.TTY), Face: string(face),
		Channel: origin.User, Trust: origin.Trusted}
}

// Jobs opens the journal of long work. The caller closes it.
func (s *Session) Jobs() (*jobs.Runner, error) {
	if s.State == "" {
		return nil, statedir.ErrNoHome
	}
	return jobs.Open(jobs.Options{Dir: filepath.Join(s.State, "jobs"), Clock: s.Clock})
}

// ConflictOptions are the settings that every search for conflicts needs.
func (s *Session) ConflictOptions() conflict.Options {
	opt := conflict.Options{Hosts: slices.Clone(s.Config.Conflict.Hosts)}
	if h, err := os.Hostname(); err == nil { // without it one host name is unknown, nothing else
		opt.Hosts = append(opt.Hosts, h)
	}
	return opt
}

func (s *Session) newDesk(ready func() error) *gdpr.Desk {
	c := s.Config.GDPR
	subject.UsePDFText(c.PDFToText)
	policy := gdpr.Policy{MaxShare: c.MaxShare, RequireApproval: c.RequireApproval, Approval: c.Approval, Approvers: c.Approvers,
		Names: s.Config.Operator.Names, ApprovalValid: time.Duration(c.ApprovalValid), KeepClosed: time.Duration(c.KeepClosed)}
	for _, b := range s.Config.Backups {
		policy.Backups = append(policy.Backups, gdpr.Backup{Store: b.Store, Where: b.Where, ExpiresAfter: time.Duration(b.ExpiresAfter), RestoreGuard: b.RestoreGuard})
	}
	for _, r := range s.Config.Recipients {
		policy.Recipients = append(policy.Recipients, gdpr.Recipient(r))
	}
	return &gdpr.Desk{
		State: s.State, Clock: s.Clock, Log: s.Log, Undo: s.Undo, Traces: []gdpr.Trace{s.Ledger, s.Shelf, s.Trace, s.Paths},
		Operator: gdpr.Operator{ID: s.Who.ID, Key: s.Who.Key}, Policy: policy, Ensure: ready,
	}
}

// traces names content of the state directory that only changes leave, for a desk whose audit log is missing;
// empty for a new one.
func (s *Session) traces() string {
	var found []string
	for _, sub := range []struct{ dir, what string }{{"requests", "erasure requests"}, {"receipts", "receipts of erasures"}} {
		if names, err := os.ReadDir(filepath.Join(s.State, "gdpr", sub.dir)); err == nil && len(names) > 0 {
			found = append(found, sub.what)
		}
	}
	entries, _, err := s.Undo.List()
	if err == nil && slices.ContainsFunc(entries, func(e undo.Entry) bool { return e.After != "" }) {
		found = append(found, "undo entries of changes that were made")
	}
	if len(found) == 0 {
		return ""
	}
	return "the state directory holds " + strings.Join(found, ", ")
}

// marks are the heads of the audit log that the receipts record. An unreadable receipt is left out; `gdpr
// verify` finds it.
func (s *Session) marks() []audit.Mark {
	dir := filepath.Join(s.State, "gdpr", "receipts")
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []audit.Mark
	for _, f := range files {
		b, err := atomicfile.ReadFile(filepath.Join(dir, f.Name()))
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

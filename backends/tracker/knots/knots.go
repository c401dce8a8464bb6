// Package knots opens a .knots directory through the kno command, the only door that Knots has. Every answer
// is kno's JSON; its human output and its database are never read. The ids of knots that kno does not list
// come from the index events that Knots keeps as files.
package knots

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"memdesk/backends/tracker"
	"memdesk/backends/tracker/command"
	"memdesk/internal/clock"
	"memdesk/model"
)

// install is the advice for a missing command.
const install = "install Knots (https://github.com/acartine/knots) or set command to the path of kno"

// Config configures Open.
type Config struct {
	Name     string
	Path     string // a repository, or its .knots directory
	Command  string // the kno command; empty: kno
	DB       string // empty: .knots/cache/state.sqlite
	Timeout  time.Duration
	ReadOnly bool
	Clock    clock.Clock
	// Pause waits before a read is retried; nil sleeps.
	Pause func(ctx context.Context, d time.Duration) error
}

// Open opens the store. It creates nothing.
func Open(ctx context.Context, c Config) (model.Store, error) {
	b, err := NewBackend(c)
	if err != nil {
		return model.Store{}, err
	}
	v, err := b.view(ctx)
	if err != nil {
		return model.Store{}, err
	}
	states := States()
	for _, t := range v.Tiers() {
		if !slices.Contains(states, t) && !slices.Contains(leases(), t) {
			states = append(states, t)
		}
	}
	store := tracker.Adapt(tracker.Config{
		Name: c.Name, Kind: "knots", Location: c.Path, Backend: b, Capabilities: tracker.PresetKnots, Statuses: states, DefaultStatus: states[0],
		ClosedStatus: closed, Hidden: leases(), ReadOnly: c.ReadOnly, Clock: c.Clock,
		Notes: []string{
			"this is Knots through the kno command; a write is an event that Knots keeps",
			"a knot of kno's warm or cold tier is listed by its title; reading it makes kno take it into its cache",
		},
		Deviations: []model.Deviation{
			{Rule: "R30", Reason: "kno has no delete: an item can be closed (its state becomes shipped), and its text edited"},
			{Rule: "D1", Reason: "kno makes every id itself: a new item cannot be given one"},
		},
	})
	store.Place, store.Files = b.tail.dir, []string{b.tail.dir} // kno says not which of its files it writes
	return store, nil
}

// States are the states of the published workflow, in the order of a life
// (beads-foolery-knots.md, kno).
func States() []string {
	var out []string
	for _, s := range []string{"planning", "plan_review", "exploration", "implementation", "implementation_review", "shipment", "shipment_review"} {
		out = append(out, "ready_for_"+s, s)
	}
	return append(out, "ready_to_evaluate", "evaluating", "deferred", "blocked", "abandoned", closed)
}

// closed is the state that close sets.
const closed = "shipped"

// leases are the states of leases, which are no work.
func leases() []string { return []string{"lease_ready", "lease_active", "lease_terminated"} }

// forced reports whether kno accepts a transition only with --force, which memdesk then uses: to the end
// where the workflow has no way there, and back from an end.
func forced(from, to string) bool {
	if to == closed {
		return !slices.Contains([]string{"shipment_review", "evaluating", "exploration"}, from)
	}
	return tracker.Terminal(from) && to != "deferred" && to != "abandoned"
}

// Backend is kno in one repository.
type Backend struct {
	kno  *command.Program
	tail *tail
	last atomic.Pointer[view]
}

// NewBackend finds the repository and the command.
func NewBackend(c Config) (*Backend, error) {
	repo := c.Path
	if filepath.Base(repo) == ".knots" {
		repo = filepath.Dir(repo)
	}
	info, err := os.Stat(filepath.Join(repo, ".knots"))
	if err != nil || !info.IsDir() {
		return nil, model.Errorf(model.NotFound, "open", "%q holds no .knots directory", filepath.Base(repo))
	}
	db := cmp.Or(c.DB, filepath.Join(repo, ".knots", "cache", "state.sqlite"))
	patience, err := patienceOf(c)
	if err != nil {
		return nil, err
	}
	p := command.New(command.Program{
		Name: cmp.Or(c.Command, "kno"), Install: install, Dir: repo, Timeout: patience, Pause: c.Pause, Fixed: []string{"--repo-root", repo, "--db", db},
	})
	if _, err := p.Find(); err != nil {
		return nil, err
	}
	return &Backend{kno: p, tail: &tail{dir: filepath.Join(repo, ".knots")}}, nil
}

// EnvTimeout sets how long one call may take, in milliseconds.
const EnvTimeout = "FOOLERY_KNOTS_COMMAND_TIMEOUT_MS"

// mostPatience bounds the variable's value.
const mostPatience = 10 * time.Minute

// patienceOf is the configured time, else the variable's; zero means the default.
func patienceOf(c Config) (time.Duration, error) {
	v := os.Getenv(EnvTimeout)
	if c.Timeout != 0 || v == "" {
		return c.Timeout, nil
	}
	ms, err := strconv.ParseInt(v, 10, 64)
	if err != nil || ms <= 0 || ms > mostPatience.Milliseconds() {
		return 0, model.Errorf(model.InvalidInput, "open", "%s is a number of milliseconds from 1 to %d", EnvTimeout, mostPatience.Milliseconds())
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// Close releases nothing.
func (b *Backend) Close() error { return nil }

// Ping checks that the command exists.
func (b *Backend) Ping(ctx context.Context) error { return b.kno.Ping(ctx) }

// view is kno's list, with the command for the edges of single items and for knots of which only the head is
// known.
type view struct {
	*tracker.Static
	b     *Backend
	stubs map[string]bool
}

// View returns every knot, closed ones and leases included: those of kno's hot tier whole, those of its warm
// and cold tiers as heads.
func (b *Backend) View(ctx context.Context) (tracker.View, error) { return b.view(ctx) }

func (b *Backend) view(ctx context.Context) (*view, error) {
	var raw []json.RawMessage
	if err := b.kno.Read(ctx, "read", &raw, "ls", "--all", "--json"); err != nil {
		return nil, err
	}
	var entries []tracker.Entry
	var problems []string
	hot := map[string]bool{}
	for n, r := range raw {
		e, err := entryOf(r)
		if err != nil {
			problems = append(problems, "kno's item number "+strconv.Itoa(n+1)+" has no id")
			continue
		}
		hot[e.Record.ID] = true
		entries = append(entries, e)
	}
	heads, unread, err := b.heads(ctx, hot)
	if err != nil {
		return nil, err
	}
	problems = append(problems, unread...)
	stubs := map[string]bool{}
	for _, h := range heads {
		stubs[h.ID] = true
		entries = append(entries, h.entry())
	}
	v := &view{tracker.NewStatic(entries, problems), b, stubs}
	b.last.Store(v)
	return v, nil
}

// Unread implements tracker.Skipper, of the last list.
func (b *Backend) Unread() []string {
	if v := b.last.Load(); v != nil {
		return v.Problems(true)
	}
	return nil
}

// Stubs counts the entries known only by id, title and state.
func (v *view) Stubs() int { return len(v.stubs) }

// Whole returns an entry with its text and blockers. kno moves a knot of its warm or cold tier into its cache
// when asked for it.
func (v *view) Whole(ctx context.Context, i int) (tracker.Record, error) {
	r := v.Record(i)
	if v.stubs[r.ID] {
		var raw json.RawMessage
		if err := v.b.kno.Read(ctx, "read", &raw, "rehydrate", "--json", "--", r.ID); err != nil {
			return r, err
		}
		e, err := entryOf(raw)
		if err != nil || e.Record.ID != r.ID {
			return r, model.Errorf(model.Internal, "read", "kno answers something else than the knot %q", r.ID)
		}
		r = tracker.NewStatic([]tracker.Entry{e}, nil).Record(0)
	}
	pairs, err := v.Of(ctx, r.ID)
	if err != nil {
		return r, err
	}
	var blockers []string
	for _, d := range pairs {
		if d.Blocked == r.ID && d.Kind == "blocks" {
			blockers = append(blockers, d.Blocker)
		}
	}
	slices.Sort(blockers)
	return r.With(tracker.FieldDepends, tracker.JoinNames(blockers)), nil
}

// edge is a relation in kno's form.
type edge struct {
	Src  string `json:"src"`
	Kind string `json:"kind"`
	Dst  string `json:"dst"`
}

// Of asks for the edges of one item. In blocked_by the source is the blocked item, in parent_of the target is the
// child, which is the blocked side of the pair in bd.
func (v *view) Of(ctx context.Context, id string) ([]model.Dependency, error) {
	var edges []edge
	if err := v.b.kno.Read(ctx, "dependencies", &edges, "edge", "list", "--direction=both", "--json", "--", id); err != nil {
		return nil, err
	}
	kinds := map[string]string{"blocked_by": "blocks", "parent_of": "parent-child"}
	var out []model.Dependency
	for _, e := range edges {
		if e.Kind == "parent_of" {
			e.Src, e.Dst = e.Dst, e.Src
		}
		out = append(out, model.Dependency{Blocker: e.Dst, Blocked: e.Src, Kind: cmp.Or(kinds[e.Kind], e.Kind)})
	}
	return out, nil
}

const fieldAcceptance = "acceptance_criteria"

// The members with fields of their own.
var (
	own   = []string{"id", "title", "state", "type", "priority", "tags", "acceptance", "description", "body"}
	times = []string{"created_at", "updated_at"}
)

// entryOf maps a knot to a document. Members without a field of their own are shown read-only, as JSON.
func entryOf(raw json.RawMessage) (tracker.Entry, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return tracker.Entry{}, err
	}
	text := func(name string) (s string) {
		if json.Unmarshal(m[name], &s) != nil {
			return ""
		}
		return s
	}
	id := text("id")
	if id == "" {
		return tracker.Entry{}, model.NotFound
	}
	var tags, aliases []string
	_ = json.Unmarshal(m["tags"], &tags)       // of another type: no tags
	_ = json.Unmarshal(m["aliases"], &aliases) // of another type: no aliases
	body := cmp.Or(text("description"), text("body"))
	priority := ""
	var n int
	if json.Unmarshal(m["priority"], &n) == nil && string(m["priority"]) != "null" {
		priority = strconv.Itoa(n)
	}
	r := tracker.Record{Head: tracker.Head{ID: id, Kind: tracker.Issue, Tier: text("state"), Title: text("title")}, Body: body}
	r.Modified = tracker.Time(text("updated_at"))
	r.Fields = []model.Field{
		{Name: tracker.FieldTitle, Value: text("title")}, {Name: tracker.FieldStatus, Value: text("state")},
		{Name: tracker.FieldType, Value: text("type")}, {Name: tracker.FieldPriority, Value: priority}, {Name: "labels", Value: tracker.JoinNames(tags)},
		{Name: fieldAcceptance, Value: text("acceptance")},
	}
	for _, name := range times {
		r.Fields = append(r.Fields, model.Field{Name: name, Value: text(name), ReadOnly: true})
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if slices.Contains(own, name) || slices.Contains(times, name) || !plain(name) {
			continue
		}
		r.Fields = append(r.Fields, model.Field{Name: name, Value: string(m[name]), ReadOnly: true})
	}
	b := tracker.Bead{
		ID: id, Aliases: aliases, Title: r.Title, Description: body, Acceptance: text("acceptance"), Type: text("type"), State: r.Tier, Status: phase(r.Tier),
		Workflow: text("workflow_id"), Profile: text("profile_id"), Priority: tracker.DefaultPriority, Labels: tags,
		Created: tracker.Time(text("created_at")), Updated: r.Modified,
	}
	if priority != "" {
		b.Priority = n
	}
	b.Normalise()
	return tracker.Entry{Record: r, Bead: b, IsWork: b.Type != "lease" && !slices.Contains(leases(), r.Tier)}, nil
}

// phase is the status for a knot's state: waiting is open, being worked on is in progress.
func phase(state string) string {
	switch {
	case tracker.Terminal(state), state == "lease_terminated":
		return "closed"
	case state == "deferred", state == "blocked":
		return state
	case strings.HasPrefix(state, "ready_"):
		return tracker.DefaultStatus
	}
	return "in_progress"
}

func plain(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
	})
}

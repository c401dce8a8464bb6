package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/kit/prose"
)

func (a *app) storesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "stores [STORE]...", Short: "Configured and discovered stores, what they can do and where they deviate",
		Long: "Lists every store with its items, and the rules of the contract from which it deviates. Of a named STORE it\n" +
			"says all: what it can do, each deviation with its reason, its notes. docs/contract.md has each rule by its\n" +
			"number, docs/capabilities.md the words after can and cannot.",
		RunE: func(cmd *cobra.Command, args []string) error {
			a.flags.stores = append(a.flags.stores, args...)
			s, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			members, t := slices.Clone(s.Fleet.Members()), tally{app: a}
			for _, m := range members {
				t.add(m.Err)
			}
			for _, c := range a.unknown {
				err := model.Errorf(model.Unsupported, "open", "this version has no backend of kind %q", c.Kind)
				members = append(members, backends.Member{Name: c.Name, Kind: c.Kind, Location: c.Path, Origin: c.Origin, Err: err})
			}
			switch {
			case len(members) == 0:
				return noStore(s.Config.File)
			case a.flags.json:
				for _, m := range members {
					a.emit("store", newStoreRow(m))
				}
			case len(args) > 0:
				for _, m := range members {
					a.tellStore(m)
				}
			default:
				a.listStores(cmd.Context(), members)
			}
			return t.result()
		},
	}
}

// listStores prints a line for each store. Their items are counted side by side.
func (a *app) listStores(ctx context.Context, members []backends.Member) {
	rows := mapped(members, newStoreRow)
	var counting sync.WaitGroup
	for i, m := range members {
		r := &rows[i]
		switch r.State, r.Items = "open", "-"; {
		case m.Err != nil:
			r.State = "not open"
			a.errorf("%s: cannot be opened: %s", m.Name, m.Err)
			continue
		case m.Store.ReadOnly:
			r.State = "read-only"
		}
		counting.Go(func() {
			all, problems, err := operator.Tiers(ctx, m.Store)
			switch items, over := operator.Sum(all); {
			case model.KindOf(err) == model.Unsupported: // a store that lists nothing
			case err != nil:
				r.State += ", not counted"
			default:
				if r.Items = number(prose.Group(items)); len(problems) > 0 {
					r.Items += " or more"
				}
				if over > 0 {
					r.State += ", " + prose.Group(over) + " over cap"
				}
			}
		})
	}
	counting.Wait()
	tab := a.table("STORE", "KIND", "STATE", "ITEMS", "DEVIATES", "LOCATION")
	tab.whole = a.columns() == 0 // a path is for copying
	putAll(tab, "store", rows, func(r storeRow) storeRow { return r })
	a.hintf("memdesk stores NAME says all of one")
}

// storeRow is a configured or discovered store.
type storeRow struct {
	Store          string          `json:"store"`
	Kind           string          `json:"kind"`
	Location       string          `json:"location"`
	Origin         string          `json:"origin"`
	Environment    string          `json:"environment"`
	OK             bool            `json:"ok"`
	Error          *string         `json:"error"`
	Capabilities   map[string]bool `json:"capabilities"`
	ReadOnly       *bool           `json:"read_only,omitempty"`
	ReadOnlyReason *string         `json:"read_only_reason,omitempty"`
	Limits         map[string]int  `json:"limits"`
	Deviations     []deviationRow  `json:"deviations"`
	Notes          []string        `json:"notes"`
	State          string          `json:"-" col:"STATE"`
	Items          number          `json:"-" col:"ITEMS"`
	Deviates       dashed          `json:"-" col:"DEVIATES"`
}

type deviationRow struct {
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
}

func newStoreRow(m backends.Member) storeRow {
	r := storeRow{Store: m.Name, Kind: m.Kind, Location: m.Location, Origin: m.Origin, Environment: m.Environment, OK: m.Err == nil,
		Error: errorValue(m.Err), Capabilities: map[string]bool{}, Limits: map[string]int{}, Notes: list(m.Store.Notes),
		Deviations: mapped(m.Store.Deviations, func(d model.Deviation) deviationRow { return deviationRow{d.Rule, d.Reason} })}
	switch rules := mapped(m.Store.Deviations, func(d model.Deviation) string { return model.RuleName(d.Rule) }); {
	case len(rules) > 3:
		r.Deviates = dashed(plural(int64(len(rules)), "rule"))
	default:
		r.Deviates = dashed(strings.Join(rules, " "))
	}
	maps.Copy(r.Limits, m.Store.Limits)
	if m.Err == nil {
		r.Capabilities, r.ReadOnly, r.ReadOnlyReason = m.Store.Capabilities(), &m.Store.ReadOnly, &m.Store.ReadOnlyReason
	}
	return r
}

// tellStore prints all that a store says of itself.
func (a *app) tellStore(m backends.Member) {
	a.wrapf("%s  %s  %s", m.Name, m.Kind, m.Location)
	a.wrapf("    from: %s", m.Origin)
	if m.Err != nil {
		a.wrapf("    cannot be opened: %s", m.Err)
		return
	}
	if m.Store.ReadOnly {
		a.wrapf("    read-only: %s", m.Store.ReadOnlyReason)
	}
	var can, cannot []string
	all := m.Store.Capabilities()
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if all[k] {
			can = append(can, k)
		} else {
			cannot = append(cannot, k)
		}
	}
	a.wrapf("    can: %s", strings.Join(can, ", "))
	if len(cannot) > 0 {
		a.wrapf("    cannot: %s", strings.Join(cannot, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Store.Limits)) {
		if m.Store.Limits[name] > 0 { // 0: there is none
			a.wrapf("    limit: %s %d", name, m.Store.Limits[name])
		}
	}
	for _, d := range operator.Deviations(m.Store) {
		a.wrapf("    deviates from %s: %s", d.Rule, d.Reason)
	}
	for _, n := range m.Store.Notes {
		a.wrapf("    note: %s", n)
	}
}

type createdRow struct {
	Kind     string `json:"kind"`
	Location string `json:"location"`
}

func (a *app) createCommand() *cobra.Command {
	return a.asksUnless(&cobra.Command{
		Use: "create KIND=LOCATION", Short: "Make a new, empty store",
		Long: "Makes a new, empty store of a kind that memdesk keeps itself (sqlite, postgres). Stores of other systems are\nmade by those systems. What exists is never touched.",
		RunE: a.onBase(func(ctx context.Context, s *operator.Session, args []string) error {
			configs, err := backends.ParseOpen(a.Kinds, args, a.Dir, a.Env)
			if err != nil {
				return err
			}
			c := configs[0]
			if err := s.MakeStore(ctx, c); err != nil {
				return err
			}
			where := cmp.Or(c.Path, c.Location)
			a.result("created", createdRow{c.Kind, where}, "%s", where)
			return nil
		}),
	}, "accepted for scripts: nothing is asked, as nothing is replaced")
}

func (a *app) healthCommand() *cobra.Command {
	return a.listing(&cobra.Command{
		Use: "health", Short: "Every provider's health, asked side by side",
		Long: "Asks every store. Without --watch it waits up to ten seconds for slow checks that run for the first time:\n" +
			"exit code 3 where they still run then.",
		RunE: a.onStores(a.health),
	}, true)
}

// probePatience is how long one look at health waits for slow probes that have never ended.
const probePatience = 10 * time.Second

// healthReports asks every store. A single look has no later one that could tell what slow probes find, so it
// asks a store again while these run for the first time, and takes one that they make late for as well as before.
func (a *app) healthReports(ctx context.Context, s *operator.Session) map[string]backends.HealthReport {
	reports := map[string]backends.HealthReport{}
	ask := func(only ...string) (probing []string) {
		for r := range s.Fleet.Health(ctx, only...) {
			if first, again := reports[r.Store]; again {
				if r.Latency = first.Latency; r.Status.State == model.HealthUnknown {
					r = first
				}
			}
			if reports[r.Store] = r; r.Status.Probing {
				probing = append(probing, r.Store)
			}
		}
		return probing
	}
	probing := ask()
	patience, stop := context.WithTimeout(ctx, probePatience)
	defer stop()
	for a.round == nil && len(probing) > 0 && patience.Err() == nil {
		select {
		case <-time.After(100 * time.Millisecond): // a server may answer at once
			probing = ask(probing...)
		case <-patience.Done():
		}
	}
	return reports
}

// health prints the health of every store. A store that does not serve is exit code 1, and one whose slow probes
// have not ended exit code 3.
func (a *app) health(ctx context.Context, s *operator.Session, _ []string) error {
	tab, err := a.listed("STORE", "STATE", "LATENCY", "MESSAGE")
	if err != nil {
		return err
	}
	reports := a.healthReports(ctx, s)
	var down, probing []string
	for _, m := range s.Fleet.Members() {
		r, ok := reports[m.Name]
		if !ok { // the context ended first
			r.Status = model.NewHealth(a.Clock.Now(), model.HealthFinding{Kind: model.FindingTimeout, Message: "not asked: interrupted", State: model.HealthUnknown})
		}
		tab.putHealth(m.Name, r.Status, r.Latency)
		switch {
		case !r.Status.OK:
			down = append(down, m.Name)
		case r.Status.Probing && a.round == nil:
			probing = append(probing, m.Name)
		}
	}
	tab.flush()
	if n := len(s.Fleet.Members()); n > 1 {
		words := fmt.Sprintf("%d of %s up", n-len(down), plural(int64(n), "store"))
		if len(down) > 0 {
			words += "; down: " + strings.Join(down, ", ")
		}
		a.hintf("%s", words)
	}
	a.healthOfLog(ctx, s)
	switch {
	case len(down) > 0:
		return &exitError{code: exitFailed}
	case len(probing) > 0:
		return &exitError{exitPartial, model.Errorf(model.Timeout, "", "not all was looked at: slow checks still run: %s", strings.Join(probing, ", "))}
	}
	return nil
}

// logHealthRow is the health of the audit log, in the form of a store's.
type logHealthRow struct {
	Store     *string           `json:"store"` // null
	OK        bool              `json:"ok"`
	State     model.HealthState `json:"state"`
	Message   string            `json:"message"`
	LatencyMS int               `json:"latency_ms"`
	CheckedAt stamp             `json:"checked_at"`
	Findings  []findingRow      `json:"findings"`
	Seq       uint64            `json:"seq"`
	Taken     int               `json:"taken"`
	Anchors   []anchorRow       `json:"anchors"`
	Alarm     *string           `json:"alarm"`
}

type anchorRow struct {
	Anchor string  `json:"anchor"`
	Seq    uint64  `json:"seq"`
	At     stamp   `json:"at"`
	Error  *string `json:"error"`
	Alarm  *string `json:"alarm"`
}

// healthOfLog prints how much of the audit log is anchored. The log is no store, so it has no row in the
// table.
func (a *app) healthOfLog(ctx context.Context, s *operator.Session) {
	anchored := s.Anchoring(ctx)
	words := anchored.Words(a.Clock.Now())
	if words == "" {
		return
	}
	state := anchored.State()
	each := mapped(anchored.Anchors, func(one audit.Anchored) anchorRow {
		return anchorRow{one.Name(), one.Seq, stamp(one.At), nilIfEmpty(one.Error), nilIfEmpty(one.Alarm)}
	})
	a.emit("audit-log", logHealthRow{OK: state != model.HealthDown, State: state, Message: words, CheckedAt: stamp(a.Clock.Now()), Findings: []findingRow{},
		Seq: anchored.Newest, Taken: anchored.Taken, Anchors: each, Alarm: nilIfEmpty(anchored.Alarm)})
	a.hintf("audit log: %s", words)
}

type healthRow struct {
	Store         string            `json:"store"`
	OK            bool              `json:"ok"`
	State         model.HealthState `json:"state"`
	Message       string            `json:"message"`
	First         string            `json:"-" col:"MESSAGE"` // finding in words
	LatencyMS     float64           `json:"latency_ms"`
	Latency       string            `json:"-" col:"LATENCY"`
	CheckedAt     stamp             `json:"checked_at"`
	DeepCheckedAt stamp             `json:"deep_checked_at"`
	Findings      []findingRow      `json:"findings"`
}

// compared leaves out the numbers and times of one look.
func (h healthRow) compared() string {
	all := fmt.Sprint(h.State, h.OK, h.Message)
	for _, f := range h.Findings {
		f.CheckedAt = stamp{}
		all += fmt.Sprintf("\n%+v", f)
	}
	return all
}

type findingRow struct {
	Kind      string            `json:"kind"`
	ID        string            `json:"id"`
	Ref       string            `json:"ref"` // the id under its older name
	Message   string            `json:"message"`
	State     model.HealthState `json:"state"`
	CheckedAt stamp             `json:"checked_at"`
	Line      int               `json:"line,omitempty"`
	Target    string            `json:"target,omitempty"`
	Lines     int               `json:"lines,omitempty"`
}

// putHealth prints the health of a store. The table has a line for each finding, and names the store once.
func (t *table) putHealth(store string, st model.HealthStatus, latency time.Duration) {
	words, findings, below := "", []findingRow{}, [][]any(nil)
	for i, f := range st.Findings {
		findings = append(findings, findingRow{f.Kind, model.EncodeID(f.Ref), model.EncodeID(f.Ref), f.Message, f.State, stamp(f.CheckedAt), f.Line, f.Target, f.Lines})
		said := f.Message
		if f.Ref != "" && !strings.Contains(said, f.Ref) {
			said = model.TypedID(f.Ref) + ": " + said
		}
		if !f.CheckedAt.Equal(st.CheckedAt) {
			said += ", seen " + when(f.CheckedAt)
		}
		if i == 0 {
			words = said
		} else {
			below = append(below, []any{"", "", "", said})
		}
	}
	ms := float64(latency.Microseconds()) / 1000
	t.put("health", healthRow{Store: store, OK: st.OK, State: st.State, Message: st.Message, First: words, LatencyMS: ms, Latency: strconv.FormatFloat(ms, 'f', 1, 64) + " ms",
		CheckedAt: stamp(st.CheckedAt), DeepCheckedAt: stamp(st.DeepCheckedAt), Findings: findings}, below...)
}

func (a *app) tiersCommand() *cobra.Command {
	return &cobra.Command{
		Use: "tiers", Short: "Tiers with their counts, bytes and caps",
		Long: "Counts everything that the stores hold, archived and bookkeeping items included, as items --all lists it.",
		RunE: a.onStores(func(ctx context.Context, s *operator.Session, args []string) error {
			tab, empty := a.table("STORE", "TIER", "ITEMS", "SIZE", "CAP EACH", "WHAT"), 0
			t := tally{app: a}
			t.each(s.Fleet.Members(), func(store model.Store) error { return a.tiersOf(ctx, store, tab, &empty) })
			tab.flush()
			if empty > 0 {
				a.hintf("%s without an item: -o wide lists them", plural(int64(empty), "tier"))
			}
			return t.result()
		}),
	}
}

type tierRow struct {
	Store    string        `json:"store"`
	Tier     string        `json:"tier"`
	Items    int64         `json:"items"`
	Bytes    int64         `json:"bytes"`
	Size     number        `json:"-" col:"SIZE"`
	Cap      *int64        `json:"cap"`
	CapEach  dashed        `json:"-" col:"CAP EACH"`
	CapBytes *int64        `json:"cap_bytes"` // null where the cap counts something else
	CapUnit  model.CapUnit `json:"cap_unit"`
	Writable bool          `json:"writable"`
	Hidden   bool          `json:"hidden"`
	AtLeast  bool          `json:"at_least"` // not everything could be counted
	What     string        `json:"-" col:"WHAT"`
}

// tiersOf prints the tiers of a store. The table leaves out the empty ones of a store that has items, and counts them.
func (a *app) tiersOf(ctx context.Context, s model.Store, tab *table, empty *int) error {
	all, problems, err := operator.Tiers(ctx, s)
	if err != nil {
		return err
	}
	items, _ := operator.Sum(all)
	for _, use := range all {
		if use.Items == 0 && items > 0 && len(problems) == 0 && a.flags.output == "" && !a.flags.json {
			*empty++
			continue
		}
		cap := ""
		if use.Cap > 0 {
			cap = prose.Capacity(use.TierSpec)
		}
		if use.Over > 0 {
			cap += ", " + prose.Group(use.Over) + " over"
		}
		ofBytes := use.CapUnit == model.CapBytes || use.CapUnit == ""
		tab.put("tier", tierRow{Store: s.Name, Tier: use.Name, Items: use.Items, Bytes: use.Bytes, Cap: onlyIf(use.Cap > 0, use.Cap),
			CapBytes: onlyIf(use.Cap > 0 && ofBytes, use.Cap), CapUnit: use.CapUnit, Writable: use.Writable, Hidden: use.Hidden, AtLeast: len(problems) > 0,
			Size: number(prose.Size(use.Bytes)), CapEach: dashed(cap), What: use.Title})
	}
	return a.incomplete(s.Name, problems)
}

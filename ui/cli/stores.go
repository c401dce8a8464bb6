package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"memdesk/backends"
	"memdesk/model"
	"memdesk/operator"
)

func (a *app) storesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "stores", Short: "Configured and discovered stores, what they can do and where they deviate",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			if len(s.Fleet.Members())+len(a.unknown) == 0 {
				return noStore()
			}
			var t tally
			for _, m := range s.Fleet.Members() {
				t.add(m.Err)
				a.printStore(m)
			}
			for _, c := range a.unknown {
				err := model.Errorf(model.Unsupported, "open", "this version has no backend of kind %q", c.Kind)
				a.printStore(backends.Member{Name: c.Name, Kind: c.Kind, Location: c.Path, Origin: c.Origin, Err: err})
			}
			return t.result()
		},
	}
}

// storeRow is a configured or discovered store.
func storeRow(m backends.Member) row {
	devs, limits := []row{}, map[string]int{}
	for _, d := range m.Store.Deviations {
		devs = append(devs, row{"rule": d.Rule, "reason": d.Reason})
	}
	maps.Copy(limits, m.Store.Limits)
	r := row{"store": m.Name, "kind": m.Kind, "location": m.Location, "origin": m.Origin, "environment": m.Environment, "ok": m.Err == nil,
		"error": errorValue(m.Err), "capabilities": row{}, "limits": limits, "deviations": devs, "notes": list(m.Store.Notes)}
	if m.Err == nil {
		r["capabilities"], r["read_only"], r["read_only_reason"] = m.Store.Capabilities(), m.Store.ReadOnly, m.Store.ReadOnlyReason
	}
	return r
}

func (a *app) printStore(m backends.Member) {
	if a.flags.json {
		a.emit("store", storeRow(m))
		return
	}
	a.wrapf("%s  %s  %s", m.Name, m.Kind, m.Location)
	a.wrapf("    why: %s", m.Origin)
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
		a.wrapf("    limit: %s %d", name, m.Store.Limits[name])
	}
	for _, d := range m.Store.Deviations {
		a.wrapf("    deviates from %s: %s", d.Rule, d.Reason)
	}
	for _, n := range m.Store.Notes {
		a.wrapf("    note: %s", n)
	}
}

func (a *app) createCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "create KIND=LOCATION", Short: "Make a new, empty store",
		Long: "Makes a new, empty store of a kind that memdesk keeps itself (sqlite). Stores of other systems are\nmade by those systems. What exists is never touched.",
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
			a.result("created", row{"kind": c.Kind, "location": where}, "%s", where)
			return nil
		}),
	}
	c.Flags().BoolVar(&a.flags.yes, "yes", false, "accepted for scripts: nothing is asked, as nothing is displaced")
	return c
}

func (a *app) healthCommand() *cobra.Command {
	return a.listing(&cobra.Command{
		Use: "health", Short: "Every provider's health, asked side by side",
		RunE: a.onStores(a.health),
	}, true)
}

// health prints the health of every store. A store that does not serve is exit code 1.
func (a *app) health(ctx context.Context, s *operator.Session, _ []string) error {
	reports := map[string]backends.HealthReport{}
	for r := range s.Fleet.Health(ctx) {
		reports[r.Store] = r
	}
	var down []string
	tab := a.table("STORE", "STATE", "LATENCY", "CHECKED", "MESSAGE")
	for _, m := range s.Fleet.Members() {
		r, ok := reports[m.Name]
		if !ok { // the context ended first
			r.Status = model.NewHealth(a.Clock.Now(), model.HealthFinding{Kind: model.FindingTimeout, Message: "not asked: interrupted", State: model.HealthUnknown})
		}
		tab.putHealth(m.Name, r.Status, r.Latency)
		if !r.Status.OK {
			down = append(down, m.Name)
		}
	}
	tab.flush()
	if n := len(s.Fleet.Members()); n > 1 {
		words := fmt.Sprintf("%d of %s serve", n-len(down), plural(int64(n), "store"))
		if len(down) > 0 {
			words += "; down: " + strings.Join(down, ", ")
		}
		a.hintf("%s", words)
	}
	a.healthOfLog(ctx, s)
	if len(down) > 0 {
		return &exitError{code: exitFailed}
	}
	return nil
}

// healthOfLog prints how much of the audit log is anchored. The log is no store, so it has no row in the
// table.
func (a *app) healthOfLog(ctx context.Context, s *operator.Session) {
	anchored := s.Anchoring(ctx)
	words := anchored.Words(a.Clock.Now())
	if words == "" {
		return
	}
	state, each := anchored.State(), []row{}
	for _, one := range anchored.Anchors {
		each = append(each, row{"anchor": one.Name(), "seq": one.Seq, "at": stamp(one.At), "error": nilIfEmpty(one.Error), "alarm": nilIfEmpty(one.Alarm)})
	}
	a.emit("audit-log", row{"store": nil, "ok": state != model.HealthDown, "state": state, "message": words, "checked_at": stamp(a.Clock.Now()), "latency_ms": 0, "findings": []row{}, "seq": anchored.Newest, "taken": anchored.Taken, "anchors": each, "alarm": nilIfEmpty(anchored.Alarm)})
	a.hintf("audit log: %s", words)
}

// putHealth prints the health of a store. The table has a line for each finding, and names the store once.
func (t *table) putHealth(store string, st model.HealthStatus, latency time.Duration) {
	at, words := st.CheckedAt, ""
	findings, below := []row{}, [][]any(nil)
	for i, f := range st.Findings {
		findings = append(findings, row{"kind": f.Kind, "id": model.EncodeID(f.Ref), "ref": model.EncodeID(f.Ref), "message": f.Message, "state": f.State, "checked_at": stamp(f.CheckedAt)})
		if i == 0 {
			at, words = f.CheckedAt, findingWords(f)
		} else {
			below = append(below, []any{"", "", "", when(f.CheckedAt), findingWords(f)})
		}
	}
	ms := float64(latency.Microseconds()) / 1000
	t.put("health", row{"store": store, "ok": st.OK, "state": st.State, "message": as{st.Message, words}, "latency_ms": ms, "latency": cell(strconv.FormatFloat(ms, 'f', 1, 64) + " ms"),
		"checked_at": stamp(st.CheckedAt), "checked": cell(when(at)), "findings": findings, "deep_checked_at": stamp(st.DeepCheckedAt)}, below...)
}

// findingWords joins a finding's message with its ref.
func findingWords(f model.HealthFinding) string {
	if f.Ref == "" || strings.Contains(f.Message, f.Ref) {
		return f.Message
	}
	return model.TypedID(f.Ref) + ": " + f.Message
}

func (a *app) tiersCommand() *cobra.Command {
	return &cobra.Command{
		Use: "tiers", Short: "Tiers with their counts, bytes and caps",
		RunE: a.onStores(func(ctx context.Context, s *operator.Session, args []string) error {
			tab := a.table("STORE", "TIER", "ITEMS", "BYTES", "CAP EACH", "WHAT")
			var t tally
			t.each(a, s.Fleet.Members(), false, func(store model.Store) error { return a.tiersOf(ctx, store, tab) })
			tab.flush()
			return t.result()
		}),
	}
}

func (a *app) tiersOf(ctx context.Context, s model.Store, tab *table) error {
	all, problems, err := operator.Tiers(ctx, s)
	if err != nil {
		return err
	}
	for _, use := range all {
		limit, ofBytes := "-", use.CapUnit == model.CapBytes || use.CapUnit == ""
		if use.Cap > 0 {
			limit = strconv.FormatInt(use.Cap, 10)
		}
		tab.put("tier", row{"store": s.Name, "tier": use.Name, "items": use.Items, "bytes": use.Bytes, "cap": onlyIf(use.Cap > 0, use.Cap), "cap_each": cell(limit),
			"cap_bytes": onlyIf(use.Cap > 0 && ofBytes, use.Cap), "cap_unit": use.CapUnit, "writable": use.Writable, "hidden": use.Hidden, "at_least": len(problems) > 0,
			"what": cell(use.Title)})
	}
	return a.incomplete(s.Name, problems)
}

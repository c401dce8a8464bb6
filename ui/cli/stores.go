package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

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
				a.tell(storeRow{m})
			}
			for _, c := range a.unknown {
				err := model.Errorf(model.Unsupported, "open", "this version has no backend of kind %q", c.Kind)
				a.tell(storeRow{backends.Member{Name: c.Name, Kind: c.Kind, Location: c.Path, Origin: c.Origin, Err: err}})
			}
			return t.result()
		},
	}
}

// storeRow is a configured or discovered store.
type storeRow struct{ backends.Member }

func (storeRow) kind() string { return "store" }

func (m storeRow) fields() row {
	r := row{"store": m.Name, "kind": m.Kind, "location": m.Location, "origin": m.Origin, "environment": m.Environment,
		"ok": m.Err == nil, "error": nil, "capabilities": map[string]bool{}, "limits": map[string]int{}, "deviations": []any{}, "notes": []string{}}
	if m.Err != nil {
		r["error"] = m.Err.Error()
		return r
	}
	r["capabilities"] = m.Store.Capabilities()
	if m.Store.Limits != nil {
		r["limits"] = m.Store.Limits
	}
	r["read_only"] = m.Store.ReadOnly
	r["read_only_reason"] = m.Store.ReadOnlyReason
	devs := []any{}
	for _, d := range m.Store.Deviations {
		devs = append(devs, map[string]string{"rule": d.Rule, "reason": d.Reason})
	}
	r["deviations"] = devs
	if m.Store.Notes != nil {
		r["notes"] = m.Store.Notes
	}
	return r
}

func (m storeRow) say(a *app) {
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
	for k, v := range m.Store.Capabilities() {
		if v {
			can = append(can, k)
		} else {
			cannot = append(cannot, k)
		}
	}
	slices.Sort(can)
	slices.Sort(cannot)
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
		RunE: func(cmd *cobra.Command, args []string) error {
			configs, err := backends.ParseOpen(a.Kinds, args, a.Dir, a.Env)
			if err != nil {
				return err
			}
			c := configs[0]
			s, err := a.base()
			if err != nil {
				return err
			}
			if err := s.MakeStore(cmd.Context(), c); err != nil {
				return err
			}
			a.result("created", row{"kind": c.Kind, "location": c.Path}, "%s", c.Path)
			return nil
		},
	}
	c.Flags().BoolVar(&a.flags.yes, "yes", false, "accepted for scripts: nothing is asked, as nothing is displaced")
	return c
}

func (a *app) healthCommand() *cobra.Command {
	return a.listing(&cobra.Command{
		Use: "health", Short: "Every provider's health, asked side by side",
		RunE: a.onStores(func(ctx context.Context, s *operator.Session, args []string) error {
			serve, err := a.healthRound(ctx, s)
			if err == nil && !serve {
				return &exitError{code: exitFailed}
			}
			return err
		}),
	}, true)
}

// healthRound prints the health of every store, and reports whether all of them serve.
func (a *app) healthRound(ctx context.Context, s *operator.Session) (bool, error) {
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
		ms := float64(r.Latency.Microseconds()) / 1000
		tab.put(healthRow{m.Name, r.Status, ms})
		if !r.Status.OK {
			down = append(down, m.Name)
		}
	}
	tab.flush()
	if n := len(s.Fleet.Members()); !a.flags.json && !a.flags.quiet && n > 1 {
		words := fmt.Sprintf("%d of %s serve", n-len(down), plural(int64(n), "store"))
		if len(down) > 0 {
			words += "; down: " + strings.Join(down, ", ")
		}
		a.sayf("%s", words)
	}
	if err := a.healthOfLog(ctx, s); err != nil {
		return false, err
	}
	return len(down) == 0, nil
}

// healthOfLog prints how much of the audit log is anchored. The log is no store, so it has no row in the
// table.
func (a *app) healthOfLog(ctx context.Context, s *operator.Session) error {
	anchored := s.Anchoring(ctx)
	words := anchored.Words(a.Clock.Now())
	switch {
	case words == "":
		return nil
	case !a.flags.json:
		a.sayf("audit log: %s", words)
		return nil
	}
	state := anchored.State()
	each := []row{}
	for _, one := range anchored.Anchors {
		r := row{"anchor": one.Name(), "seq": one.Seq, "at": nil, "error": nilIfEmpty(one.Error), "alarm": nilIfEmpty(one.Alarm)}
		if !one.At.IsZero() {
			r["at"] = stamp(one.At)
		}
		each = append(each, r)
	}
	a.emit("audit-log", row{"store": nil, "ok": state != model.HealthDown, "state": state, "message": words, "checked_at": stamp(a.Clock.Now()), "latency_ms": 0, "findings": []row{}, "seq": anchored.Newest, "taken": anchored.Taken, "anchors": each, "alarm": nilIfEmpty(anchored.Alarm)})
	return nil
}

// healthRow is the health of a store, with a line of the table for each finding.
type healthRow struct {
	store  string
	status model.HealthStatus
	ms     float64 // latency
}

func (healthRow) kind() string { return "health" }

func (h healthRow) cells() []any {
	at, words := h.status.CheckedAt, ""
	if len(h.status.Findings) > 0 {
		at, words = h.status.Findings[0].CheckedAt, findingWords(h.status.Findings[0])
	}
	return []any{h.store, string(h.status.State), strconv.FormatFloat(h.ms, 'f', 1, 64) + " ms", when(at), words}
}

// below are the findings after the first: the store is named once.
func (h healthRow) below() (out [][]any) {
	for i, f := range h.status.Findings {
		if i > 0 {
			out = append(out, []any{"", "", "", when(f.CheckedAt), findingWords(f)})
		}
	}
	return out
}

func (h healthRow) fields() row {
	findings, st := []any{}, h.status
	for _, f := range st.Findings {
		findings = append(findings, row{"kind": f.Kind, "id": model.EncodeID(f.Ref), "ref": model.EncodeID(f.Ref), "message": f.Message, "state": f.State, "checked_at": stamp(f.CheckedAt)})
	}
	return row{"store": h.store, "ok": st.OK, "state": st.State, "message": st.Message, "latency_ms": h.ms,
		"checked_at": stamp(st.CheckedAt), "findings": findings, "deep_checked_at": stamp(st.DeepCheckedAt)}
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
			defer tab.flush()
			return a.over(s, func(store model.Store) error { return a.tiersOf(ctx, store, tab) })
		}),
	}
}

func (a *app) tiersOf(ctx context.Context, s model.Store, tab *table) error {
	all, problems, err := operator.Tiers(ctx, s)
	if err != nil {
		return err
	}
	for _, use := range all {
		r := row{"store": s.Name, "tier": use.Name, "items": use.Items, "bytes": use.Bytes, "cap": nil, "cap_bytes": nil, "cap_unit": use.CapUnit,
			"writable": use.Writable, "hidden": use.Hidden, "at_least": len(problems) > 0}
		limit := "-"
		if use.Cap > 0 {
			r["cap"], limit = use.Cap, strconv.FormatInt(use.Cap, 10)
			if use.CapUnit == model.CapBytes || use.CapUnit == "" {
				r["cap_bytes"] = use.Cap
			}
		}
		tab.put(entry{"tier", []any{s.Name, use.Name, use.Items, use.Bytes, limit, use.Title}, r})
	}
	return a.incomplete(s.Name, model.Page{Problems: problems})
}

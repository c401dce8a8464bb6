package gdpr

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"memdesk/backends"
	"memdesk/gdpr/subject"
	"memdesk/internal/filelock"
	"memdesk/model"
)

// MakePlan searches every store and writes the plan. It changes no store. A store that cannot be searched is
// in the plan with its error, so the request cannot become complete without it.
func (d *Desk) MakePlan(ctx context.Context, id string, fleet *backends.Fleet, step func(Searching)) (Plan, error) {
	return d.makePlan(ctx, id, fleet, func(ctx context.Context, r *Request) (Plan, error) { return d.plan(ctx, r, fleet, step) })
}

// makePlan is MakePlan with the search for it.
func (d *Desk) makePlan(ctx context.Context, id string, fleet *backends.Fleet, search func(context.Context, *Request) (Plan, error)) (Plan, error) {
	r, err := d.unended(id, "gdpr-plan")
	if err != nil {
		return Plan{}, err
	}
	var p Plan
	err = d.act(ctx, &r, "gdpr-plan", nil, func(ctx context.Context) (map[string]int64, error) {
		if err := d.prepare(); err != nil {
			return nil, err
		}
		old, err := d.earlier(r.ID)
		if err != nil {
			return nil, err
		}
		run, err := d.openRun(r.ID, old.Hash)
		if err != nil {
			return nil, err
		}
		defer filelock.Close(run.f)                          // the lock file holds nothing that could be lost
		if r, err = d.unended(id, "gdpr-plan"); err != nil { // as it is under the lock: a run may just have ended
			return nil, err
		}
		was := r
		was.Holds = slices.Clone(r.Holds)
		if p, err = search(ctx, &r); err != nil {
			return nil, err
		}
		p.keepUnseen(ctx, old, run, fleet)
		if p.Hash, err = p.sum(); err != nil {
			return nil, err
		}
		located := r.Holds
		if err := d.carryOver(ctx, &r, old, p, run); err != nil {
			return nil, err
		}
		if err := writeJSON(d.dir("plans", r.ID+".json"), planFile{p.Hash, p.Made, p}); err != nil {
			return nil, err
		}
		err = d.edit(ctx, &r, func(r *Request) error {
			if !slices.Equal(r.Holds, was.Holds) || !slices.Equal(r.Choices, was.Choices) || !slices.Equal(r.Whole, was.Whole) || !slices.Equal(r.Terms(), was.Terms()) {
				return model.Errorf(model.Conflict, "gdpr-plan", "the request was changed while it was planned: plan again")
			}
			if was.PlanHash != p.Hash {
				r.void()
				if r.State == StateOpen {
					r.Reason = "" // why the earlier plan was void
				}
			}
			if r.PlanHash, r.Holds = p.Hash, located; r.State == StateOpen {
				r.State = StatePlanned
			}
			return nil
		})
		notes := []string{d.otherRequestsNote(&r), d.exportsNote(ctx, p)}
		p.Note = strings.Join(slices.DeleteFunc(notes, func(n string) bool { return n == "" }), "; ")
		items, held := p.Count()
		return map[string]int64{"items": items, "held": held, "stores": int64(len(p.Stores))}, err
	})
	return p, err
}

// plan searches every store. The plan has no hash yet.
func (d *Desk) plan(ctx context.Context, r *Request, fleet *backends.Fleet, step func(Searching)) (Plan, error) {
	m, err := subject.New(r.Terms()...)
	if err != nil {
		return Plan{}, err
	}
	begun := d.Clock.Now()
	p := Plan{Request: r.ID, Pseudonym: r.Pseudonym, Made: begun.UTC()}
	for _, member := range fleet.Members() {
		if err := refuseStoreName(m, member.Name); err != nil {
			return Plan{}, err
		}
	}
	for _, to := range d.Policy.Recipients { // the receipt names each one, so that notices can be told apart
		if m.Names(to.Name) {
			return Plan{}, model.Errorf(model.InvalidInput, "gdpr-plan", "a recipient is called like the person, and the receipt would name them: give it another name in [[recipient]], then plan again")
		}
	}
	for i, member := range fleet.Members() {
		t := &teller{step: step, now: d.Clock.Now, at: Searching{Store: member.Name, At: i + 1, Stores: len(fleet.Members())}}
		sp := StorePlan{Store: member.Name, Kind: member.Kind}
		if member.Err == nil {
			err = d.planStore(ctx, r, m, member.Store, &sp, t)
		} else {
			err = member.Err
		}
		if ctx.Err() != nil {
			return Plan{}, model.FromContext(ctx, "gdpr-plan")
		}
		if err != nil {
			sp.Error, sp.Steps = "it cannot be searched: "+string(model.KindOf(err)), nil
			if model.KindOf(err) == model.Unsupported { // it does not pass: the words say what to do instead
				sp.Error += ": " + m.Redact(err.Error(), Erased)
			}
		}
		p.Stores = append(p.Stores, sp)
	}
	key, err := d.pseudonymKey()
	if err != nil {
		return Plan{}, err
	}
	if err := r.holdsListed(key, &p); err != nil {
		return Plan{}, err
	}
	if err := d.checkWhole(r, &p); err != nil {
		return Plan{}, err
	}
	for i, words := range p.shared(fleet) {
		p.Stores[i].Notes = append(p.Stores[i].Notes, words)
	}
	d.keepLinks(&p)
	p.Estimate = 2*d.Clock.Now().Sub(begun) + time.Duration(p.writes())*writeTakes + time.Second
	return p, nil
}

func (d *Desk) planStore(ctx context.Context, r *Request, m *subject.Matcher, s model.Store, sp *StorePlan, t *teller) error {
	t.part("items", 0)
	t.part("items", total(sizes(ctx, s)))
	q, err := d.search(s, m)
	if err != nil {
		return err
	}
	q.isAttested = r.attestedItems(m, s)
	q.chosen = map[string]Action{}
	for _, c := range r.Choices {
		if c.Where == "" && c.Store == s.Name || slices.Contains(s.Identities(), c.Where) {
			q.chosen[c.ID] = c.Action
		}
	}
	if q.held, err = d.grounds(r, s, q.holds); err != nil {
		return err
	}
	if _, err := q.run(ctx, func(n int64) { t.tell(n, q.bytes) }); err != nil {
		return err
	}
	places := s.Identities()
	sp.Where, sp.older = places[0], places[1:]
	sp.Items, sp.Problems = q.items, append(q.problems, q.closed...)
	slices.Sort(sp.Problems)
	sp.Notes = append(joinedNote(q.bystanders.Joined()), q.proposed.note()...)
	if q.looked > 0 {
		sp.Notes = append(sp.Notes, fmt.Sprintf("%d items that cannot be opened are attested as they are", q.looked))
	}
	if sp.Steps, err = q.decide(ctx); err != nil {
		return err
	}
	if err := d.keepHeld(ctx, r, s, q, sp); err != nil {
		return err
	}
	sp.Targets = sp.count((*Step).changes)
	sp.Cascade = !q.holds.any.exists() && cascades(s, q, sp)
	sp.planCascade(s, q.holds.any.exists())
	row, old, err := oldTexts(ctx, m, s, slices.Sorted(maps.Keys(q.seen)))
	if err != nil {
		return err
	}
	if row.Verdict == model.VerdictUnaudited {
		sp.Problems = append(sp.Problems, row.Reason)
	}
	for _, id := range old {
		sp.leave(id, layerVersion, versionReason)
	}
	return sp.planLayers(ctx, r, q, t)
}

// cascades reports whether the store's own cascade removes exactly the plan: every step forgets, and the
// store ties exactly those items to the id.
func cascades(s model.Store, q *search, sp *StorePlan) bool {
	if s.Subjects == nil || recallOnly(s) || !s.Capabilities()["cascade"] || len(sp.Steps) == 0 {
		return false
	}
	for _, st := range sp.Steps {
		if st.Action != Forget || st.Layer != layerItem || len(q.reasons[st.ID]) == 0 {
			return false
		}
	}
	return len(sp.Steps) == len(q.reasons)
}

// refuseStoreName refuses a store whose name names the subject: plan, log and receipt would
// show it, and none of them may name the subject.
func refuseStoreName(m *subject.Matcher, store string) error {
	if !m.Names(store) {
		return nil
	}
	return model.Errorf(model.InvalidInput, "gdpr-plan",
		"a store is called like the person, and its name would stand in every record: give store %q another name in the configuration, then plan again", store)
}

package gdpr

import (
	"iter"
	"slices"

	"memdesk/model"
)

// part is the part of a plan in one store, with what its runs have done.
type part struct {
	*StorePlan
	at  int     // its place in the plan, by which the journal knows it
	log *runLog // nil: nothing was carried out

	before   int64               // items that earlier runs of the plan have removed
	locked   int                 // steps that wait for the store's lock
	cascaded *int64              // removals that the store reports from its own cascade; nil: it did not run
	scrubbed []model.LayerResult // by the scrub of this run
	unseen   map[string]bool     // layers that differ from the plan
	pending  bool                // a layer waits for another program
}

// parts are a plan's parts, with the journal of its runs.
func (p *Plan) parts(log *runLog) []*part {
	var out []*part
	for at := range p.Stores {
		one := &part{StorePlan: &p.Stores[at], at: at, log: log, unseen: map[string]bool{}}
		one.before = one.did("removed")
		out = append(out, one)
	}
	return out
}

// what says what a step did; empty where it is not done.
func (p *part) what(step int) string {
	if p.log == nil {
		return ""
	}
	return p.log.what(p.at, step)
}

// did counts the steps that did this. A move, which forgets the old id, has removed no item.
func (p *part) did(what string) (n int64) {
	for i, st := range p.Steps {
		if p.what(i) == what && (st.NewID == "" || what != "removed") {
			n++
		}
	}
	return n
}

// changed yields the steps that are done, but not a Forget that found its item clean: the item stays. One that found it gone
// is among them.
func (p *part) changed() iter.Seq[Step] {
	return func(yield func(Step) bool) {
		for i, st := range p.Steps {
			if what := p.what(i); what != "" && (st.Action == Redact || what != stepClean) && !yield(st) {
				return
			}
		}
	}
}

// remaining counts the steps that are not done.
func (p *part) remaining() (n int) {
	for i, st := range p.Steps {
		if st.changes() && p.what(i) == "" {
			n++
		}
	}
	return n
}

// left are the items that no step has erased: those that were missing already, those whose step is not done, and those that
// the step did not find.
func (p *part) left() []string {
	out := slices.Clone(p.Missing)
	for i, st := range p.Steps {
		if what := p.what(i); st.changes() && (what == "" || what == "absent") && !slices.Contains(p.Missing, st.ID) {
			out = append(out, st.ID)
		}
	}
	return out
}

// removals are the ids that this part's run tried to remove, and those that it removed; none for no part.
func (p *part) removals() (tried, done map[string]bool) {
	tried, done = map[string]bool{}, map[string]bool{}
	if p == nil {
		return tried, done
	}
	for i, st := range p.Steps {
		what := p.what(i)
		tried[st.ID] = tried[st.ID] || st.Action == Forget
		done[st.ID] = done[st.ID] || st.Action == Forget && what != "" && what != "absent"
	}
	return tried, done
}

// removedAll marks every step that forgets as done, one line for each run of consecutive steps.
func (p *part) removedAll() error {
	for i := 0; i < len(p.Steps); i++ {
		from := i
		for i < len(p.Steps) && p.Steps[i].Action == Forget {
			i++
		}
		if i == from {
			continue
		}
		if err := p.log.markAll(p.at, from, i-1, "removed"); err != nil {
			return err
		}
	}
	return nil
}

// touched are the ids that no item has after some steps, and those of the items that are edited.
func touched(steps iter.Seq[Step]) (removed, edited []string) {
	for st := range steps {
		switch {
		case st.Action == Forget, st.Action == Redact && st.NewID != "":
			removed = append(removed, st.ID)
		case st.Action == Redact:
			edited = append(edited, st.ID)
		}
	}
	return removed, edited
}

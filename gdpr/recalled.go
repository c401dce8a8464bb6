package gdpr

import (
	"context"
	"errors"
	"fmt"

	"memdesk/gdpr/receipt"
	"memdesk/internal/recalled"
	"memdesk/model"
)

// A store with only the four verbs cannot be listed. The subject is searched by recall, for each identifier,
// before and after. Hits are forgotten by their id, and the store's own cascade, Forget by the subject's id,
// removes further items that it ties to the subject and that nobody can list from here (provider-contract.md
// R33). The receipt says what could not be listed.

// cascadeID is the step of a plan that stands for the store's own cascade.
const cascadeID = "(cascade)"

const layerCascade = "cascade"

// Cascade reports whether the step stands for the store's own cascade, which also removes what nobody can list.
func (st *Step) Cascade() bool { return st.Layer == layerCascade }

// recallOnly reports whether a store's items are known by recall alone.
func recallOnly(s model.Store) bool { return recalled.Only(s) }

// ownCascade reports whether a store that cannot be listed may remove the subject itself.
func ownCascade(s model.Store) bool { return recallOnly(s) && s.Capabilities()["cascade"] }

// recalled searches for the subject by recall. A hit is an item with as much of its text as recall gives; a
// hit without an id is known by its source.
func (q *search) recalled(ctx context.Context) error {
	for _, term := range q.m.Terms() {
		res, err := q.store.Provider.Recall(ctx, model.RecallRequest{Query: term})
		if errors.Is(err, model.Unsupported) {
			q.problems = append(q.problems, "the store can neither be listed nor searched: what it holds is not known")
			return nil
		}
		if err != nil {
			return err
		}
		for _, h := range res.Hits {
			id := recalled.ID(h)
			if q.seen[id] {
				continue
			}
			q.seen[id] = true
			q.items++
			q.bytes += int64(len(h.Snippet))
			q.look(model.Item{Header: model.Header{ID: id, Title: h.Source, Bytes: int64(len(h.Snippet))}, Body: h.Snippet, Meta: h.Meta})
		}
		for _, label := range res.Quarantined {
			if q.m.Names(label) {
				q.problems = append(q.problems, "a quarantined item is called like the person, and the store shows it to nobody here")
			}
		}
	}
	if !ownCascade(q.store) {
		q.problems = append(q.problems, "the store cannot be listed and has no cascade of its own: what its recall does not give is not known")
	}
	return nil
}

// planCascade puts the store's own cascade into the plan. A cascade names no item, so it is not used where an item of the
// store is on hold.
func (sp *StorePlan) planCascade(s model.Store, holds bool) {
	if !ownCascade(s) {
		return
	}
	sp.Items = 0 // their number is unknown, and so is any share
	if holds || sp.held() > 0 {
		sp.Problems = append(sp.Problems, "an item of the store is on hold, so its cascade is not used, which names no item: what recall does not give is not known")
		return
	}
	sp.Notes = append(sp.Notes, "the store cannot be listed: what its recall gives is named, and what else it ties to the person's id its own cascade removes unseen")
	sp.Steps = append(sp.Steps, Step{Store: s.Name, ID: cascadeID, Layer: layerCascade, Action: Scrub,
		Reason: "the store's own cascade removes what it ties to the person's id; it cannot be listed from here"})
}

// runCascade has a store remove the subject itself, in each run again: that is harmless, and nobody can see
// what is left.
func (x *run) runCascade(ctx context.Context, p *part, s model.Store) error {
	if err := x.tell(ctx, Progress{Store: p.Store, What: string(Forget), Note: "the store's own cascade"}); err != nil {
		return err
	}
	res, err := s.Provider.Forget(ctx, model.ForgetRequest{DataSubjectID: x.r.Subject})
	switch {
	case ctx.Err() != nil:
		return model.FromContext(ctx, "gdpr-erase")
	case model.IsRefusal(err) && x.d.Log.Writable() != nil:
		return err
	case err != nil:
		x.problem(p.Store, "its own cascade could not be run: %s", x.m.Redact(err.Error(), Erased))
		return nil
	}
	p.cascaded = &res.Removed
	return nil
}

// describeUnlisted completes the row of a store whose items cannot be listed.
func (p *part) describeUnlisted(row *receipt.Layer) {
	row.Method = "recall for each identifier; the store cannot be listed"
	if row.Verdict != model.VerdictClean {
		return
	}
	switch {
	case p.log != nil && p.cascaded == nil:
		row.Verdict, row.Reason = model.VerdictUnaudited, "its own cascade did not run, and what recall does not give is not known"
	case p.cascaded != nil:
		row.Verdict = model.VerdictOutOfScope
		row.Reason = fmt.Sprintf("recall gives nothing of the person; the store's own cascade ran and says that it removed %d; what neither shows is for whoever runs it", *p.cascaded)
	default:
		row.Verdict, row.Reason = model.VerdictOutOfScope, "recall gives nothing of the person; what it does not show is for whoever runs the store"
	}
}

package cli

import (
	"context"

	"memdesk/model"
	"memdesk/operator"
)

// explain says why a recall gives an item or does not.
func (a *app) explain(ctx context.Context, text string, req model.RecallRequest) error {
	ref, err := model.ParseRef(text)
	if err != nil && len(a.flags.stores) == 1 { // the id alone
		ref.Store = a.flags.stores[0]
		ref.ID, err = model.DecodeID(text)
	}
	if err != nil {
		return err
	}
	s, store, ref, err := a.at(ctx, ref.String())
	if err != nil {
		return err
	}
	e, err := s.Explain(ctx, store, ref.ID, req)
	if err != nil {
		return err
	}
	tab := a.table("RULE", "VERDICT", "WHY")
	tab.whole = true
	for _, c := range e.Checks {
		tab.put(checkRow{Store: store.Name, ID: encodedID(ref.ID), Rule: c.Rule, Verdict: c.Verdict, Why: c.Why})
	}
	tab.flush()
	if a.flags.json {
		r := row{"store": store.Name, "id": model.EncodeID(ref.ID), "hit": e.Hit != nil, "rank": nil, "score": nil,
			"hits": len(e.Answer.Hits), "total": e.Answer.Total, "bounded": e.Answer.Bounded, "bound_note": e.Answer.BoundNote}
		if e.Hit != nil {
			r["rank"], r["score"] = e.Rank, e.Hit.Score
		}
		if e.Answer.Total == model.TotalUnknown {
			r["total"] = nil
		}
		a.emit("explained", r)
	} else if e.Hit != nil {
		a.sayf("%s is a hit", ref.String())
	} else {
		a.sayf("%s is no hit", ref.String())
	}
	if e.Gone {
		return &exitError{code: exitNotFound}
	}
	return nil
}

// checkRow is one rule that decides whether recall gives an item.
type checkRow struct {
	Store   string           `json:"store"`
	ID      encodedID        `json:"id"`
	Rule    string           `json:"rule"`
	Verdict operator.Verdict `json:"verdict"`
	Why     string           `json:"why"`
}

func (checkRow) kind() string { return "check" }

func (r checkRow) cells() []any { return []any{r.Rule, string(r.Verdict), r.Why} }

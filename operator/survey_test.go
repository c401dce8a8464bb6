package operator_test

import (
	"context"
	"testing"

	"memdesk/model"
	"memdesk/operator"
)

// grown is a store with a tier that it did not have when it was opened.
type grown struct{ model.Browser }

func (grown) Tiers(context.Context) ([]model.TierCount, error) {
	return []model.TierCount{{Scope: "a", Tier: "open", Items: 1, Bytes: 10}, {Scope: "a", Tier: "waiting", Items: 2, Bytes: 20}, {Scope: "b", Tier: "waiting", Items: 4, Bytes: 40}}, nil
}

func (grown) List(context.Context, model.PageRequest) (model.Page, error) { return model.Page{}, nil }

// TestTiersThatAStoreLearned: a tracker may have a new status while it is open, and its items count too.
func TestTiersThatAStoreLearned(t *testing.T) {
	s := model.Store{Name: "s", Tiers: []model.TierSpec{{Name: "open"}, {Name: "closed"}}, Browser: grown{}}
	all, _, err := operator.Tiers(t.Context(), s)
	if err != nil || len(all) != 3 || all[0].Items != 1 || all[1].Items != 0 || all[2].Name != "waiting" || all[2].Items != 6 || all[2].Bytes != 60 {
		t.Errorf("%+v, %v", all, err)
	}
}

package gdpr

import (
	"context"
	"fmt"
	"testing"

	"memdesk/gdpr/subject"
	"memdesk/model"
)

// TestUnderNamedAsksOnce: a store answers each question about what falls in a transaction of its own, and a person may name
// thousands of its threads.
func TestUnderNamedAsksOnce(t *testing.T) {
	m, err := subject.New("usr_ida9931")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	c := newDecision(&search{m: m, store: model.Store{Tiers: []model.TierSpec{{Name: "thread", OwnerMakes: true}}, Falls: func(_ context.Context, ids []string) ([]model.Fall, error) {
		asked++
		out := []model.Fall{{ID: "message/alone"}}
		for _, id := range ids {
			out = append(out, model.Fall{ID: "message/of-" + id, With: []string{id}})
		}
		return out, nil
	}}})
	under := func() map[string]string {
		t.Helper()
		if err := c.underNamed(t.Context()); err != nil {
			t.Fatal(err)
		}
		return c.under
	}
	if got := under(); len(got) > 0 || asked > 0 {
		t.Errorf("%v after %d questions about nothing", got, asked)
	}
	for i := range 20 {
		id := fmt.Sprintf("thread/usr_ida9931/%d", i)
		c.found, c.going[id] = append(c.found, Found{Item: model.Item{Header: model.Header{ID: id, Tier: "thread"}}}), i < 5
	}
	got := under()
	if len(got) != 15 || got["message/of-thread/usr_ida9931/7"] != "thread/usr_ida9931/7" || asked != 1 {
		t.Errorf("%d under items that stay after %d questions: %v", len(got), asked, got)
	}
}

package transfer_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"memdesk/model"
	"memdesk/transfer"
)

// TestADryRunAsksTheGate: what suppression or a hold refuses must be named before anything is copied, and a dry run
// must write nothing, in the destination or into the journal.
func TestADryRunAsksTheGate(t *testing.T) {
	from, to := openInMemory("from"), openInMemory("to")
	for id, text := range map[string]string{"a": "the quay", "b": "Ida Frostfeld at the quay", "c": "the pier"} {
		if _, err := from.Provider.Retain(t.Context(), model.RetainRequest{ID: id, Tier: "task", Content: text, Mode: model.Replace}); err != nil {
			t.Fatal(err)
		}
	}
	gate := func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Retain != nil && strings.Contains(c.Retain.Content, "Ida") {
			return model.Refuse("retain", "it names a person who was erased")
		}
		return next(ctx)
	}
	plan, err := transfer.NewPlan(from, to.Wrap(gate), transfer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var would, did []transfer.Outcome
	asked := 0
	try := transfer.Rehearsal{Gate: gate, Progress: func(int64, int64) { asked++ }}
	sum, err := plan.Try(t.Context(), try, func(o transfer.Outcome) { would = append(would, o) })
	if err != nil || sum.Copied != 2 || sum.Failed != 1 || asked != 3 {
		t.Errorf("%+v %v, progress %d times", sum, err, asked)
	}
	if have := content(t, to); len(have) != 0 {
		t.Errorf("the dry run wrote %v", have)
	}
	if _, err := plan.Run(t.Context(), &memory{}, direct, func(o transfer.Outcome) { did = append(did, o) }); err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(would, did, func(a, b transfer.Outcome) bool {
		return a.ID == b.ID && a.To == b.To && a.Result == b.Result && a.Reason == b.Reason
	}) {
		t.Errorf("the dry run said %+v, the run %+v", would, did)
	}
}

// TestADryRunOfTwoNamesThatAreOne: items of one key there are one item, in a dry run as in a run.
func TestADryRunOfTwoNamesThatAreOne(t *testing.T) {
	from, to := openInMemory("from"), crewshipAt(t, memoryDir(t, map[string]string{"pins.md": "p\n"}))
	for _, id := range []string{"a/b", "a-b"} {
		if _, err := from.Provider.Retain(t.Context(), model.RetainRequest{ID: id, Tier: "task", Content: "text of " + id, Mode: model.Replace}); err != nil {
			t.Fatal(err)
		}
	}
	for _, replace := range []bool{false, true} {
		if _, all, err := run(t, from, to, transfer.Options{Map: map[string]string{"task": "topics"}, Replace: replace}, &memory{}); err != nil || len(all) != 2 {
			t.Errorf("%+v %v", all, err)
		}
	}
}

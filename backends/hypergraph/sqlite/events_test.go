package sqlite_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memdesk/model"
)

// TestEvolutionLog: recurse's changes to its memory are listed, the newest first; a store of memdesk's
// own schema keeps no such log.
func TestEvolutionLog(t *testing.T) {
	s, _ := newRecurse(t, `INSERT INTO evolution_log (timestamp, operation, node_ids, from_tier, to_tier, reasoning, metadata)
		VALUES ('2026-05-01 10:00:00', 'promote', '["c-space"]', 'task', 'session', 'often used', '{"said":"more"}')`)
	got, err := s.Events().StoreEvents(t.Context(), 10)
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	want := model.StoreEvent{At: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC), Name: "promote", Payload: []model.Field{
		{Name: "node_ids", Value: `["c-space"]`}, {Name: "from_tier", Value: "task"}, {Name: "to_tier", Value: "session"}, {Name: "reasoning", Value: "often used"},
	}}
	if d := cmp.Diff(want, got[0]); d != "" {
		t.Error(d)
	}
	if one, err := s.Events().StoreEvents(t.Context(), 1); err != nil || len(one) != 1 || one[0].Name != "promote" {
		t.Errorf("one: %+v, %v", one, err)
	}
	own, _, _ := newStore(t)
	if own.Events() != nil {
		t.Error("a store of memdesk's own claims a log")
	}
}

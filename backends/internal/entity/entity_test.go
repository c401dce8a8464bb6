package entity_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/backends/internal/entity"
	"memdesk/internal/testcpu"
)

// TestIDs: every name has an id of its own, which leads back to it.
func TestIDs(t *testing.T) {
	names := []string{"Ada", "edge/a", "problem/", "a/b", "\ufdd0", "a\ufdd0b", "a\ufdd0/b", "edge\ufdd0/a", "\ufdd0\ufdd0", "a\x00b", "\x00"}
	seen := map[string]bool{}
	for i, name := range names {
		id, other := entity.ID(name), names[len(names)-1-i]
		if seen[id] || !entity.Is(id) || entity.Name(id) != name {
			t.Errorf("%q has the id %q, which is %q", name, id, entity.Name(id))
		}
		seen[id] = true
		id = entity.RelationID(name, "", other)
		if from, relation, to, ok := entity.Ends(id); !ok || from != name || relation != "" || to != other || !entity.Is(id) {
			t.Errorf("the relation %q is %q %q %q, %v", id, from, relation, to, ok)
		}
	}
	for _, id := range []string{"foo\ufdd0bar", "edge/a/b/c\ufdd0d"} {
		if entity.Is(id) {
			t.Errorf("%q is an id", id)
		}
	}
}

// TestManyObservations: an agent's additions make an entity of many lines, and each further one is worked out under the
// store's lock. The time may grow with their number only.
func TestManyObservations(t *testing.T) {
	const n = 200_000
	var many []string
	for i := range n {
		many = append(many, fmt.Sprint("fact ", i))
	}
	long := []string{strings.Repeat("line\n", n) + "end"}
	for name, run := range map[string]func() bool{
		"added":  func() bool { return len(entity.Join(many, []string{"new", "fact 7", "new"})) == n+1 },
		"joined": func() bool { return slices.Equal(entity.Join(many, many), many) },
		"one of many rows": func() bool {
			got, err := entity.Decode(entity.Encode(long))
			return err == nil && slices.Equal(got, long)
		},
	} {
		ok := false
		if took := testcpu.Spent(func() { ok = run() }); took > 5*time.Second {
			t.Errorf("%s: it takes %v", name, took)
		}
		if !ok {
			t.Errorf("%s: it is another list", name)
		}
	}
}

// Package backendtest is the Provider conformance suite: every runnable rule of provider-contract.md R,
// memdesk's additions to the contract, and the Browser's promises, as named cases against a store's own
// declaration of its tiers. It knows no backend.
package backendtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"memdesk/model"
)

// Mark is the source of a rule: stated by the published contract, required only by upstream's code, or
// added for memdesk.
type Mark string

// The marks of provider-contract.md.
const (
	Contract Mark = "c"
	Upstream Mark = "u"
	Added    Mark = "a"
)

// TB is the part of *testing.T that a case uses. Fatalf and Skip do not
// return.
type TB interface {
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Skip(args ...any)
	Context() context.Context
}

// Case is one rule. Rules R are provider-contract.md's, rules D are DESIGN.md's additions to the
// contract, L are the Browser's.
type Case struct {
	Rule string
	Mark Mark
	Name string
	Run  func(t TB, e *Env)
}

func (c Case) String() string { return fmt.Sprintf("%s(%s) %s", c.Rule, c.Mark, c.Name) }

// Harness connects an adapter's test with the suite. Only Open is required; a case that lacks another
// function is skipped with that reason.
type Harness struct {
	// Open opens a fresh, empty, writable store. The suite closes it.
	Open func(t *testing.T) model.Store
	// OpenReadOnly opens a store that holds at least one item and refuses changes itself, without any
	// middleware.
	OpenReadOnly func(t *testing.T) model.Store
	// Broken opens a store whose Health must not be OK; nil needs BrokenReason.
	Broken       func(t *testing.T) model.Store
	BrokenReason string
	// Slow opens a store whose medium does not answer until the test has ended.
	Slow func(t *testing.T) model.Store
	// Files is the directory of the store that this test opened last.
	Files func(t *testing.T) string
	// Plant opens a fresh writable store that holds one item with this content, written past the
	// Provider as an agent's file tool would. The suite chooses the tier, and a key of Key.
	Plant func(t *testing.T, tier, key, content string) model.Store
	// Poison is content that the scanner rejects; empty: the store does not scan.
	Poison string

	// AppendOnly: the store cannot replace, so the suite makes its items by append.
	AppendOnly bool

	// Scope holds the workspace, agent and crew that the store is bound to.
	Scope model.RetainRequest
	// Key makes the nth valid key of a tier; nil makes `TIER-key-n`. Keys of two tiers
	// differ where a key names an item in the whole store.
	Key func(tier string, n int) string
	// NotByRetain names writable tiers in which Retain with content alone makes no
	// item, each with the reason. The suite checks that it refuses.
	NotByRetain map[string]string
	// Meta names an optional metadata field of a tier's items and two values for it;
	// nil, or an empty name, where there is none.
	Meta func(tier string) (name, one, other string)
	// Now is the store's clock; nil is time.Now.
	Now func() time.Time
}

// Env is one case's surroundings.
type Env struct {
	Harness
	real *testing.T
}

// Run runs every case and logs which passed and which were skipped, with the reasons.
func Run(t *testing.T, h Harness) {
	t.Helper()
	deviations := deviationsOf(t, h)
	passed := 0
	var skipped []string
	for _, c := range Cases() {
		var reason string
		ok := t.Run(c.String(), func(t *testing.T) {
			if r, ok := deviations[model.RuleName(c.Rule)]; ok {
				reason = "deviation: " + r
				t.Skip(reason)
			}
			reason = "skipped"
			rec := newRecorder(t)
			run(rec, c, &Env{Harness: h, real: t})
			reason = rec.skipped
			rec.replay(t)
		})
		switch {
		case reason != "":
			skipped = append(skipped, c.Rule+" ("+reason+")")
		case ok:
			passed++
		}
	}
	t.Logf("conformance: %d cases passed, %d skipped: %s", passed, len(skipped), strings.Join(skipped, "; "))
}

// Failures runs one case and returns its failures without failing t, so that the suite itself can be
// tested. A skipped case returns its reason.
func Failures(t *testing.T, h Harness, c Case) (failures []string, skipped string) {
	rec := newRecorder(t)
	run(rec, c, &Env{Harness: h, real: t})
	return rec.failures, rec.skipped
}

// deviationsOf opens a store once to read its declared deviations.
func deviationsOf(t *testing.T, h Harness) map[string]string {
	s := h.Open(t)
	defer func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	out := map[string]string{}
	for _, d := range s.Deviations {
		if d.Reason == "" {
			t.Errorf("the deviation from %s has no reason", d.Rule)
		}
		out[model.RuleName(d.Rule)] = d.Reason
	}
	return out
}

// run runs a case on its own goroutine, because Fatalf and Skip end the goroutine.
func run(rec *recorder, c Case, e *Env) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				rec.Errorf("panic: %v", v)
			}
		}()
		c.Run(rec, e)
	}()
	<-done
}

package origin

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/model"
)

// ScratchStore is a gate in front of an empty store in memory, to try texts on. Its state is in a temporary
// directory that Close removes.
type ScratchStore struct {
	Store model.Store
	Tier  string // the tier of Write

	fleet *backends.Fleet
	dir   string
	last  string // id of the last stored item
}

// The results of a write.
const (
	Stored  = "stored"
	Kept    = "held"    // waits for an operator
	Refused = "refused" // by the store itself
)

// Scratch opens one under rules, whose ledger and shelf it sets.
func Scratch(ctx context.Context, kinds *backends.Registry, rules Rules) (*ScratchStore, error) {
	dir, err := os.MkdirTemp("", "memdesk-scratch-")
	if err != nil {
		return nil, err
	}
	g := &ScratchStore{dir: dir}
	ready := func() error { return nil }
	rules.Ledger, rules.Shelf, rules.Clock = OpenLedger(dir, ready), OpenShelf(dir, ready), clock.System{}
	g.fleet = backends.Open(ctx, kinds, []backends.StoreConfig{{Name: "scratch", Kind: "inmem"}},
		backends.Env{Clock: rules.Clock, Getenv: func(string) string { return "" }}, backends.Policy{Origin: Gate(rules), Audit: backends.Unrecorded, Timeout: time.Minute})
	if g.Store, err = g.fleet.Store("scratch"); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	if i := slices.IndexFunc(g.Store.Tiers, func(t model.TierSpec) bool { return t.Writable }); i >= 0 {
		g.Tier = g.Store.Tiers[i].Name
	}
	return g, nil
}

// Close removes everything.
func (g *ScratchStore) Close() error {
	g.fleet.Close()
	return os.RemoveAll(g.dir)
}

// Write writes a text like an agent of unknown origin, and returns the result.
func (g *ScratchStore) Write(ctx context.Context, text string) (string, error) {
	ctx = With(ctx, Writer{Actor: "replay", Face: "replay", Channel: Unknown, Trust: Untrusted, Agent: true})
	res, err := g.Store.Provider.Retain(ctx, model.RetainRequest{Tier: g.Tier, Mode: model.Append, Content: text})
	var held *HeldError
	switch {
	case err == nil:
		g.last = res.ID
		return Stored, nil
	case errors.As(err, &held):
		return Kept, nil
	case errors.Is(err, model.InvalidInput): // empty, too large or no text
		return Refused, nil
	}
	return "", err
}

// recallWords is how many words of a text Recalled searches for.
const recallWords = 4

// Recalled reports whether a search for the last stored text's first words finds it.
func (g *ScratchStore) Recalled(ctx context.Context, text string) (bool, error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' })
	query := strings.Join(words[:min(len(words), recallWords)], " ")
	if query == "" {
		return false, nil
	}
	res, err := g.Store.Provider.Recall(ctx, model.RecallRequest{Query: query, Limit: model.RecallLimit})
	return slices.ContainsFunc(res.Hits, func(h model.RecallSnippet) bool { return h.ID == g.last }), err
}

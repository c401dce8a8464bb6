package seam

import (
	"strings"

	"memdesk/model"
)

// StorageTier is one of the three layers of a store's storage (provider-contract.md S18): it decides who
// may derive it and whether it is synced.
type StorageTier string

// The three tiers.
const (
	Source          StorageTier = "source"           // what is remembered: syncs, authoritative
	SharedAbstracts StorageTier = "shared-abstracts" // derived from it for all machines: syncs
	LocalIndex      StorageTier = "local-index"      // derived from it for this machine: never syncs
)

// StorageTiers lists the tiers, the source first.
func StorageTiers() []StorageTier { return []StorageTier{Source, SharedAbstracts, LocalIndex} }

// Syncs reports whether the tier's root may be synced.
func (t StorageTier) Syncs() bool { return t == Source || t == SharedAbstracts }

// Derived reports whether the tier can be rebuilt from the source.
func (t StorageTier) Derived() bool { return t == SharedAbstracts || t == LocalIndex }

// Layout holds the root of each tier, as text. The zero Layout is the published default: roots named after
// their tiers.
type Layout struct {
	Source, SharedAbstracts, LocalIndex string
}

// Root is a tier's root; empty for an unknown tier.
func (l Layout) Root(t StorageTier) string {
	root := map[StorageTier]string{Source: l.Source, SharedAbstracts: l.SharedAbstracts, LocalIndex: l.LocalIndex}[t]
	if root == "" && (t.Syncs() || t.Derived()) {
		return string(t)
	}
	return root
}

// NeverSync is the root that no sync service may see.
func (l Layout) NeverSync() string { return l.Root(LocalIndex) }

// Check is InvalidInput for two tiers with one root, and for a local index inside a synced root.
func (l Layout) Check() error {
	tiers := StorageTiers()
	for i, a := range tiers {
		for _, b := range tiers[i+1:] {
			if clean(l.Root(a)) == clean(l.Root(b)) {
				return model.Errorf(model.InvalidInput, "layout", "%s and %s have one root", a, b)
			}
		}
	}
	for _, t := range tiers {
		if t.Syncs() && strings.HasPrefix(clean(l.NeverSync()), clean(l.Root(t))+"/") {
			return model.Errorf(model.InvalidInput, "layout", "the local index would lie inside %s, which is synced; put it elsewhere", t)
		}
	}
	return nil
}

func clean(root string) string { return strings.TrimRight(root, "/") }

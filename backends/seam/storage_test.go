package seam_test

import (
	"errors"
	"testing"

	"memdesk/backends/seam"
	"memdesk/model"
)

func TestStorageTiers(t *testing.T) {
	for tier, want := range map[seam.StorageTier][2]bool{
		seam.Source: {true, false}, seam.SharedAbstracts: {true, true}, seam.LocalIndex: {false, true}, "other": {false, false},
	} {
		if tier.Syncs() != want[0] || tier.Derived() != want[1] {
			t.Errorf("%s: syncs %v, derived %v", tier, tier.Syncs(), tier.Derived())
		}
	}
	if got := seam.StorageTiers(); len(got) != 3 || got[0] != seam.Source {
		t.Errorf("tiers are %v", got)
	}
}

func TestLayout(t *testing.T) {
	var published seam.Layout
	for _, tier := range seam.StorageTiers() {
		if published.Root(tier) != string(tier) {
			t.Errorf("the default root of %s is %q", tier, published.Root(tier))
		}
	}
	if published.NeverSync() != "local-index" || published.Root("other") != "" {
		t.Errorf("never synced: %q, unknown tier: %q", published.NeverSync(), published.Root("other"))
	}
	for name, tt := range map[string]struct {
		layout seam.Layout
		ok     bool
	}{
		"the default":               {seam.Layout{}, true},
		"three roots":               {seam.Layout{Source: "/v", SharedAbstracts: "/v/_meta", LocalIndex: "/state/index"}, true},
		"two equal":                 {seam.Layout{Source: "/v", SharedAbstracts: "/v", LocalIndex: "/i"}, false},
		"two equal but for a slash": {seam.Layout{Source: "/v", LocalIndex: "/v/"}, false},
		"equal to a default":        {seam.Layout{Source: "local-index"}, false},
		"an index that is synced":   {seam.Layout{Source: "/v", LocalIndex: "/v/.index"}, false},
		"an index beside the vault": {seam.Layout{Source: "/v", LocalIndex: "/vault-index"}, true},
	} {
		err := tt.layout.Check()
		if (err == nil) != tt.ok || err != nil && !errors.Is(err, model.InvalidInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

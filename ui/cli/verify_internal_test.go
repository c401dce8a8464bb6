package cli

import (
	"testing"

	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// TestVerifiedLayers: a person that a layer out of scope is known to hold is left, and exit 0 must not say otherwise.
func TestVerifiedLayers(t *testing.T) {
	clean, outside := receipt.Layer{Verdict: model.VerdictClean}, receipt.Layer{Verdict: model.VerdictOutOfScope}
	holds, held := outside, outside
	holds.Hits = 1
	held.Hits, held.Held = 1, true
	for want, layers := range map[int][][]receipt.Layer{
		exitDone:     {{clean}, {clean, outside}, {held}, {{Verdict: model.VerdictAttested}}},
		exitPartial:  {{clean, holds}, {{Verdict: model.VerdictUnaudited}}, {{Verdict: model.VerdictFailed}, clean}},
		exitTampered: {{holds, {Verdict: model.VerdictResidue, Hits: 1}}},
	} {
		for _, l := range layers {
			if got := exitCode(verified(l)); got != want {
				t.Errorf("%+v: exit %d; want %d", l, got, want)
			}
		}
	}
}

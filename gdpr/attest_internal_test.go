package gdpr

import (
	"testing"

	"memdesk/gdpr/receipt"
)

// TestWhatAnAttestationBinds: the hits of memdesk's own files grow with its own records; those of a store that is away, which
// has a row of memdesk too, are what was attested.
func TestWhatAnAttestationBinds(t *testing.T) {
	for layer, want := range map[string]bool{stateLayer: true, "store notes": false} {
		row := receipt.Layer{Store: ownStore, Layer: layer, Reason: "it is not configured", Hits: 3}
		more := row
		more.Hits = 300
		if got := statedSum(row) == statedSum(more); got != want {
			t.Errorf("%s: an attestation of 3 hits holds for 300: %v; want %v", layer, got, want)
		}
	}
}

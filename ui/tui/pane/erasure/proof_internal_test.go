package erasure

import (
	"testing"

	"memdesk/gdpr/receipt"
	"memdesk/internal/safetext"
	"memdesk/model"
)

// TestALayerThatHoldsThePersonIsCounted: out of reach is no pass where the person is known to be there.
func TestALayerThatHoldsThePersonIsCounted(t *testing.T) {
	outside := receipt.Layer{Verdict: model.VerdictOutOfScope}
	holds := outside
	holds.Hits = 2
	if got := layersNotice(safetext.Escaper{}, []receipt.Layer{outside, holds}).String(); got != "1 of 2 layers not clean yet" {
		t.Errorf("%q", got)
	}
}

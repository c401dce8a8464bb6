package gdpr

import (
	"testing"

	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/model"
)

// A readable layer out of reach counts as clean only if it was read to the end.
func TestScanRowOfWhatIsOutOfReach(t *testing.T) {
	broken := model.Errorf(model.Internal, "open-layer", "the server went away")
	for _, tt := range []struct {
		readable bool
		hits     int64
		err      error
		want     model.Verdict
	}{
		{true, 0, nil, model.VerdictClean},
		{true, 2, nil, model.VerdictOutOfScope},
		{true, 0, broken, model.VerdictUnaudited},
		{true, 2, broken, model.VerdictOutOfScope},
		{false, 0, nil, model.VerdictOutOfScope},
	} {
		l := model.Layer{ID: "table crm", Kind: model.LayerExternal, Readable: tt.readable, Reason: "another program's"}
		row := scanRow(model.Store{Name: "pg"}, l, layerScan{rep: subject.Report{Hits: tt.hits}, err: tt.err})
		if row.Verdict != tt.want || row.Hits != tt.hits {
			t.Errorf("%+v: %+v", tt, row)
		}
	}
}

// A layer that another program has open is pending, and the scrub's own verdict on a layer overrides a
// scan without hits.
func TestVerdictsOfHeldAndKeptLayers(t *testing.T) {
	l := model.Layer{ID: "index:main", Kind: model.LayerDerived, Readable: true, Waits: "process 7 has it open"}
	row := scanRow(model.Store{Name: "o"}, l, layerScan{rep: subject.Report{Hits: 1}})
	if row.Verdict != model.VerdictPending || row.Reason != l.Waits {
		t.Errorf("held: %+v", row)
	}
	if row = scanRow(model.Store{Name: "o"}, l, layerScan{}); row.Verdict != model.VerdictClean {
		t.Errorf("held, and nothing in it: %+v", row)
	}
	l = model.Layer{ID: "index:main", Kind: model.LayerDerived, Readable: true, Rows: true, Reason: "all tables but events"}
	if row = scanRow(model.Store{Name: "o"}, l, layerScan{}); row.Verdict != model.VerdictClean || row.Reason != l.Reason {
		t.Errorf("a part of a file: %+v", row)
	}
	p := &part{scrubbed: []model.LayerResult{{Layer: "memories/.git", Verdict: model.VerdictResidue, Reason: "rewrite it"}}}
	rows := p.withScrub([]receipt.Layer{{Store: "o", Layer: "memories/.git", Verdict: model.VerdictClean}})
	if len(rows) != 1 || rows[0].Verdict != model.VerdictResidue || rows[0].Reason != "rewrite it" {
		t.Errorf("kept: %+v", rows)
	}
}

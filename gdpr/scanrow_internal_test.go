package gdpr

import (
	"testing"

	"memdesk/gdpr/subject"
	"memdesk/model"
)

// What is out of reach and can be read is clean only when it was read to the end.
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

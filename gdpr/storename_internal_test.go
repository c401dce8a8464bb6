package gdpr

import (
	"encoding/base64"
	"strings"
	"testing"

	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
)

// TestOnlyThePayloadOfAReceiptIsALog: names that the log needs may stay in a receipt's payload. Around it, and in another
// file with a payload, they are residue.
func TestOnlyThePayloadOfAReceiptIsALog(t *testing.T) {
	m, err := subject.New("subj-ana")
	if err != nil {
		t.Fatal(err)
	}
	payload := base64.StdEncoding.EncodeToString([]byte(`{"status":"complete","actor":"subj-ana"}`))
	for what, tt := range map[string]struct {
		file       string
		hits, kept int64
	}{
		"a receipt":              {`{"payloadType":"` + receipt.PayloadType + `","payload":"` + payload + `"}`, 0, 1},
		"beside its payload":     {`{"payloadType":"` + receipt.PayloadType + `","payload":"` + payload + `","actor":"subj-ana"}`, 1, 1},
		"before the payload":     {`{"x":"subj-ana","payloadType":"` + receipt.PayloadType + `","payload":"` + payload + `"}`, 1, 1},
		"another kind of file":   {`{"x":"subj-ana","payload":"` + payload + `"}`, 2, 0},
		"a record of the log":    {`{"actor":"subj-ana","note":"tea"}`, 0, 1},
		"its other members":      {`{"actor":"subj-ana","note":"of subj-ana"}`, 1, 1},
		"two payloads, one read": {`{"payloadType":"` + receipt.PayloadType + `","payload":"` + base64.StdEncoding.EncodeToString([]byte(`{"x":"for subj-ana alone"}`)) + `","payload":"` + payload + `"}`, 1, 1},
	} {
		rep, kept, err := (&run{m: m}).scanOwn(t.Context(), "gdpr/receipts/er-1.json", strings.NewReader(tt.file))
		if err != nil || rep.Hits != tt.hits || kept != tt.kept {
			t.Errorf("%s: %d hits, %d kept, %v; want %d and %d", what, rep.Hits, kept, err, tt.hits, tt.kept)
		}
	}
}

// TestATextIsNoLog: a text that an operator edits, or that undo keeps, is no record, though it has the members of one.
func TestATextIsNoLog(t *testing.T) {
	m, err := subject.New("subj-ana")
	if err != nil {
		t.Fatal(err)
	}
	record := `{"store":"subj-ana"}`
	for what, tt := range map[string]struct {
		path, file string
		hits, kept int64
	}{
		"a row of the ledger":  {"origin/ledger.jsonl", record, 0, 1},
		"a draft":              {"edit/1.json", record, 1, 0},
		"an undo entry's head": {"undo/1.undo", record + "\ntea", 0, 1},
		"an undo entry's text": {"undo/1.undo", record + "\n" + record, 1, 1},
	} {
		rep, kept, err := (&run{m: m}).scanOwn(t.Context(), tt.path, strings.NewReader(tt.file))
		if err != nil || rep.Hits != tt.hits || kept != tt.kept {
			t.Errorf("%s: %d hits, %d kept, %v; want %d and %d", what, rep.Hits, kept, err, tt.hits, tt.kept)
		}
	}
}

package subject_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"memdesk/gdpr/subject"
)

// TestKeptTextsAreToldApart scans media with one kept text: its copies must be counted separately, and
// every other place must be a hit, even with few letters.
func TestKeptTextsAreToldApart(t *testing.T) {
	const head = "SQLite format 3\x00\x10\x00"
	m := matcher(t, "subj-ana", "Ana Ribeiro")
	keep := []string{"the lawyer asked Ana Ribeiro\nfor the contract", "subj-ana", `{"data_subject_id":"subj-ana","n":1}`}
	tests := []struct {
		name, medium      string
		hits, kept, alike int64
	}{
		{"the text", "# a\nthe lawyer asked Ana Ribeiro\nfor the contract\n", 0, 1, 0},
		{"in JSON", `{"text":"the lawyer asked Ana Ribeiro\nfor the contract"}`, 0, 1, 0},
		{"in a record", head + "\x01factthe lawyer asked Ana Ribeiro\nfor the contract2026", 0, 1, 0},
		{"another text", "we asked Ana Ribeiro\nfor the contract\n", 1, 0, 0},
		{"another text in a record", head + "\x01factthe lawyer asked Ana Ribeiro\nfor a letter2026", 1, 0, 0},
		{"both", "the lawyer asked Ana Ribeiro\nfor the contract; Ana Ribeiro went\n", 1, 1, 0},
		{"many others", head + strings.Repeat("we met Ana Ribeiro there\n", 9), 9, 0, 0},
		{"metadata", head + `x{"data_subject_id":"subj-ana","n":1}y`, 0, 1, 0},
		{"a key", head + "\x00\x01\x02subj-ana\x01\x00", 0, 0, 1},
		{"a key in a record", head + "longtermsubj-ana2026", 0, 0, 1},
		{"a key of JSON", `{"owner":"subj-ana"}`, 0, 0, 1},
		{"its id in prose", "asked subj-ana about it", 1, 0, 0},
		{"base64", "x " + base64.StdEncoding.EncodeToString([]byte("met Ana Ribeiro twice")), 1, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var f subject.Bystanders
			for _, k := range keep {
				f.Keep(m, k)
			}
			rep, err := m.Scan(t.Context(), strings.NewReader(tt.medium), &f)
			if err != nil || rep.Hits != tt.hits || rep.Kept != tt.kept || rep.Alike != tt.alike {
				t.Errorf("Scan = %+v, %v; want %d, %d, %d", rep, err, tt.hits, tt.kept, tt.alike)
			}
		})
	}
}

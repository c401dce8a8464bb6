package exactjson_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memdesk/internal/exactjson"
)

type row struct {
	ID    string            `json:"id"`
	List  []string          `json:"list,omitempty"`
	Bytes []byte            `json:"bytes,omitempty"`
	Nums  []float32         `json:"nums,omitempty"`
	At    time.Time         `json:"at,omitzero"`
	Under *row              `json:"under,omitempty"`
	Rows  []row             `json:"rows,omitempty"`
	Map   map[string]string `json:"map,omitempty"`
}

func TestKeepsEveryByte(t *testing.T) {
	at := time.Date(2026, 11, 29, 5, 0, 0, 7, time.UTC)
	for name, v := range map[string]row{
		"plain":        {ID: "caf\u00e9 \ufffd", List: []string{"a", ""}, Bytes: []byte{0xff}, At: at},
		"no UTF-8":     {ID: "caf\xe9", Nums: []float32{0.5, -1}, List: []string{"\xff", "x"}, Under: &row{ID: "\xc3"}, Rows: []row{{ID: "a\x00\x80"}}},
		"in a map":     {Map: map[string]string{"\xe9": "\xe8", "a": "b"}},
		"like encoded": {ID: "\uFDD1base64:YQ=="},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := exactjson.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			var got row
			if err := exactjson.Unmarshal(b, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(v, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Files that an earlier memdesk wrote are read, and the hash over a plan that it made stays.
func TestIsJSONForTexts(t *testing.T) {
	v := row{ID: "caf\u00e9 \ufffd <", List: []string{"\u2028"}, Bytes: []byte{1}, Rows: []row{{ID: "x"}}}
	want, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := exactjson.Marshal(v); err != nil || string(got) != string(want) {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

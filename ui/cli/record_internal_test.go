package cli

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"memdesk/model"
)

// Every record is an object that begins with its type, and has a cell per column.
func TestRecords(t *testing.T) {
	at := time.Date(2026, 5, 21, 8, 0, 0, 0, time.UTC)
	limit := int64(10)
	for _, tt := range []struct {
		r       record
		columns int
		want    map[string]any // of the object
	}{
		{undoRow{Undo: "u", Store: "s", ID: "a%b", At: instant(at)}, 6, map[string]any{"type": "undo", "id": model.EncodeID("a%b"), "at": "2026-05-21T08:00:00Z", "expires": nil}},
		{jobRow{Job: "j", progress: "1 of 2"}, 6, map[string]any{"type": "job", "started": nil}},
		{versionRow{Store: "s", ID: "a", Version: "v1", By: "<ana> & co"}, 6, map[string]any{"type": "version", "by": "<ana> & co"}},
		{dependencyRow{Store: "s", Blocker: "a", Blocked: "b"}, 3, map[string]any{"type": "dependency", "blocked": "b"}},
		{linkRow{Store: "s", ID: "edge/1", Items: []encodedID{}}, 4, map[string]any{"type": "link", "items": []any{}}},
		{similarRow{Store: "s", Score: 0.5}, 3, map[string]any{"type": "hit", "score": 0.5}},
		{tierRow{Store: "s", Cap: &limit}, 6, map[string]any{"type": "tier", "cap": 10.0, "cap_bytes": nil}},
	} {
		b, err := json.Marshal(object{tt.r})
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if got["v"] != 1.0 || len(tt.r.cells()) != tt.columns {
			t.Errorf("%s: %d cells, want %d", b, len(tt.r.cells()), tt.columns)
		}
		for k, want := range tt.want {
			if !reflect.DeepEqual(got[k], want) {
				t.Errorf("%s: %s is %v, want %v", b, k, got[k], want)
			}
		}
	}
}

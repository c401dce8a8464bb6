package gdpr_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"memdesk/gdpr"
)

// A search must report its progress before the first hit, and its expected duration: items, bytes,
// stores, time left. No report may name the subject.
func TestASearchTellsWhereItIs(t *testing.T) {
	files := map[string]string{}
	for i := range 250 {
		files[fmt.Sprintf("v/memory/fix/n%d.md", i)] = "boat\n"
	}
	files["v/memory/fix/of-"+ana+".md"] = name + " called\n"
	w := vaultWith(t, files)
	r := w.file()
	var told []gdpr.Searching
	_, err := w.desk.MakePlan(t.Context(), r.ID, w.fleet, func(s gdpr.Searching) {
		w.clock.Advance(time.Second)
		if text := s.String(); strings.Contains(text, ana) || strings.Contains(text, name) {
			t.Errorf("it names the person: %q", text)
		}
		told = append(told, s)
	})
	if err != nil {
		t.Fatal(err)
	}
	var first, middle, bytes *gdpr.Searching
	for i, s := range told {
		switch {
		case s.Part == "bytes" && s.Done > 0: // of the database
			bytes = &told[i]
		case s.Store != "notes":
		case first == nil && s.Total > 0:
			first = &told[i]
		case s.Part == "items" && s.Done >= 100 && middle == nil:
			middle = &told[i]
		}
	}
	if first == nil || first.Done != 0 || first.Total != 251 || first.At != 2 || first.Stores != 2 {
		t.Errorf("the beginning: %+v", first)
	}
	if middle == nil || middle.Bytes == 0 || middle.Left <= 0 || !strings.Contains(middle.String(), "store 2 of 2: 100 of 251 items") || !strings.Contains(middle.String(), "left") {
		t.Errorf("the middle: %+v", middle)
	}
	if bytes == nil || bytes.Total == 0 {
		t.Errorf("the bytes: %+v", bytes)
	}
}

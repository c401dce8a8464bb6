package gdpr

import (
	"testing"

	"memdesk/gdpr/subject"
	"memdesk/model"
)

// A body of JSON must be JSON after a redaction too: its store takes nothing else. Any other text keeps the mark.
func TestARedactedBodyStaysJSON(t *testing.T) {
	m, err := subject.New("5551234567")
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		`{"buyer": 5551234567, "of": [1, 5551234567]}`:   `{"buyer": null, "of": [1, null]}`,
		`{"note": "by \"5551234567\"", "n": 5551234567}`: `{"note": "by \"[erased]\"", "n": null}`,
		`{"note": "by 5551234567"}`:                      `{"note": "by [erased]"}`,
		`5551234567`:                                     `[erased]`,
		`[link: 5551234567]`:                             `[link: [erased]]`,
		``:                                               ``,
	} {
		var st Step
		if st.body(m, model.Item{Body: body}, Erased); st.NewBody != want {
			t.Errorf("%s became %s, want %s", body, st.NewBody, want)
		}
	}
}

package gdpr

import (
	"strconv"
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

// Parents of what stays must stay, up to one that is sealed; a chain of many must not be passed over for each.
// Without that, this test takes minutes.
func TestSettleAChain(t *testing.T) {
	const n = 50_000
	going, sealed, children := map[string]bool{}, map[string]bool{"100": true}, map[string][]string{}
	for i := range n {
		id := strconv.Itoa(i)
		going[id], children[id] = true, []string{strconv.Itoa(i + 1)}
	}
	settle(going, sealed, children)
	for id, want := range map[string]bool{"0": true, "100": true, "101": false, strconv.Itoa(n - 1): false} {
		if going[id] != want {
			t.Errorf("%s goes: %v, want %v", id, going[id], want)
		}
	}
}

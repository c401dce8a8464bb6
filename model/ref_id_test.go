package model_test

import (
	"testing"

	"memdesk/model"
)

// TestIDsAsPagesWriteThem: JSON contains format characters as they are (mcpgraph.md MG1), a reference
// on a screen encodes them, and both must be the id.
func TestIDsAsPagesWriteThem(t *testing.T) {
	for id, want := range map[string]struct{ json, typed string }{
		"👩‍💻 team":         {"👩‍💻 team", "👩%E2%80%8D💻 team"},
		"soft\u00adhyphen": {"soft\u00adhyphen", "soft%C2%ADhyphen"},
		"\u202eturned":     {"\u202eturned", "%E2%80%AEturned"},
		"\ufeffmark":       {"\ufeffmark", "%EF%BB%BFmark"},
		"a\tb\x7f\u0085":   {"a%09b%7F%C2%85", "a%09b%7F%C2%85"},
		"a\u2028b\u2029":   {"a%E2%80%A8b%E2%80%A9", "a%E2%80%A8b%E2%80%A9"},
		"50% \xff":         {"50%25 %FF", "50%25 %FF"},
		"größer 日本":        {"größer 日本", "größer 日本"},
		"edge\uFDD0/a":     {"edge%2Fa", "edge%2Fa"},
	} {
		if got := model.EncodeID(id); got != want.json {
			t.Errorf("EncodeID(%q) = %q, want %q", id, got, want.json)
		}
		ref := model.Ref{Store: "s", ID: id}
		if got := ref.String(); got != "s:"+want.typed {
			t.Errorf("Ref of %q = %q, want %q", id, got, "s:"+want.typed)
		}
		for _, form := range []string{want.json, want.typed} {
			if back, err := model.ParseRef("s:" + form); err != nil || back != ref {
				t.Errorf("%q reads back as %q, %v", form, back.ID, err)
			}
		}
		plain := want.typed == id || id == "50%"
		if model.PlainID(id) != plain {
			t.Errorf("PlainID(%q) = %v", id, !plain)
		}
	}
}

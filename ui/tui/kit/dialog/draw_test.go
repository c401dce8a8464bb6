package dialog

import (
	"strings"
	"testing"
)

func TestFirstChange(t *testing.T) {
	for body, want := range map[string]string{
		"--- a\n+++ b\n@@ line 1\n  one\n- two\n+ 2\n":         "- two",
		"# theirs\n--- a\n+++ b\n@@ line 1\n+ new\n":           "+ new",
		" no difference\n":                                     "",
		"--- a\n+++ b\n@@ line 1\n- --- in the text\n+ x\n  y": "- --- in",
	} {
		at := firstChange(body)
		if (at < 0) != (want == "") || at >= 0 && !strings.HasPrefix(body[at:], want) {
			t.Errorf("%q: %d", body, at)
		}
	}
}

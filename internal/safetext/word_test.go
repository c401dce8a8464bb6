package safetext_test

import (
	"os/exec"
	"testing"

	"memdesk/internal/safetext"
)

// TestWordIsOneShellWord: a shell gives a quoted text back as it was, and runs nothing of it.
func TestWordIsOneShellWord(t *testing.T) {
	for _, text := range []string{"", "plain:item/a.md", "two words", "web:x$(echo ran)", "`echo ran`", "it's", `a\b"c`, "a;b&c|d", "$HOME", "~", "*", "a\nb", "'; echo ran #"} {
		out, err := exec.Command("sh", "-c", "printf %s "+safetext.Word(text)).Output()
		if err != nil || string(out) != text {
			t.Errorf("%q as a word is %s, which a shell takes for %q (%v)", text, safetext.Word(text), out, err)
		}
	}
	if w := safetext.Word("store:notes/a.md"); w != "store:notes/a.md" {
		t.Errorf("a plain word is quoted: %s", w)
	}
}

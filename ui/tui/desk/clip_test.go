package desk

import (
	"strings"
	"testing"

	"memdesk/model"
)

func TestMultiplexers(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"TERM": "xterm"}, "\x1b]52;c;aGk=\x07"},
		{map[string]string{"TERM": "screen-256color", "TMUX": "/tmp/x"}, "\x1b]52;c;aGk=\x07\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\"},
		{map[string]string{"TERM": "screen", "STY": "1.x"}, "\x1bP\x1b]52;c;aGk=\x07\x1b\\"},
	} {
		if got := clipboard(tt.env, "hi"); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.env, got, tt.want)
		}
	}
}

// A reference that would control the terminal must be encoded, and one that cannot be encoded must
// never reach the clipboard.
func TestCopiedReferenceIsEncoded(t *testing.T) {
	d := testDesk()
	cmd := d.Copy(model.Ref{Store: "s", ID: "a\x1b]0;x\x07\n"})
	if cmd == nil {
		t.Fatal("nothing was copied")
	}
	if s := model.EncodeID("a\x1b]0;x\x07\n"); strings.ContainsAny(s, "\x1b\x07\n") {
		t.Errorf("the encoded id holds controls: %q", s)
	}
}

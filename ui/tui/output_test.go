package tui_test

import (
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// own are the sequences that the program itself writes, by form: movement, erasure, colours, modes,
// queries, its title and the clipboard.
var own = regexp.MustCompile(`^(?:` +
	`\x1b\[[0-9;:]*[ABCDGHJKLMPSTXdfhlmr@bZ]` + // movement, erasure, SGR
	`|\x1b\[\?[0-9;]*(?:[hlmnuW]|\$p)` + // modes and queries
	`|\x1b\[[>=<]?[0-9;]*[cumqn]` + // keyboard and device queries
	`|\x1b\[[0-9]* q` + // cursor shape
	`|\x1b\]2;(?:memdesk)?(?:\x07|\x1b\\)` +
	`|\x1b\]1[012]+;\?(?:\x07|\x1b\\)` +
	`|\x1b\]11[012](?:\x07|\x1b\\)` +
	`|\x1b\]52;c;[A-Za-z0-9+/=]*(?:\x07|\x1b\\)` +
	`|\x1b[78=>M]` +
	`|[\r\n\t\x08]` +
	`)$`)

// checkOutput fails for output that is neither printable text nor one of the program's own sequences,
// and returns the sequences.
func checkOutput(t *testing.T, raw []byte) (found []string) {
	t.Helper()
	var state byte
	for at := 0; at < len(raw); {
		seq, width, n, next := ansi.DecodeSequence(raw[at:], state, nil)
		state = next
		if n == 0 {
			t.Fatalf("byte %d cannot be decoded: %q", at, raw[at:min(at+40, len(raw))])
		}
		switch s := string(seq); {
		case width == 0 && !printable(s):
			found = append(found, s)
			if !own.MatchString(s) {
				t.Errorf("byte %d: %q is no sequence of this program", at, s)
			}
		case !utf8.ValidString(s):
			t.Errorf("byte %d: invalid UTF-8 %q", at, s)
		}
		at += n
	}
	return found
}

// printable reports whether a string of width 0 is still text: combining marks.
func printable(s string) bool {
	for _, r := range s {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == utf8.RuneError {
			return false
		}
	}
	return true
}

var sgr = regexp.MustCompile(`^\x1b\[([0-9;:]*)m$`)

// colours reports whether a sequence sets a colour.
func colours(seq string) bool {
	m := sgr.FindStringSubmatch(seq)
	return m != nil && regexp.MustCompile(`(^|[;:])(3[0-8]|4[0-8]|9[0-7]|10[0-7])($|[;:])`).MatchString(m[1])
}

// The check must notice each forbidden output.
func TestOutputCheck(t *testing.T) {
	for _, bad := range []string{"\x1b]0;owned\x07", "\x1b]52;p;aGk=\x07", "\x9b31m", "\x1bPq\x1b\\", "\x07", "a\x00b", "\u202e", "\x1b[5i"} {
		ft := &testing.T{}
		func() {
			defer func() { _ = recover() }()
			checkOutput(ft, []byte("text "+bad+" more"))
		}()
		if !ft.Failed() {
			t.Errorf("%q passes", bad)
		}
	}
}

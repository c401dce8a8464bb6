package title_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"memdesk/backends/internal/title"
)

func TestTitle(t *testing.T) {
	long := strings.Repeat("å", title.Runes)
	for _, c := range []struct{ name, text, line, heading string }{
		{"nothing", "", "", ""},
		{"blank lines", "\n \n\t\n", "", ""},
		{"the first line", "\n  one \ntwo", "one", "one"},
		{"a heading below", "one\n\n## Two\n", "one", "Two"},
		{"no heading: nothing behind the marks", "##\none", "##", "##"},
		{"a fence is no title", "---\none", "---", "one"},
		{"a comment in a code block", "```sh\n# make\n```\n# Two", "```sh", "Two"},
		{"a fence inside a code block", "~~~\n```\n# make\n~~~~\n# Two", "~~~", "Two"},
		{"as long as a title may be", long, long, long},
		{"longer", "# " + long + "x", "# " + long[:2*(title.Runes-3)] + "…", long[:2*(title.Runes-1)] + "…"},
		{"a heading beyond what is looked at", "one" + strings.Repeat("\nmore", 1000) + "\n# Two", "one", "one"},
	} {
		if got := title.Line(c.text); got != c.line {
			t.Errorf("%s: Line is %q, want %q", c.name, got, c.line)
		}
		if got := title.Heading(c.text); got != c.heading {
			t.Errorf("%s: Heading is %q, want %q", c.name, got, c.heading)
		}
	}
}

func TestALineOfManyPagesIsCut(t *testing.T) {
	text := strings.Repeat("å ", 9000)
	if got := title.Heading(text); got != title.Line(text) || utf8.RuneCountInString(got) != title.Runes || !strings.HasSuffix(got, "…") {
		t.Errorf("%q", got)
	}
}

// TestHeadingDividesNoCharacter: the examined part may end inside a character.
func TestHeadingDividesNoCharacter(t *testing.T) {
	for pad := range 4 {
		if got := title.Heading(strings.Repeat(" ", 4092+pad) + "\n# åå"); !utf8.ValidString(got) {
			t.Errorf("after %d spaces: %q", 4092+pad, got)
		}
	}
}

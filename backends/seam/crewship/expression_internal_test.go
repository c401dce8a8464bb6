package crewship

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestExpression(t *testing.T) {
	for query, want := range map[string]string{
		"  gate ":            `"gate"`,
		"staging gate":       `"staging gate" OR "staging" OR "gate"`,
		"what is the gate":   `"gate"`,
		"what is the":        `"what is the" OR "what" OR "is" OR "the"`,
		"disk AND runner":    `disk AND runner`,
		"disk and runner":    `"disk runner" OR "disk" OR "runner"`,
		"deplo*":             `deplo*`,
		`"open quote`:        `"open quote`,
		"ticket: 403":        `"ticket 403" OR "ticket" OR "403"`,
		"(disk) or runner":   `"disk" OR "runner"`,
		"a: dep* NOT window": `"a" "dep"* NOT "window"`,
		`say: "hello moon"`:  `"say hello moon" OR "say" OR "hello" OR "moon"`,
		"()":                 `""`,
		"Který hrad":         `"hrad"`,
	} {
		if got := expression(query); got != want {
			t.Errorf("%q becomes %s, want %s", query, got, want)
		}
	}
}

func TestChunks(t *testing.T) {
	long, short := strings.Repeat("x", 400), strings.Repeat("y", 90)
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"empty":           {" \n\n", nil},
		"sections":        {"intro\n## one\na\n\n## two\nb\n", []string{"intro", "## one\na", "## two\nb"}},
		"a third level":   {"## one\n### a\n#x\n", []string{"## one\n### a\n#x"}},
		"long section":    {long + "\n\n" + short + "\n\n" + short + "\n", []string{long + "\n\n" + short, short}},
		"long paragraph":  {short + "\n\n" + long + long, []string{short, long + long}},
		"short, divided":  {"a\n\nb\n", []string{"a\n\nb"}},
		"empty paragraph": {long + "\n\n\n\n" + long, []string{long, long}},
	} {
		var got []string
		for row := range chunks([]byte(tt.text)) {
			got = append(got, string(bytes.Join(row, paragraphs)))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

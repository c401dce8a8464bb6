package frontmatter_test

import (
	"strings"
	"testing"

	"memdesk/internal/frontmatter"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string][2]string{
		"":                                 {"", ""},
		"---":                              {"", "---"},
		"---\n":                            {"", "---\n"},
		"---\n---":                         {"", ""},
		"---\n---\nbody\n---\n":            {"", "body\n---\n"},
		"---\na: 1\n---\nbody":             {"a: 1\n", "body"},
		"---\r\na: 1\r\n---\r\nbody":       {"a: 1\r\n", "body"},
		"\ufeff--- \na: 1\n---\t\r\nbody":  {"a: 1\n", "body"},
		"---\na: 1\n----\n--- x\n---\n":    {"a: 1\n----\n--- x\n", ""},
		"---\na: 1\n...\nb: 2\n---\nbody":  {"a: 1\n...\nb: 2\n", "body"}, // YAML's other end, which no program of a store writes
		"---\na: 1\nno end":                {"", "---\na: 1\nno end"},
		"\n---\na: 1\n---\n":               {"", "\n---\na: 1\n---\n"},
		"\ufeffplain":                      {"", "\ufeffplain"},
		" ---\na: 1\n---\n":                {"", " ---\na: 1\n---\n"},
		"---\na: 1\n ---\n---\nthe body\n": {"a: 1\n ---\n", "the body\n"},
	} {
		if lines, body := frontmatter.Split(text); lines != want[0] || body != want[1] {
			t.Errorf("%q falls into %q and %q", text, lines, body)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("---\na: 1\n---\nbody")
	f.Fuzz(func(t *testing.T, text string) {
		lines, body := frontmatter.Split(text)
		if !strings.Contains(text, lines) || !strings.HasSuffix(text, body) {
			t.Errorf("%q falls into %q and %q", text, lines, body)
		}
	})
}

func TestPair(t *testing.T) {
	for line, want := range map[string][2]string{
		"a: 1\r\n": {"a", "1"}, "a:": {"a", ""}, `a: "b: c"`: {"a", "b: c"}, "a: 'b' ": {"a", "b"}, `a: "b'`: {"a", `"b'`}, `a: "`: {"a", `"`},
		"  a : b": {"  a ", "b"},
	} {
		if name, value, ok := frontmatter.Pair(line); !ok || name != want[0] || value != want[1] {
			t.Errorf("%q: %q is %q", line, name, value)
		}
	}
	if _, _, ok := frontmatter.Pair("- a"); ok {
		t.Error("a line without a colon is a pair")
	}
}

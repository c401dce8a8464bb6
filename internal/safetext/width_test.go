package safetext_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/internal/safetext"
)

func TestTrunc(t *testing.T) {
	tests := []struct {
		in    string
		width int
		want  string
	}{
		{"hello", 5, "hello"},
		{"hello", 4, "hel…"},
		{"hello", 1, "…"},
		{"hello", 0, ""},
		{"hello", -3, ""},
		{"", 3, ""},
		{"漢字漢字", 5, "漢字…"},
		{"漢字漢字", 4, "漢…"},
		{"ab\x1bcd", 4, "ab…"},
		{"ab\x1bcd", 5, "ab^[…"},
		{"a\u202eb", 9, "a…"},
		{"a\u202eb", 10, "a⟦U+202E⟧b"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"👍🏽👍🏽", 3, "👍🏽…"},
	}
	for _, tt := range tests {
		got := safetext.Escaper{}.Trunc(safetext.Line(tt.in), tt.width)
		if got.String() != tt.want || got.Width() > max(tt.width, 0) {
			t.Errorf("Trunc(%q, %d) = %q (%d columns), want %q", tt.in, tt.width, got, got.Width(), tt.want)
		}
	}
	if got := (safetext.Escaper{ASCII: true}).Trunc(safetext.Const("hello"), 3).String(); got != "he~" {
		t.Errorf("ASCII Trunc = %q", got)
	}
}

func TestTruncMiddle(t *testing.T) {
	tests := []struct {
		in    string
		width int
		want  string
	}{
		{"crews/eng/ada/AGENT.md", 40, "crews/eng/ada/AGENT.md"},
		{"crews/eng/ada/AGENT.md", 16, "crews/…/AGENT.md"},
		{"crews/eng/ada/AGENT.md", 10, "…/AGENT.md"},
		{"crews/eng/ada/AGENT.md", 9, "cr…ENT.md"},
		{"abcdefghij", 7, "ab…ghij"},
		{"abcdefghij", 1, "…"},
		{"abcdefghij", 0, ""},
		{"crews/漢字", 8, "cr…/漢字"},
		{"crews/a\u202eb", 15, "cre…/a⟦U+202E⟧b"},
		{"漢字漢字", 4, "…字"},
	}
	for _, tt := range tests {
		got := safetext.Escaper{}.TruncMiddle(safetext.Line(tt.in), tt.width)
		if got.String() != tt.want || got.Width() > max(tt.width, 0) {
			t.Errorf("TruncMiddle(%q, %d) = %q (%d columns), want %q", tt.in, tt.width, got, got.Width(), tt.want)
		}
	}
	if got := (safetext.Escaper{ASCII: true}).TruncMiddle(safetext.Const("crews/AGENT.md"), 12).String(); got != "cr~/AGENT.md" {
		t.Errorf("in ASCII it is %q", got)
	}
}

func TestPad(t *testing.T) {
	text := safetext.Line("漢\x1b")
	if got := safetext.Pad(text, 6).String(); got != "漢^[  " {
		t.Errorf("Pad = %q", got)
	}
	if got := safetext.PadLeft(text, 6).String(); got != "  漢^[" {
		t.Errorf("PadLeft = %q", got)
	}
	if got := safetext.Pad(text, 3); got != text {
		t.Errorf("Pad of a wider text = %q", got)
	}
}

func TestWrap(t *testing.T) {
	tests := []struct {
		name  string
		in    string
		width int
		want  []string
	}{
		{"empty", "", 5, []string{""}},
		{"fits", "hello", 5, []string{"hello"}},
		{"words", "the quick brown fox", 10, []string{"the quick ", "brown fox"}},
		{"blank at the edge", "the quick brown", 9, []string{"the quick", "brown"}},
		{"blank at the end", "hello ", 5, []string{"hello"}},
		{"long word", "abcdefghij", 4, []string{"abcd", "efgh", "ij"}},
		{"long reference", "harbor:daily/2026-11-28.md", 16, []string{"harbor:daily/", "2026-11-28.md"}},
		{"long word with an early joint", "a-bcdefghij", 8, []string{"a-bcdefg", "hij"}},
		{"width one", "ab c", 1, []string{"a", "b", "c"}},
		{"width zero", "ab", 0, []string{"a", "b"}},
		{"only blanks", "      ", 4, []string{"    ", "  "}},
		{"escape is whole", "ab\x1bcd", 3, []string{"ab", "^[c", "d"}},
		{"bidi is whole", "ab\u202ecd", 8, []string{"ab", "⟦U+202E⟧", "cd"}},
		{"too narrow for an escape", "a\u202eb", 2, []string{"a", "⟦U+202E⟧", "b"}},
		{"too narrow for a character", "漢a字", 1, []string{"漢", "a", "字"}},
		{"tags keep their blanks", "\U000E0061\U000E0020\U000E0062 c", 9, []string{"⟦tag:a b⟧", "c"}},
		{"a sign stays with its word", "filed ▲ erased", 8, []string{"filed ", "▲ erased"}},
		{"a sign before a word without room", "filed · erased", 7, []string{"filed ", "· ", "erased"}},
		{"a sign alone", "▲ erased", 3, []string{"▲ ", "era", "sed"}},
		{"marks stay", "e\u0301e\u0301", 1, []string{"e\u0301", "e\u0301"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, line := range safetext.Wrap(safetext.Line(tt.in), tt.width) {
				got = append(got, line.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Wrap(%q, %d) (-want +got):\n%s", tt.in, tt.width, diff)
			}
		})
	}
}

func TestMarks(t *testing.T) {
	in := "a\x1b\u202e\x9b^G\U000E0061\n\u0085z"
	text := safetext.Escaper{}.Concat(safetext.Line(in), safetext.LineMax("xyz", 1))
	type mark struct {
		Form string
		Kind safetext.Kind
	}
	var got []mark
	for _, span := range safetext.Marks(text) {
		got = append(got, mark{text.String()[span.Start:span.End], span.Kind})
	}
	want := []mark{
		{"^[", safetext.Control}, {"⟦U+202E⟧", safetext.Rune}, {`\x9b`, safetext.Byte}, {"⟦^⟧", safetext.Quote},
		{"⟦tag:a⟧", safetext.Tag}, {"⏎", safetext.Control}, {"<U+0085>", safetext.Control}, {"⟦… 2 more bytes⟧", safetext.Notice},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	if spans := safetext.Marks(safetext.Line("x^2 a<b C:\\xfoo")); spans != nil {
		t.Errorf("ordinary text has marks %v", spans)
	}
}

// checkLayout checks the bounds of Trunc and Wrap, and that Wrap loses only single blanks at line ends.
func checkLayout(t testing.TB, in string, columns int) {
	t.Helper()
	text := safetext.Line(in)
	if got := (safetext.Escaper{}).Trunc(text, columns); got.Width() > max(columns, 0) {
		t.Fatalf("Trunc(%q, %d) = %q: %d columns", text, columns, got, got.Width())
	}
	if got := (safetext.Escaper{}).TruncMiddle(text, columns); got.Width() > max(columns, 0) {
		t.Fatalf("TruncMiddle(%q, %d) = %q: %d columns", text, columns, got, got.Width())
	}
	rest := text.String()
	for _, row := range safetext.Wrap(text, columns) {
		if row.Width() > max(columns, safetext.MaxMark) {
			t.Fatalf("Wrap(%q, %d): %q has %d columns", text, columns, row, row.Width())
		}
		if !strings.HasPrefix(rest, row.String()) {
			rest = strings.TrimPrefix(rest, " ")
		}
		var ok bool
		if rest, ok = strings.CutPrefix(rest, row.String()); !ok {
			t.Fatalf("Wrap(%q, %d): %q is not next in %q", text, columns, row, rest)
		}
	}
	if rest != "" && rest != " " {
		t.Fatalf("Wrap(%q, %d) lost %q", text, columns, rest)
	}
}

func TestLayoutBounds(t *testing.T) {
	for _, in := range []string{
		"plain words in a row", "漢字 漢字", "\u202e\u200b\x1b[31m", "e" + repeat("\u0301", 50), "a  b   c    d",
		repeat("क्", 40), "🇩🇪🇫🇷🇩", "ᄀ" + repeat("ᅡ", 40), "👍🏽🏽🏽", "⟦⟦⟦", "\U000E0041" + repeat("\U000E0042", 60),
	} {
		for columns := -1; columns < 60; columns++ {
			checkLayout(t, in, columns)
		}
	}
}

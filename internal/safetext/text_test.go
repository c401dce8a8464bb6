package safetext_test

import (
	"errors"
	"fmt"
	"testing"

	"memdesk/internal/safetext"
)

func TestLine(t *testing.T) {
	tests := []struct{ name, in, want, ascii string }{
		{"plain", "hello, world", "hello, world", "hello, world"},
		{"empty", "", "", ""},
		{"escape", "a\x1b[31mred", "a^[[31mred", "a^[[31mred"},
		{"bell and nul", "\a\x00", "^G^@", "^G^@"},
		{"delete", "\x7f", "^?", "^?"},
		{"newline", "a\nb", "a⏎b", "a^Jb"},
		{"carriage return", "a\r\nb", "a^M⏎b", "a^M^Jb"},
		{"tab", "a\tb", "a^Ib", "a^Ib"},
		{"raw c1", "\x9b31m", `\x9b31m`, `\x9b31m`},
		{"utf-8 c1", "\u009b31m", "<U+009B>31m", "<U+009B>31m"},
		{"next line", "\u0085", "<U+0085>", "<U+0085>"},
		{"surrogate", "\xed\xa0\x80", `\xed\xa0\x80`, `\xed\xa0\x80`},
		{"overlong", "\xc0\xaf", `\xc0\xaf`, `\xc0\xaf`},
		{"truncated", "\xe2\x80", `\xe2\x80`, `\xe2\x80`},
		{"bidi", "x\u202ey", "x⟦U+202E⟧y", "x<U+202E>y"},
		{"zero width", "x\u200by", "x⟦U+200B⟧y", "x<U+200B>y"},
		{"tags", "a\U000E0068\U000E0069z", "a⟦tag:hi⟧z", "a<U+E0068><U+E0069>z"},
		{"tag begin", "\U000E0001\U000E007F", "⟦U+E0001⟧⟦U+E007F⟧", "<U+E0001><U+E007F>"},
		{"emoji with selector", "❤\uFE0F", "❤\uFE0F", "<U+2764><U+FE0F>"},
		{"two selectors", "❤\uFE0F\uFE0F", "❤\uFE0F⟦U+FE0F⟧", "<U+2764><U+FE0F><U+FE0F>"},
		{"selector after letter", "a\uFE0F", "a⟦U+FE0F⟧", "a<U+FE0F>"},
		{"keycap", "1\uFE0F\u20E3", "1\uFE0F\u20E3", "1<U+FE0F><U+20E3>"},
		{"selector after digit", "1\uFE0F", "1⟦U+FE0F⟧", "1<U+FE0F>"},
		{"skin tone", "👍🏽", "👍🏽", "<U+1F44D><U+1F3FD>"},
		{"two skin tones", "👍🏽🏽", "👍🏽⟦U+1F3FD⟧", "<U+1F44D><U+1F3FD><U+1F3FD>"},
		{"joined emoji", "👩\u200d💻", "👩⟦U+200D⟧💻", "<U+1F469><U+200D><U+1F4BB>"},
		{"filler", "\u3164", "⟦U+3164⟧", "<U+3164>"},
		{"braille blank", "\u2800", "⟦U+2800⟧", "<U+2800>"},
		{"line separator", "a\u2028b", "a⟦U+2028⟧b", "a<U+2028>b"},
		{"private", "\ue000\U0010FFFD", "⟦U+E000⟧⟦U+10FFFD⟧", "<U+E000><U+10FFFD>"},
		{"unassigned", "\u0378\uFFFF", "⟦U+0378⟧⟦U+FFFF⟧", "<U+0378><U+FFFF>"},
		{"accent", "e\u0301", "e\u0301", "e<U+0301>"},
		{"accent first", "\u0301e", "⟦U+0301⟧e", "<U+0301>e"},
		{"nine accents", "e" + repeat("\u0301", 9), "e" + repeat("\u0301", 8) + "⟦U+0301⟧", "e" + repeat("<U+0301>", 9)},
		{"many accents", "e" + repeat("\u0301", 48), "e" + repeat("\u0301", 8) + "⟦U+0301×40⟧", "e" + repeat("<U+0301>", 48)},
		{"vowels in one cell", "ᄀ" + repeat("ᅡ", 10), "ᄀ" + repeat("ᅡ", 8) + "⟦U+1161×2⟧", ""},
		{"voiced marks in one cell", "ｶ" + repeat("ﾞ", 9), "ｶ" + repeat("ﾞ", 8) + "⟦U+FF9E⟧", ""},
		{"joins the next form", "\u0D4E\u202e", "⟦U+0D4E⟧⟦U+202E⟧", ""},
		{"more marks than one form counts", repeat("\u0301", 1<<20+2), "⟦U+0301×1048576⟧⟦U+0301×2⟧", ""},
		{"a long conjunct", repeat("क्", 10) + "…", repeat("क्", 9) + "⟦U+0915⟧⟦U+094D⟧…", ""},
		{"a conjunct ends at a sign", repeat("क्", 9) + "…", repeat("क्", 9) + "…", ""},
		{"two selectors on a digit", "1\u0301\uFE0F\u20E3", "1\u0301⟦U+FE0F⟧⟦U+20E3⟧", ""},
		{"scripts", "naïve Ωμέγα Жук 漢字 हिन्दी עברית ไทย", "naïve Ωμέγα Жук 漢字 हिन्दी עברית ไทย", ""},
		{"ordinary carets", "x^2 a^b C:\\xfoo a<b 5^", "x^2 a^b C:\\xfoo a<b 5^", "x^2 a^b C:\\xfoo a<b 5^"},
		{"literal caret", "^G", "⟦^⟧G", "<U+005E>G"},
		{"literal byte", `\x9b`, `⟦\⟧x9b`, `<U+005C>x9b`},
		{"literal c1", "<U+009B>", "⟦<⟧U+009B>", "<U+003C>U+009B>"},
		{"literal bracket", "⟦U+202E⟧", "⟦⟦⟧U+202E⟧", "<U+27E6>U+202E<U+27E7>"},
		{"literal newline sign", "⏎", "⟦⏎⟧", "<U+23CE>"},
		{"caret before byte", "^\x9b", `⟦^⟧\x9b`, `<U+005E>\x9b`},
		{"caret before control", "^\x1b", "⟦^⟧^[", "<U+005E>^["},
		{"literal ascii notice", "<... 5 more bytes>", "⟦<⟧... 5 more bytes>", "<U+003C>... 5 more bytes>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := safetext.Line(tt.in).String(); got != tt.want {
				t.Errorf("Line(%.80q) = %q, want %q", tt.in, got, tt.want)
			}
			got := safetext.Escaper{ASCII: true}.Line(tt.in).String()
			if tt.ascii != "" && got != tt.ascii {
				t.Errorf("ASCII Line(%.80q) = %q, want %q", tt.in, got, tt.ascii)
			}
			for _, form := range []string{tt.want, got} {
				if back, err := safetext.Unescape(form); err != nil || back != tt.in {
					t.Errorf("Unescape(%.80q) = %.80q, %v", form, back, err)
				}
			}
		})
	}
}

func TestLineMax(t *testing.T) {
	tests := []struct {
		in   string
		max  int
		want string
	}{
		{"short", 5, "short"},
		{"short", 0, "short"},
		{"longer", 5, "longe ⟦… 1 more byte⟧"},
		{"aéé", 2, "a ⟦… 4 more bytes⟧"},
		{"\x80\x80\x80\x80\x80\x80", 3, `\x80\x80\x80 ⟦… 3 more bytes⟧`},
		{"a", 1, "a"},
		{"é", 1, " ⟦… 2 more bytes⟧"},
	}
	for _, tt := range tests {
		got := safetext.LineMax(tt.in, tt.max)
		if got.String() != tt.want {
			t.Errorf("LineMax(%q, %d) = %q, want %q", tt.in, tt.max, got, tt.want)
		}
		if _, err := safetext.Unescape(got.String()); (err != nil) != (got.String() != tt.in && tt.in != tt.want) {
			t.Errorf("Unescape(%q): %v", got, err)
		}
	}
	if got := (safetext.Escaper{ASCII: true}).LineMax("abc", 1).String(); got != "a <... 2 more bytes>" {
		t.Errorf("ASCII LineMax = %q", got)
	}
}

func TestConcatQuotesWhatOnlyTogetherReadsAsAnEscape(t *testing.T) {
	tests := []struct {
		parts []string
		want  string
	}{
		{[]string{"^", "[0m"}, "⟦^⟧[0m"},
		{[]string{"x^", "2"}, "x^2"},
		{[]string{"\\", "x9", "b"}, `⟦\⟧x9b`},
		{[]string{"<U+", "00", "9B", ">"}, "⟦<⟧U+009B>"},
		{[]string{"^", "\x1b"}, "⟦^⟧^["},
		{[]string{"\x1c", "x9b"}, `^\x9b`},
		{[]string{repeat("long ", 40) + "^", "A"}, repeat("long ", 40) + "⟦^⟧A"},
		{[]string{repeat("क्", 6), repeat("क्", 6)}, repeat("क्", 9) + "⟦U+0915⟧⟦U+094D⟧क्क्"},
		{nil, ""},
	}
	for _, tt := range tests {
		var ts []safetext.Text
		whole := ""
		for _, p := range tt.parts {
			ts = append(ts, safetext.Line(p))
			whole += p
		}
		got := safetext.Escaper{}.Concat(ts...).String()
		if got != tt.want {
			t.Errorf("Concat(%q) = %q, want %q", tt.parts, got, tt.want)
		}
		if back, err := safetext.Unescape(got); err != nil || back != whole {
			t.Errorf("Unescape(%q) = %q, %v; want %q", got, back, err, whole)
		}
	}
}

func TestJoin(t *testing.T) {
	ts := []safetext.Text{safetext.Line("a\x1b"), safetext.Line("b")}
	if got := (safetext.Escaper{}).Join(ts, ", ").String(); got != "a^[, b" {
		t.Errorf("Join = %q", got)
	}
	if got := (safetext.Escaper{}).Join(ts, "\x1b").String(); got != "a^[^[b" {
		t.Errorf("Join with a control as separator = %q", got)
	}
	if got := (safetext.Escaper{}).Join(nil, ", "); !got.IsEmpty() {
		t.Errorf("Join(nil) = %q", got)
	}
}

func TestSprintf(t *testing.T) {
	esc := errors.New("bad \x1b name")
	tests := []struct {
		format string
		args   []any
		want   string
	}{
		{"%s: %v", []any{safetext.Line("a\x1b"), "b\x1b"}, "a^[: b^["},
		{"%v", []any{esc}, "bad ^[ name"},
		{"%d of %d (%.1f%%)", []any{1, 2, 50.0}, "1 of 2 (50.0%)"},
		{"%q", []any{"a\x1b\"⟦"}, `"a\x1b\"⟦⟦⟧"`},
		{"[%-6s]", []any{"漢\x1b"}, "[漢^[  ]"},
		{"[%6s]", []any{safetext.Line("漢")}, "[    漢]"},
		{"[%.3s]", []any{"abcdef"}, "[ab…]"},
		{"[%*d]", []any{4, 7}, "[   7]"},
		{"%v", []any{[]string{"\x1b", "b"}}, "[^[ b]"},
		{"%v", []any{struct{ S fmt.Stringer }{stringer("\u202e")}}, "{⟦U+202E⟧}"},
		{"%s", []any{[]byte("a\x9b")}, `a\x9b`},
		{"%c", []any{rune(0x1b)}, "^["},
		{"^C %s", []any{"^C"}, "^C ⟦^⟧C"},
		{"%v", []any{nil}, "<nil>"},
	}
	for _, tt := range tests {
		if got := safetext.Sprintf(tt.format, tt.args...).String(); got != tt.want {
			t.Errorf("Sprintf(%q, %q) = %q, want %q", tt.format, tt.args, got, tt.want)
		}
	}
}

type stringer string

func (s stringer) String() string { return string(s) }

func TestErrAndConst(t *testing.T) {
	if got := (safetext.Escaper{}).Err(nil); !got.IsEmpty() {
		t.Errorf("Err(nil) = %q", got)
	}
	if got := (safetext.Escaper{}).Err(errors.New("x\ny")).String(); got != "x⏎y" {
		t.Errorf("Err = %q", got)
	}
	if got := safetext.Const("^C quits\x1b é").String(); got != "^C quits^[ é" {
		t.Errorf("Const = %q", got)
	}
}

func TestHidden(t *testing.T) {
	tests := []struct {
		in   string
		want int
	}{
		{"plain ^G ⟦text⟧ ⏎", 0},
		{"a\r\nb\tc\n", 0},
		{"a\rb", 1},
		{"a\r", 1},
		{"a\r\r\n", 1},
		{"\x1b[0m\u202e\u200b", 3},
		{"\xff\xfe", 2},
		{"\U000E0068\U000E0069", 2},
		{"e" + repeat("\u0301", 20), 12},
	}
	for _, tt := range tests {
		if got := safetext.Hidden(tt.in); got != tt.want {
			t.Errorf("Hidden(%q) = %d, want %d", tt.in, got, tt.want)
		}
	}
}

func TestUnescapeRefusesWhatIsNotWrittenHere(t *testing.T) {
	for _, s := range []string{"⟦", "⟦foo⟧", "⟦U+⟧", "⟦U+D800⟧", "⟦U+0301×0⟧", "⟦U+0301×99999999⟧", "⟦… 3 more bytes⟧", "<... 3 more bytes>", "<U+FFFFFF>"} {
		if got, err := safetext.Unescape(s); err == nil {
			t.Errorf("Unescape(%q) = %q, want an error", s, got)
		}
	}
}

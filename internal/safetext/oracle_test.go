package safetext_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"memdesk/internal/safetext"
)

// dangerous is the table of terminal-safety.md written independently, by rule and not by the package's
// own tables.
func dangerous(r rune) bool {
	switch {
	case r < ' ', r >= 0x7F && r < 0xA0:
	case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x200E, r == 0x200F, r == 0x061C:
	case r >= 0x200B && r <= 0x200D, r >= 0x2060 && r <= 0x206F, r == 0xFEFF, r == 0x00AD, r == 0x180E, r == 0x034F:
	case r >= 0xE0000 && r <= 0xE007F, r >= 0xFE00 && r <= 0xFE0E, r >= 0xE0100 && r <= 0xE01EF:
	case r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, r == 0x2800, r == 0x2028, r == 0x2029:
	case r >= 0xE000 && r <= 0xF8FF, r >= 0xF0000, r&0xFFFE == 0xFFFE:
	case !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs):
	default:
		return false
	}
	return true
}

// checkSafe fails when s could make a terminal do anything but print.
func checkSafe(t testing.TB, what, s string, ascii bool) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Fatalf("%s: %q is not UTF-8", what, s)
	}
	marks, base := 0, rune(0)
	for _, r := range s {
		if dangerous(r) || ascii && r > '~' {
			t.Fatalf("%s: %q holds %U", what, s, r)
		}
		if r == 0xFE0F && base < 0xA0 && !strings.Contains(s, "\uFE0F\u20E3") {
			t.Fatalf("%s: %q holds a selector after %q", what, s, base)
		}
		if !unicode.Is(unicode.M, r) {
			base, marks = r, 0
		} else if marks++; marks > 9 || base == 0 {
			t.Fatalf("%s: %q stacks %d marks on %q", what, s, marks, base)
		}
	}
	if clean := ansi.Strip(s); clean != s {
		t.Fatalf("%s: %q holds a sequence", what, s)
	}
	if !ascii && safetext.Const(s).String() != s {
		t.Fatalf("%s: %q is escaped again to %q", what, s, safetext.Const(s))
	}
}

// checkVisible fails unless out contains the printable text of in, in order.
func checkVisible(t testing.TB, in, out string) {
	t.Helper()
	// Without brackets a quoted literal is shown by its number.
	rest := strings.NewReplacer("<U+005E>", "^", "<U+005C>", `\`, "<U+003C>", "<").Replace(out)
	for i := 0; i < len(in); i++ {
		if b := in[i]; b > ' ' && b < 0x7F {
			n := strings.IndexByte(rest, b)
			if n < 0 {
				t.Fatalf("%q lost %q at %d: %q", in, b, i, out)
			}
			rest = rest[n+1:]
		}
	}
}

// checkText runs every oracle on one input.
func checkText(t testing.TB, in string) {
	t.Helper()
	for _, ascii := range []bool{false, true} {
		e := safetext.Escaper{ASCII: ascii}
		text := e.Line(in)
		out := text.String()
		checkSafe(t, "Line", out, ascii)
		checkVisible(t, in, out)
		if back, err := safetext.Unescape(out); err != nil || back != in {
			t.Fatalf("Unescape(%q) = %q, %v; want %q", out, back, err, in)
		}
		if got, want := text.Width(), ansi.StringWidth(out); got != want {
			t.Fatalf("Width(%q) = %d, ansi says %d", out, got, want)
		}
		checkSafe(t, "EscapeLine", e.EscapeLine([]byte(in), 4).String(), ascii)
	}
	checkJSON(t, in)
	if name := safetext.FileName(in); strings.ContainsAny(name, "/\\:*?\"<>|\x00") || len(name) > 200 || name == "" {
		t.Fatalf("FileName(%q) = %q", in, name)
	} else {
		checkSafe(t, "FileName", name, false)
	}
	checkSafe(t, "Cell", safetext.Cell(in), false)
}

func checkJSON(t testing.TB, in string) {
	t.Helper()
	line, err := safetext.MarshalJSON(map[string]string{in: in})
	if err != nil {
		t.Fatal(err)
	}
	checkSafe(t, "MarshalJSON", string(line), false)
	var got map[string]string
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	want := strings.ToValidUTF8(in, "")
	for k, v := range got {
		if utf8.ValidString(in) && (k != in || v != in) || strings.ReplaceAll(v, "\uFFFD", "") != strings.ReplaceAll(want, "\uFFFD", "") {
			t.Fatalf("%q became %q: %q", in, k, v)
		}
	}
	text := safetext.Line(in)
	direct, err := text.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	checkSafe(t, "Text.MarshalJSON", string(direct), false)
	var back string
	if err := json.Unmarshal(direct, &back); err != nil || back != text.String() {
		t.Fatalf("%q as JSON is %q: %v", text, back, err)
	}
}

func TestEveryCodePoint(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xD800 && r <= 0xDFFF {
			continue
		}
		in := "a" + string(r) + "b"
		out := safetext.Line(in).String()
		if stays := out == in; stays == dangerous(r) && r != 0xFE0F && r != '⟦' && r != '⏎' {
			if !stays && knownExtra(r) {
				continue
			}
			t.Errorf("%U: Line gives %q", r, out)
		}
		if r < 0x3000 || r > 0xA000 && r < 0xAC00 || r > 0xD7A0 && r < 0x12000 || r > 0x1F000 && r < 0x1FC00 || r > 0xDFFFF && r < 0xE0200 || r&0xFFFF > 0xFFF0 {
			checkText(t, in)
		}
	}
}

// knownExtra lists what the package escapes beyond the table: ignorable marks,
// skin tones without an emoji, and letters that join the character after them.
func knownExtra(r rune) bool {
	switch {
	case r == 0x17B4, r == 0x17B5, r >= 0x180B && r <= 0x180F, r >= 0x1F3FB && r <= 0x1F3FF, r == 0xFFFC, r == 0x16FE4:
	case r == 0x0D4E, r == 0x111C2, r == 0x111C3, r == 0x1193F, r == 0x11941, r == 0x11A3A, r >= 0x11A84 && r <= 0x11A89,
		r == 0x11D46, r == 0x11F02:
	default:
		return false
	}
	return true
}

func TestEveryBytePair(t *testing.T) {
	t.Parallel()
	for a := range 256 {
		for b := range 256 {
			checkText(t, string([]byte{byte(a), byte(b)}))
		}
	}
}

// hostile returns the project's handwritten corpus, or skips.
func hostile(t testing.TB) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..", "..", "shared", "fixtures", "hostile")
	raw, err := os.ReadFile(filepath.Join(root, "expected.json"))
	if err != nil {
		t.Skipf("no corpus beside this repository: %v", err)
	}
	var expected struct {
		Files map[string]struct{ Terminal bool }
	}
	if err := json.Unmarshal(raw, &expected); err != nil {
		t.Fatal(err)
	}
	corpus := map[string]string{}
	for name, want := range expected.Files {
		if !want.Terminal {
			continue
		}
		body, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		corpus[filepath.Base(name)] = string(body)
	}
	if len(corpus) != 118 {
		t.Fatalf("corpus has %d terminal files, want 118", len(corpus))
	}
	return corpus
}

func TestHostileCorpus(t *testing.T) {
	for name, body := range hostile(t) {
		t.Run(name, func(t *testing.T) {
			checkText(t, body)
			lines := escaped(safetext.Escaper{}, body, 8)
			for _, line := range lines {
				checkSafe(t, "EscapeLine", line.String(), false)
			}
			for _, line := range lines[:min(len(lines), 100)] {
				for _, row := range safetext.Wrap(line, 40) {
					checkSafe(t, "Wrap", row.String(), false)
					if row.Width() > 40 {
						t.Errorf("%d columns: %q", row.Width(), row)
					}
				}
			}
		})
	}
}

// TestHostileCorpusNeedsTheFilter proves the oracle itself: unescaped, the control files must fail it.
func TestHostileCorpusNeedsTheFilter(t *testing.T) {
	calm := map[string]bool{ // dangerous only by size, blanks or width
		"term-069": true, "term-075": true, "term-076": true, "term-077": true, "term-080": true, "term-081": true,
		"term-082": true, "term-094": true, "term-095": true, "term-096": true, "term-099": true, "term-100": true,
		"term-101": true, "term-102": true, "term-070": true, "term-071": true, "term-072": true, "term-073": true, "term-074": true,
	}
	for name, body := range hostile(t) {
		if !calm[name[:8]] && safetext.Hidden(body) == 0 {
			t.Errorf("%s: nothing hidden found", name)
		}
	}
}

package safetext_test

import (
	"io"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/vt"

	"memdesk/internal/safetext"
)

// screen is a terminal emulator whose replies are collected: escaped text must
// never make a terminal answer.
type screen struct {
	*vt.Emulator
	replies chan string
}

func newScreen(t testing.TB, columns int) *screen {
	s := &screen{vt.NewEmulator(columns, 2), make(chan string, 1)}
	go func() {
		all, _ := io.ReadAll(s)
		s.replies <- string(all)
	}()
	t.Cleanup(func() {
		// Close of the emulator itself races with its Read.
		if err := s.InputPipe().(io.Closer).Close(); err != nil {
			t.Error(err)
		}
		if got := <-s.replies; got != "" {
			t.Errorf("the terminal answered %q", got)
		}
	})
	return s
}

// show clears the screen, writes text and returns the cells of the first row
// and the column of the cursor.
func (s *screen) show(t testing.TB, text string) (row string, column int) {
	t.Helper()
	// Mode 2027 measures by grapheme cluster, as the layout does.
	if _, err := s.WriteString("\x1b[?2027h\x1b[2J\x1b[H" + text); err != nil {
		t.Fatal(err)
	}
	pos := s.CursorPosition()
	if pos.Y != 0 {
		t.Fatalf("%q moved the cursor to line %d", text, pos.Y)
	}
	var b strings.Builder
	for x := 0; x < s.Width(); {
		cell := s.CellAt(x, 0)
		if cell == nil {
			break
		}
		b.WriteString(cell.Content)
		x += max(cell.Width, 1)
	}
	return strings.TrimRight(b.String(), " "), pos.X
}

// TestEmulatorShowsExactlyTheEscapedText is oracle (b): a terminal that parses the output must hold the
// cells of the escaped text, and nothing else may happen.
func TestEmulatorShowsExactlyTheEscapedText(t *testing.T) {
	const columns = 240
	s := newScreen(t, columns+1)
	check := func(name, body string) {
		lines := escaped(safetext.Escaper{}, body, 8)
		for i, line := range lines[:min(len(lines), 50)] {
			line = safetext.Escaper{}.Trunc(line, columns)
			row, column := s.show(t, line.String())
			want := emulated(line.String())
			if emulated(row) != strings.TrimRight(want, " ") {
				t.Errorf("%s line %d: the screen shows %q, want %q", name, i+1, row, want)
			}
			if width := safetext.Const(want).Width(); column != width {
				t.Errorf("%s line %d: %q ends in column %d, Width says %d", name, i+1, want, column, width)
			}
		}
	}
	for _, body := range samples {
		check("sample", body)
	}
	for name, body := range hostile(t) {
		check(name, body)
	}
}

// emulated is how this emulator can hold escaped text: it prints ASCII at once and may drop marks that
// join it later. No other difference is permitted.
func emulated(s string) string {
	var b strings.Builder
	ascii := false
	for _, r := range s {
		if unicode.Is(unicode.M, r) && ascii {
			continue
		}
		ascii = r < utf8.RuneSelf
		b.WriteRune(r)
	}
	return b.String()
}

// TestEmulatorShowsSomethingElseUnescaped proves that the emulator detects unescaped text.
func TestEmulatorShowsSomethingElseUnescaped(t *testing.T) {
	s := newScreen(t, 80)
	if row, _ := s.show(t, "ab\x1b[2Dxy"); row != "xy" {
		t.Errorf("the emulator shows %q", row)
	}
}

// samples are hostile strings that every clone has, and seeds for fuzzing.
var samples = []string{
	"plain", "a\x1b[2J\x1b[31mb", "\x1b]0;title\x07x", "\x1b]52;c;aGk=\x1b\\", "\x1bP$qm\x1b\\", "\x1b_Gpayload", "\x9b31m", "\u009b31m\u009d0;t\u009c",
	"a\rb\bc\x00\x05\x0e", "x\u202edesrever\u202c\u2066y", "z\u200bw\u200d\ufeff\u00ad", "\U000E0001\U000E0068\U000E0069\U000E007F", "v\ufe0f\ufe01\U000E0100",
	"\u3164\uffa0\u2800\u115f", "a\u2028b\u2029c\u0085d", "e" + repeat("\u0301", 40), "\u0301x", "\ue000\U000F0000\uffff\u0378", "\xc0\xaf\xed\xa0\x80\xf5\xe2\x80",
	"^[ ^^G \\x9b <U+009B> ⟦U+202E⟧ ⟦⟧ ⏎ <... 3 more bytes>", "tab\there\r\nline\n", "👩\u200d💻 👍🏽 ❤\ufe0f 1\ufe0f\u20e3 🇩🇪", "漢字 हिन्दी ไทยกำ עברית 각", repeat("क्", 30),
	"\x1b[999999999b", "\"quoted\" \\u202e \u007f", "=cmd|' /C calc'!A0", "-rf", "../../etc/passwd", "CON.txt",
}

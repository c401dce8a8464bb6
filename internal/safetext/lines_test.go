package safetext_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/internal/safetext"
)

func TestLines(t *testing.T) {
	long := repeat("x", 200)
	tests := []struct {
		name string
		in   string
		lim  safetext.Limits
		want []string
		cut  safetext.Cut
		says string
	}{
		{"empty", "", safetext.Limits{}, nil, safetext.Cut{}, ""},
		{"one", "a", safetext.Limits{}, []string{"a"}, safetext.Cut{}, ""},
		{"ends in newline", "a\nb\n", safetext.Limits{}, []string{"a", "b"}, safetext.Cut{}, ""},
		{"blank lines", "\n\n", safetext.Limits{}, []string{"", ""}, safetext.Cut{}, ""},
		{"crlf", "a\r\nb\r\n", safetext.Limits{}, []string{"a", "b"}, safetext.Cut{CRLF: true}, ""},
		{"mixed", "a\r\nb\n", safetext.Limits{}, []string{"a", "b"}, safetext.Cut{CRLF: true, Mixed: true}, ""},
		{"cr at the end", "a\r", safetext.Limits{}, []string{"a^M"}, safetext.Cut{}, ""},
		{"cr inside", "a\rb\r\r\n", safetext.Limits{}, []string{"a^Mb^M"}, safetext.Cut{CRLF: true}, ""},
		{"tabs", "a\tb\t漢\tc", safetext.Limits{}, []string{"a       b       漢      c"}, safetext.Cut{}, ""},
		{"tab after an escape", "\u202e\tb", safetext.Limits{}, []string{"⟦U+202E⟧        b"}, safetext.Cut{}, ""},
		{"bytes", "abc\ndef\nghi\n", safetext.Limits{MaxBytes: 5}, []string{"abc", "d"}, safetext.Cut{Bytes: 7, Lines: 1}, "... 7 more bytes, 1 more line"},
		{"bytes at a line end", "abc\ndef\n", safetext.Limits{MaxBytes: 4}, []string{"abc"}, safetext.Cut{Bytes: 4, Lines: 1}, "... 4 more bytes, 1 more line"},
		{"bytes inside a character", "é", safetext.Limits{MaxBytes: 1}, nil, safetext.Cut{Bytes: 2, Lines: 1}, "... 2 more bytes, 1 more line"},
		{"lines", "a\nb\nc\nd", safetext.Limits{MaxLines: 2}, []string{"a", "b"}, safetext.Cut{Bytes: 3, Lines: 2}, "... 3 more bytes, 2 more lines"},
		{"blank lines cut", "a\n\n\n", safetext.Limits{MaxLines: 1}, []string{"a"}, safetext.Cut{Bytes: 2, Lines: 2}, "... 2 more bytes, 2 more lines"},
		{"columns", "abcdef\nabc", safetext.Limits{MaxColumns: 4}, []string{"abc…", "abc"}, safetext.Cut{Bytes: 3, LongLines: 1}, "... 3 more bytes, 1 line shortened"},
		{"columns with notice", long, safetext.Limits{MaxColumns: 80}, []string{repeat("x", 62) + "⟦… 138 more bytes⟧"}, safetext.Cut{Bytes: 138, LongLines: 1}, "... 138 more bytes, 1 line shortened"},
		{"columns at an escape", "ab\u202ecd", safetext.Limits{MaxColumns: 6}, []string{"ab…"}, safetext.Cut{Bytes: 5, LongLines: 1}, "... 5 more bytes, 1 line shortened"},
		{"everything at once", "abcdef\r\n\x1b\nz", safetext.Limits{MaxBytes: 10, MaxLines: 1, MaxColumns: 3}, []string{"ab…"}, safetext.Cut{Bytes: 7, Lines: 2, LongLines: 1, CRLF: true}, "... 7 more bytes, 2 more lines, 1 line shortened"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines, cut := safetext.Escaper{}.Lines(tt.in, tt.lim)
			var got []string
			for _, line := range lines {
				got = append(got, line.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.cut, cut); diff != "" {
				t.Errorf("cut (-want +got):\n%s", diff)
			}
			if got := cut.Text().String(); got != tt.says {
				t.Errorf("cut says %q, want %q", got, tt.says)
			}
		})
	}
}

func TestSplitKeepsEveryByte(t *testing.T) {
	for _, in := range []string{"", "a", "a\n", "\n", "\r\n", "a\r\n\r\nb\r", "\r", "a\n\nb"} {
		var whole strings.Builder
		for line := range safetext.Split(in) {
			if whole.Len() != line.Offset {
				t.Errorf("%q: offset %d, want %d", in, line.Offset, whole.Len())
			}
			whole.WriteString(line.Raw + line.End)
		}
		if whole.String() != in {
			t.Errorf("%q became %q", in, whole.String())
		}
	}
}

func TestEscapeColumnsCountsTheBytesItHides(t *testing.T) {
	for _, in := range []string{
		repeat("a", 5000), repeat("漢", 3000), repeat("\x1b", 2000), repeat("a\tb", 900), repeat("e\u0301", 2000),
		repeat("\u202e", 500), repeat("\xff", 500), "e" + repeat("\u0301", 9000), repeat("^G", 400),
	} {
		for columns := 1; columns < 200; columns += 7 {
			text, cut := safetext.Escaper{}.EscapeColumns(in, 0, columns)
			if text.Width() > columns {
				t.Fatalf("%.9q in %d columns takes %d: %q", in, columns, text.Width(), text)
			}
			shown := text.String()
			for _, span := range safetext.Marks(text) {
				if span.Kind == safetext.Notice {
					shown = shown[:span.Start]
				}
			}
			shown = strings.TrimSuffix(shown, "…")
			back, err := safetext.Unescape(shown)
			if err != nil || back != in[:len(in)-cut] {
				t.Fatalf("%.9q in %d columns: shows %d bytes, says %d are cut of %d: %v", in, columns, len(back), cut, len(in), err)
			}
		}
	}
}

// One row of a long line must cost by the row's length, not by the line's.
func TestEscapeColumnsIsBoundedByTheColumns(t *testing.T) {
	allocated := func(s string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 100 {
			safetext.Escaper{}.EscapeColumns(s, 8, 100)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	short, long := allocated(repeat("漢\x1b", 5000)), allocated(repeat("漢\x1b", 500000))
	if long > 2*short {
		t.Errorf("allocates %d bytes for a short line, %d for one a hundred times as long", short, long)
	}
}

func TestASCIILines(t *testing.T) {
	e := safetext.Escaper{ASCII: true, TabStop: 4}
	lines, cut := e.Lines("é\tb\n"+repeat("x", 100), safetext.Limits{MaxColumns: 80})
	if got := lines[0].String(); got != "<U+00E9>    b" {
		t.Errorf("tab = %q", got)
	}
	if got := lines[1].String(); !strings.HasSuffix(got, "<... 40 more bytes>") || cut.Bytes != 40 {
		t.Errorf("long line = %q, cut %+v", got, cut)
	}
	if text, _ := e.EscapeColumns("abcdef", 4, 3); text.String() != "ab~" {
		t.Errorf("short column = %q", text)
	}
}

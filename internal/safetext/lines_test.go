package safetext_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/internal/safetext"
)

func TestLines(t *testing.T) {
	tests := []struct {
		name string
		in   string
		want []string
	}{
		{"empty", "", nil},
		{"one", "a", []string{"a"}},
		{"ends in newline", "a\nb\n", []string{"a", "b"}},
		{"blank lines", "\n\n", []string{"", ""}},
		{"crlf", "a\r\nb\r\n", []string{"a", "b"}},
		{"mixed", "a\r\nb\n", []string{"a", "b"}},
		{"cr at the end", "a\r", []string{"a^M"}},
		{"cr inside", "a\rb\r\r\n", []string{"a^Mb^M"}},
		{"tabs", "a\tb\t漢\tc", []string{"a       b       漢      c"}},
		{"tab after an escape", "\u202e\tb", []string{"⟦U+202E⟧        b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, line := range escaped(safetext.Escaper{}, tt.in, 8) {
				got = append(got, line.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSplitKeepsEveryByte(t *testing.T) {
	for _, in := range []string{"", "a", "a\n", "\n", "\r\n", "a\r\n\r\nb\r", "\r", "a\n\nb"} {
		var whole strings.Builder
		for line := range safetext.Split(in) {
			whole.WriteString(line.Raw + line.End)
		}
		if whole.String() != in {
			t.Errorf("%q became %q", in, whole.String())
		}
	}
}

func TestASCIILines(t *testing.T) {
	if got := (safetext.Escaper{ASCII: true}).EscapeLine([]byte("é\tb"), 4).String(); got != "<U+00E9>    b" {
		t.Errorf("tab = %q", got)
	}
}

package subject_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"memdesk/gdpr/subject"
)

// TestMarks: a name without its marks is the name, by whole words; other marks, ids and
// short words are not.
func TestMarks(t *testing.T) {
	for _, tt := range []struct {
		alias, text string
		method      subject.Method // empty: nobody
	}{
		{"José Núñez", "asked jose nunez, then", subject.Unmarked},
		{"José Núñez", "JOSE NUNEZ", subject.Unmarked},
		{"José Núñez", "Jose Núñez", subject.Unmarked},
		{"José Núñez", "(José Nunez)", subject.Unmarked},
		{"José Núñez", "José Núñez", subject.Exact},
		{"José Núñez", "Josè Nunez", ""},
		{"José Núñez", "jose nunezx", ""},
		{"José Núñez", "xjose nunez", ""},
		{"José Núñez", "Maria-Jose Nunez", ""},
		{"José Núñez", "jose nunez-diaz", ""},
		{"Zoë Ångström", "zoe angstrom", subject.Unmarked},
		{"Zoë Ångström", "Zoe Aangstroem", subject.Unmarked},
		{"Søren Kjærgård", "Soren Kjaergard", subject.Unmarked},
		{"Wałęsa", "Walesa's", subject.Unmarked},
		{"Núñez", "nunez", ""}, // five letters
		{"Álvarez", "(alvarez)", subject.Unmarked},
		{"Álvarez", "alvarezes", ""},
		{"Álvarez", "alvarez@host.test", ""},
		{"Jose Nunez", "José Núñez", subject.Marked},
		{"Jose Nunez", "José Nunez", subject.Marked},
		{"Jose Nunez", "ask José\nNúñez", subject.Marked},
		{"Jose Nunez", "Jos\\u00e9 N\\u00fa\\u00f1ez", subject.Marked},
		{"Jose Nunez", "Jos&eacute; N&uacute;&ntilde;ez", subject.Marked},
		{"Jose Nunez", "Jos%C3%A9%20N%C3%BA%C3%B1ez", subject.Marked},
		{"Jose Nunez", "Jos\xe9 N\xfa\xf1ez", subject.Marked},
		{"Jose Nunez", "José Núñezová", ""},
		{"alvarez", "Álvarez", subject.Marked},
		{"subj-jose", "subj-josé", ""},
		{"jose01", "josé01", ""},
		{"u1", "ü1", ""},
		{"jose@nunez.test", "josé@nunez.test", ""},
		{"विनोद कुमार", "वनद कमर", ""}, // vowels are no marks
		{"Пётр Фёдоров", "Петр Федоров", subject.Unmarked},
	} {
		m := matcher(t, tt.alias)
		hits := m.Text(tt.text)
		if len(hits) > 1 || len(hits) > 0 != (tt.method != "") {
			t.Errorf("%q in %q: %+v", tt.alias, tt.text, hits)
			continue
		}
		if len(hits) > 0 && hits[0].Method != tt.method {
			t.Errorf("%q in %q: by %s; want %s", tt.alias, tt.text, hits[0].Method, tt.method)
		}
		if m.Names(tt.text) != (tt.method != "") || tt.method != "" && m.Names(m.Redact(tt.text, "[x]")) {
			t.Errorf("%q in %q: Names or Redact disagree", tt.alias, tt.text)
		}
		if !utf8.ValidString(tt.text) || strings.ContainsAny(tt.text, "&%") {
			continue // in the bytes of a medium marks are looked for in UTF-8 and in escapes of JSON
		}
		rep, err := m.Scan(t.Context(), readerOf(tt.text), nil)
		if err != nil || rep.Hits > 0 != (tt.method != "") {
			t.Errorf("%q in %q: scan %+v, %v", tt.alias, tt.text, rep, err)
		}
	}
	if got, want := matcher(t, "José Núñez").Redact("ask jose nunez for tea", "[x]"), "ask [x] for tea"; got != want {
		t.Errorf("%q", got)
	}
}

func readerOf(s string) *strings.Reader { return strings.NewReader(s) }

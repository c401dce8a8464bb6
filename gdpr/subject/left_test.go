package subject_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"memdesk/gdpr/subject"
)

// What tools write around a name is no hiding place.
func TestNamesThatToolsHaveWritten(t *testing.T) {
	m, err := subject.New("subj-zq81", "Zoë Ångström", "José")
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{
		"a line break in a string of JSON":  `{"text":"met Zoë\nÅngström today"}`,
		"escapes of both kinds":             `{"text":"met Zo\u00eb\n\u00c5ngstr\u00f6m today"}`,
		"a short name, taken apart":         "asked " + norm.NFD.String("José") + " again",
		"a short name, in wide letters":     "asked Ｊｏｓé again",
		"a backslash that escapes no break": `c:\\new\\Zoë Ångström`,
	} {
		if !m.Names(text) {
			t.Errorf("%s: not found in %q", what, text)
		}
		if got := m.Redact(text, "[x]"); m.Names(got) {
			t.Errorf("%s: still there after a redaction: %q", what, got)
		}
	}
	if m.Names("josé went, JOSÉ too") {
		t.Error("a short identifier is found in another case")
	}
	for n := range 60 {
		enc := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", n) + " customer Zoë Ångström called about a delay, again and again"))
		for _, eol := range []string{"\n", "\r\n"} {
			text := "attached:\n" + wrap(enc, 76, eol) + eol + "end"
			if !m.Names(text) {
				t.Errorf("not found in wrapped base64, %d before: %q", n, text)
			}
			if got := m.Redact(text, "[x]"); m.Names(got) || !strings.HasPrefix(got, "attached:") || !strings.HasSuffix(got, "end") {
				t.Errorf("redacted: %q", got)
			}
			found := false
			for _, w := range subject.Unwrap(text) {
				found = found || m.Names(w.Text) && text[w.Start:w.End] != ""
			}
			if !found {
				t.Errorf("not unwrapped: %q", text)
			}
			for _, medium := range []string{text, "SQLite format 3\x00\x01" + text, strings.Repeat("- quiet\n", (1<<20)/8-12) + text + strings.Repeat("\n- quiet", 2000)} {
				rep, err := m.Scan(t.Context(), strings.NewReader(medium), nil)
				if err != nil || rep.By[subject.Base64] != 1 {
					t.Errorf("a scan of %d bytes does not find wrapped base64, %d before: %+v, %v", len(medium), n, rep, err)
				}
			}
		}
	}
	for _, medium := range []string{"log: Zoë\nÅngström asked", "log: Zoë\r\nÅngström asked", `log: "Zoë\nÅngström asked"`, norm.NFD.String("log: José asked")} {
		rep, err := m.Scan(t.Context(), bytes.NewReader([]byte(medium)), nil)
		if err != nil || rep.Hits == 0 {
			t.Errorf("a scan does not find %q: %+v, %v", medium, rep, err)
		}
	}
	for _, bad := range []string{"erased", "[erased]", "Erased"} {
		if err := subject.Check(bad); err == nil {
			t.Errorf("%q is taken for a person", bad)
		}
	}
}

func wrap(s string, width int, eol string) string {
	var out []string
	for len(s) > width {
		out, s = append(out, s[:width]), s[width:]
	}
	return strings.Join(append(out, s), eol)
}

// A short identifier leaves no core in base64: what is base64 is decoded.
func TestShortIdsInBase64(t *testing.T) {
	m, err := subject.New("u1", "José")
	if err != nil {
		t.Fatal(err)
	}
	for n := range 12 {
		for _, tt := range []struct {
			text string
			want bool
		}{
			{" asked u1 about the delay", true}, {" met José about the delay", true}, {" asked u10 about the delay", false}, {" asked x-u1 about the delay", false}, {" asked U1 about the delay", false},
		} {
			enc := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", n) + tt.text))
			text := "data:" + enc + " end"
			if m.Names(text) != tt.want {
				t.Errorf("Names(%q of %q) = %v", text, tt.text, !tt.want)
			}
			if got := m.Redact(text, "[x]"); (got == text) == tt.want || tt.want && got != "data:[x] end" {
				t.Errorf("Redact(%q) = %q", text, got)
			}
		}
	}
	noise := base64.StdEncoding.EncodeToString([]byte("\x01\x02\xf0\xe1\x03\x04 u1 \x05\x06\xd2\xc3\x07\x08\x90\x91\x92\x93\x94"))
	for _, other := range []string{noise, "memory/preference/some-long-name", "3f2b0a5c-77aa-4c1e-9e5e-0d6c2b1a9f00", "AbcDefGhiJklMnoPqrStuVwxYz0123456789"} {
		if m.Names(other) {
			t.Errorf("%q names her", other)
		}
	}
}

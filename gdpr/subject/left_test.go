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

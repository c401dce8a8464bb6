package subject_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"strings"
	"testing"

	"memdesk/gdpr/subject"
)

func TestPlain(t *testing.T) {
	tests := []struct {
		name string
		data []byte
		text string
		enc  subject.Encoding // empty: no text
	}{
		{"UTF-8", []byte("met Zoë"), "met Zoë", subject.UTF8},
		{"Latin-1", []byte("met Zo\xeb\n"), "met Zoë\n", subject.Windows1252},
		{"Windows-1252", []byte("met Zo\xeb \x96 \x8aime"), "met Zoë – Šime", subject.Windows1252},
		{"UTF-16LE with a mark", wide("\ufeffmet Zoë", false), "\ufeffmet Zoë", subject.UTF16LE},
		{"UTF-16BE with a mark", wide("\ufeffmet Zoë", true), "\ufeffmet Zoë", subject.UTF16BE},
		{"UTF-16LE", wide("met Zoë\r\n", false), "met Zoë\r\n", subject.UTF16LE},
		{"UTF-16BE", wide("met Zoë", true), "met Zoë", subject.UTF16BE},
		{"half a unit", wide("met Zoë", true)[1:], "", ""},
		{"half a surrogate", append(wide("met Zoë", false), 0, 0xd8), "", ""},
		{"a database", []byte("SQLite format 3\x00\x10\x00\xff"), "", ""},
		{"controls", []byte("a\x01b\xeb"), "", ""},
		{"no character of it", []byte("a\x81\xeb"), "", ""},
		{"nothing", nil, "", subject.UTF8},
	}
	m := matcher(t, "Zoë")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, enc, ok := subject.Plain(tt.data)
			if ok != (tt.enc != "") || enc != tt.enc || text != tt.text {
				t.Fatalf("Plain = %q, %q, %v", text, enc, ok)
			}
			out, ok := m.RedactBytes(tt.data, "[x]")
			if ok != (tt.enc != "") {
				t.Fatalf("RedactBytes = %q, %v", out, ok)
			}
			got, _, _ := subject.Plain(out)
			if want := strings.ReplaceAll(tt.text, "Zoë", "[x]"); ok && got != want {
				t.Errorf("RedactBytes = %q; want %q", got, want)
			}
			if tt.enc != "" && tt.text != "" && (!m.NamesBytes(tt.data) || len(m.Bytes(tt.data)) != 1 || m.NamesBytes(out)) {
				t.Errorf("Bytes = %+v", m.Bytes(tt.data))
			}
		})
	}
}

func zipped(t testing.TB, name string, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Name = name
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestScanDecodesInsideUTF16: a scan must find in a UTF-16 text what a search of the decoded text finds, at its place.
func TestScanDecodesInsideUTF16(t *testing.T) {
	m := matcher(t, "zx9canary77q")
	for _, said := range []string{"zx9canary77q", "zx9canary&#55;7q", b64("met zx9canary77q there, today"), hex.EncodeToString([]byte("by zx9canary77q now"))} {
		for _, big := range []bool{false, true} {
			const before = "a quiet day\r\n"
			rep, err := m.Scan(t.Context(), bytes.NewReader(wide(before+said+"\r\n", big)), nil)
			if first := int64(len(wide(before, big))); err != nil || rep.Hits != 1 || rep.First < first-1 || rep.First > first+10 {
				t.Errorf("%s, big %v: %+v, %v", said, big, rep, err)
			}
		}
	}
}

// TestScanLooksIntoGzip: a medium that cannot be opened must never count as clean.
func TestScanLooksIntoGzip(t *testing.T) {
	m := matcher(t, "zx9canary77q")
	hers := []byte(strings.Repeat("quiet\n", 400_000) + "asked zx9canary77q\n")
	nested := hers
	for range 5 {
		nested = zipped(t, "", nested)
	}
	tests := []struct {
		name string
		data []byte
		hits int64
		shut bool // not searched completely
	}{
		{"hers", zipped(t, "a.md", hers), 1, false},
		{"another's", zipped(t, "a.md", []byte("asked zx9canary77q2")), 0, false},
		{"a name", zipped(t, "zx9canary77q.md", []byte("quiet")), 1, false},
		{"two members", append(zipped(t, "", []byte("quiet")), zipped(t, "", hers)...), 1, false},
		{"twice", zipped(t, "", zipped(t, "", hers)), 1, false},
		{"too deep", nested, 0, true},
		{"cut off", zipped(t, "", hers)[:200], 0, true},
		{"changed", append(zipped(t, "", []byte("quiet")), "zx9"...), 0, true},
		{"no gzip", []byte("\x1f\x8b\x08\xffasked zx9canary77q"), 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rep, err := m.Scan(t.Context(), bytes.NewReader(tt.data), nil)
			if err != nil || len(rep.Closed) > 0 != tt.shut || rep.Hits != tt.hits {
				t.Errorf("Scan = %+v, %v", rep, err)
			}
			if !tt.shut && m.NamesBytes(tt.data) != (tt.hits > 0) {
				t.Error("NamesBytes disagrees")
			}
		})
	}
}

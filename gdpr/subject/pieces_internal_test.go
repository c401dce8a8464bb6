package subject

import (
	"bytes"
	"compress/gzip"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestPiecesLoseNothing: a search in pieces must find the same as a search in the whole text, for names
// with escapes, markup and line ends inside and beside them, in realistic surroundings.
func TestPiecesLoseNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	names := []string{"Ana Ribeiro", "subj-ana", "ana.ribeiro@example.test", "RC-ANA-5512", "Zoë Ångström", "+49 30 5550 1234"}
	beside := []string{" ", "\n", `\n`, `\\n`, `\t`, "_", "x", "(", `"`, "<b>", "</b>", "**", "[", "](http://a.example/x)", "~~", "-", "someCamelCase ", "&amp;", "%20", `\u0041`, "=\n", "> ", "// ", "12", "—", "é", "\r\n", `C:\`, "{", "@", "example ", "subject ", "QUJDREVGRw== "}
	inside := []string{"-\n", "-\r\n", "\n ", "\r\n\t", `-\n`, `\n `, `-\r\n`, `-\\n> `, "<b>", "</b><i>", "**", "[", "](x)", "~~", "=\n", `\u200b`, "\u00ad", "-\n> ",
		"<a title='" + strings.Repeat("t", 200) + "'><b title='" + strings.Repeat("t", 200) + "'>"}
	found := 0
	for range 4_000 {
		var b strings.Builder
		for range 1 + rng.IntN(4) {
			for range rng.IntN(8) {
				b.WriteString(beside[rng.IntN(len(beside))])
			}
			b.WriteString(strings.Repeat(".", rng.IntN(140)))
			if rng.IntN(8) == 0 {
				b.WriteString(strings.Repeat("a note %41 of lines\n", rng.IntN(3)) + strings.Repeat("ribeiro ana subj. ", rng.IntN(200)))
			}
			name := names[rng.IntN(len(names))]
			switch at := 1 + rng.IntN(len(name)-1); rng.IntN(5) {
			case 0, 1:
				name = name[:at] + inside[rng.IntN(len(inside))] + name[at:]
			case 2:
				name = base64.StdEncoding.EncodeToString([]byte(" " + name + "."))
			case 3:
				name = twice(rng, " "+name+".")
			}
			b.WriteString(name)
		}
		text := []byte(b.String())
		term := names[rng.IntN(len(names))]
		m, err := New(term)
		if err != nil {
			t.Fatal(err)
		}
		got := m.find(text, false, false)
		all := walker{least: m.least, reach: 1 << 20, foreign: m.foreign, charsets: m.charsets}
		var want []Hit
		all.look = func(v *view, l *layer) bool {
			m.match(v, func(_ *Pattern, lo, hi int, whole bool) bool {
				start, end := l.place(int(v.from[lo]), int(v.to[hi-1]))
				if whole {
					want = append(want, Hit{Start: start, End: end})
				}
				if found++; whole && !slices.ContainsFunc(got, func(h Hit) bool { return h.Start < end && start < h.End }) {
					t.Errorf("%q: %q is not found in the pieces of %q", term, text[start:end], text)
				}
				return true
			})
			return true
		}
		all.text(&layer{text: text, family: unresolved})
		for _, h := range got {
			if !slices.ContainsFunc(want, func(o Hit) bool { return h.Start < o.End && o.Start < h.End }) {
				t.Errorf("%q: %q is found in the pieces alone of %q", term, text[h.Start:h.End], text)
			}
		}
		if t.Failed() {
			return // the other failures would have the same cause
		}
	}
	if found < 5_000 {
		t.Errorf("%d places are too few to say anything", found)
	}
}

// twice is a text in two encodings, perhaps in lines, as a JSON string has them too.
func twice(rng *rand.Rand, s string) string {
	encodings := []func(b []byte) string{base64.StdEncoding.EncodeToString, hex.EncodeToString, func(b []byte) string {
		return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b))
	}, func(b []byte) string {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		_, _ = w.Write(b)
		_ = w.Close()
		return z.String()
	}}
	s = encodings[rng.IntN(3)]([]byte(encodings[rng.IntN(4)]([]byte(s))))
	width, end := []int{22, 24, 60, 76, len(s)}[rng.IntN(5)], []string{"\n", "\r\n", `\n`, `\r\n`, `\\n`}[rng.IntN(5)]
	if end[0] == '\\' && rng.IntN(2) == 0 {
		s = strings.ReplaceAll(s, "/", `\/`)
	}
	var lines []string
	for line := range slices.Chunk([]byte(s), width) {
		lines = append(lines, string(line))
	}
	return ` "` + strings.Join(lines, end) + `" `
}

// TestManyBreaks: a text of nothing but link marks must be searched in steps that its length bounds. Without
// that, this test takes half an hour.
func TestManyBreaks(t *testing.T) {
	m, err := New("Ana Zxribeiro")
	if err != nil {
		t.Fatal(err)
	}
	marks := strings.Repeat("](", 1<<19)
	for _, text := range []string{marks, strings.Repeat("n"+marks[:2<<10], 1<<8)} {
		if got := m.Text(text + " asks Ana Zxribeiro"); len(got) != 1 {
			t.Errorf("%d hits beside %d KiB of link marks, want 1", len(got), len(text)>>10)
		}
	}
}

// TestPiecesOfEncodings: what a search in the whole text finds inside an encoding, or two, a search in pieces must
// find too.
func TestPiecesOfEncodings(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	m, err := New("Ana Ribeiro")
	if err != nil {
		t.Fatal(err)
	}
	all := walker{least: m.least, reach: 1 << 20, foreign: m.foreign, charsets: m.charsets}
	base64s := base64.StdEncoding.EncodeToString
	zip := func(b []byte) string {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, _ = w.Write(b)
		_ = w.Close()
		return out.String()
	}
	wrap := func(s, end string) string {
		width := 20 + rng.IntN(60)
		var out strings.Builder
		for ; len(s) > width; s = s[width:] {
			out.WriteString(s[:width] + end)
		}
		return out.String() + s + end
	}
	lower32 := func(b []byte) string { return strings.ToLower(base32.StdEncoding.EncodeToString(b)) }
	for name, encode := range map[string]func(b []byte) string{
		"hex of gzip":                   func(b []byte) string { return hex.EncodeToString([]byte(zip(b))) },
		"hex of base64":                 func(b []byte) string { return hex.EncodeToString([]byte(base64s(b))) },
		"hex of hex":                    func(b []byte) string { return hex.EncodeToString([]byte(hex.EncodeToString(b))) },
		"base32 of gzip":                func(b []byte) string { return lower32([]byte(zip(b))) },
		"hex in lines":                  func(b []byte) string { return wrap(hex.EncodeToString(b), "\n") },
		"hex in lines of JSON":          func(b []byte) string { return wrap(hex.EncodeToString(b), `\n`) },
		"base64 in lines of JSON":       func(b []byte) string { return wrap(base64s(b), `\n`) },
		"base64 in CRLF lines of JSON":  func(b []byte) string { return wrap(base64s(b), `\r\n`) },
		"base64 in lines of JSON twice": func(b []byte) string { return wrap(base64s(b), `\\n`) },
		"gzip in lines of JSON":         func(b []byte) string { return wrap(base64s([]byte(zip(b))), `\n`) },
		"gzip with escaped slashes":     func(b []byte) string { return strings.ReplaceAll(base64s([]byte(zip(b))), "/", `\/`) },
	} {
		found, lost := 0, 0
		for range 60 {
			text := []byte("note " + strings.Repeat("of some day ", rng.IntN(30)) + "Ana Ribeiro was here" + strings.Repeat(" and there", rng.IntN(30)))
			for i := range 5 { // so that a compressed text is no short one
				text = append(text, byte('a'+rng.IntN(26)), byte(' '+i))
			}
			text = []byte(`{"content":"` + strings.Repeat("x ", rng.IntN(90)) + encode(text) + `"}`)
			whole := false
			all.look = func(v *view, _ *layer) bool {
				m.match(v, func(*Pattern, int, int, bool) bool { whole = true; return false })
				return !whole
			}
			all.done = false
			all.text(&layer{text: text, family: unresolved})
			switch {
			case !whole:
			case m.NamesBytes(text):
				found++
			default:
				lost++
			}
		}
		if lost > 0 || found < 30 {
			t.Errorf("%s: %d found, %d lost", name, found, lost)
		}
	}
}

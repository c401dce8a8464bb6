package subject_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode/utf32"
	"pgregory.net/rapid"

	"golang.org/x/text/unicode/norm"

	"memdesk/gdpr/subject"
	"memdesk/internal/testcpu"
	"memdesk/model"
)

func matcher(t testing.TB, terms ...string) *subject.Matcher {
	t.Helper()
	m, err := subject.New(terms...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRedactLeavesTheRest(t *testing.T) {
	m := matcher(t, "Ana Ribeiro", "RC-ANA-5512", "Zoë")
	tests := []struct{ text, want string }{
		{"note for Ana Ribeiro (RC-ANA-5512): ok\n", "note for [erased] ([erased]): ok\n"},
		{"Liu and An\u200ba  Ribeiro\u200b meet", "Liu and [erased] meet"},
		{`{"who":"Zo\u00eb","n":1}`, `{"who":"[erased]","n":1}`},
		{"?q=Ana%20Ribeiro&p=1%2F2", "?q=[erased]&p=1%2F2"},
		{"RC-ANA-55 stays", "RC-ANA-55 stays"},
	}
	for _, tt := range tests {
		if got := m.Redact(tt.text, "[erased]"); got != tt.want {
			t.Errorf("Redact(%q) = %q; want %q", tt.text, got, tt.want)
		}
	}
}

func TestSelectorsThatAreNone(t *testing.T) {
	for _, bad := range []string{"", " ", "*", "u*", "%", "%ana%", "%20%2A", "a?", "-", "--", "x", "\u200b\u200b", "a\x00b", "\xff\xfe", strings.Repeat("a", 300)} {
		if _, err := subject.New(bad); !errors.Is(err, model.InvalidInput) {
			t.Errorf("New(%q) = %v; want InvalidInput", bad, err)
		}
	}
	if _, err := subject.New(); err == nil {
		t.Error("New() of nothing passed")
	}
}

func wide(s string, big bool) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		if big {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return b
}

// TestAnAbbreviationEndsInADot: the dot of an initial or of an abbreviation in the name is no end of a sentence.
func TestAnAbbreviationEndsInADot(t *testing.T) {
	m := matcher(t, "Maren J. Holt", "H.-J. Vance", "St. Clair", "E E Quill", "J.R.R. Tidewell", "Ana Ribeiro")
	for _, s := range []string{"Maren J. Holt", "maren j holt", "Holt, Maren J.", "Maren J.\nHolt", "H.-J. Vance", "St. Clair", "E. E. Quill", "E.E. Quill", "J. R. R. Tidewell", "J.R.R. Tidewell", "maren-j-holt"} {
		if !m.Names("by " + s + " now") {
			t.Errorf("%q is not found", s)
		}
	}
	for _, s := range []string{"I met Ana. Ribeiro came later", "it was Maren. J. Holt came", "on E Street. Quill"} {
		if m.Names(s) {
			t.Errorf("%q is found", s)
		}
	}
}

// TestAShortNameInLowerCase: where the identifier itself is in lower case, as the id of an account may be, its own
// spelling names the person too; no other one in lower case does.
func TestAShortNameInLowerCase(t *testing.T) {
	for id, other := range map[string]string{"zoë": "zoe", "jörg.w": "jorg.w", "nuñez": "nunez"} {
		m := matcher(t, id)
		if !m.Names("by "+id+" now") || !m.Names("by "+norm.NFD.String(id)+" now") || !m.Names("by "+strings.ToUpper(id)+" now") {
			t.Errorf("%s does not name itself", id)
		}
		if m.Names("by " + other + " now") {
			t.Errorf("%s names %s", id, other)
		}
	}
}

func TestScanForms(t *testing.T) {
	m := matcher(t, "subj-ana", "Ana Ribeiro", "zx9canary77q", "Zoë Berg", "ana%40example.test")
	binary := func(s string) []byte { return append([]byte("SQLite format 3\x00\x10\x00"), s...) }
	tests := []struct {
		name string
		data []byte
		want subject.Method
	}{
		{"text", []byte("a subj-ana b"), subject.Exact},
		{"text, part", []byte("a subj-ana2 b"), ""},
		{"other case", []byte("a SUBJ-ana b"), subject.Folded},
		{"utf-16le", wide("x Ana Ribeiro y", false), subject.UTF16},
		{"utf-16be", wide("x Ana Ribeiro y", true), subject.UTF16},
		{"utf-16, part", wide("xAna Ribeiro", false), ""},
		{"percent", []byte("Ana%20Ribeiro"), subject.Percent},
		{"escape", []byte(`"zo\u00eb berg"`), subject.Escaped},
		{"decomposed", []byte("Zoe\u0308 Berg"), subject.Folded},
		{"base64", []byte(base64.StdEncoding.EncodeToString([]byte("xx subj-ana yy"))), subject.Base64},
		{"between fields", binary("\x07factAna Ribeiro2026-01"), subject.Embedded},
		{"index term", binary("\x00\x08\x03canary77q\x02\x01"), subject.Prefix},
		{"index term in text", []byte("wocanary77q"), ""},
		{"an id that is percent-encoded", []byte("a ana%40example.test b"), subject.Exact},
		{"nothing", binary("Anabel and the banana"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rep, err := m.Scan(t.Context(), bytes.NewReader(tt.data), nil)
			if err != nil || rep.Bytes != int64(len(tt.data)) {
				t.Fatalf("Scan = %+v, %v", rep, err)
			}
			if tt.want == "" && rep.Hits > 0 || tt.want != "" && rep.By[tt.want] == 0 {
				t.Errorf("By = %v; want %q", rep.By, tt.want)
			}
		})
	}
}

func TestFriendsExplainLongerWords(t *testing.T) {
	m := matcher(t, "subj-ana")
	var f subject.Bystanders
	f.Add(m, "subj-analysis is a folder, subj-ana2 an account; subj-ana herself explains nothing")
	data := []byte("\x00\x01factsubj-analysis is\x00fact\x01subj-ana2\x00")
	rep, err := m.Scan(t.Context(), bytes.NewReader(data), &f)
	if err != nil || rep.Hits != 0 {
		t.Errorf("bystanders: %+v, %v; want no hit", rep, err)
	}
	rep, _ = m.Scan(t.Context(), bytes.NewReader([]byte("\x00\x01factsubj-ana3")), &f)
	if rep.By[subject.Embedded] != 1 {
		t.Errorf("an unknown word: %+v; want it counted", rep)
	}
}

// TestScanAcrossChunks puts a token at every kind of position around the border of two reads.
func TestScanAcrossChunks(t *testing.T) {
	m := matcher(t, "zx9canary77q", "u1")
	const border = 1 << 20
	for _, at := range []int{0, 1, border - 4111, border - 4100, border - 13, border - 12, border - 6, border - 1, border, border + 1, 2*border - 5, 3*border - 12} {
		data := bytes.Repeat([]byte("."), 3*border)
		copy(data[at:], "zx9canary77q")
		for _, r := range []func() (subject.Report, error){
			func() (subject.Report, error) { return m.Scan(t.Context(), bytes.NewReader(data), nil) },
			func() (subject.Report, error) {
				return m.Scan(t.Context(), iotest.HalfReader(bytes.NewReader(data)), nil)
			},
		} {
			rep, err := r()
			if err != nil || rep.Hits != 1 || rep.First != int64(at) || rep.Bytes != int64(len(data)) {
				t.Fatalf("at %d: %+v, %v", at, rep, err)
			}
		}
	}
}

// TestManyIdentifiers: with 3,000 names, every hundredth must be found, in a text and in a medium.
func TestManyIdentifiers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	word := func() string {
		b := []byte{byte('A' + rng.IntN(26))}
		for range 7 {
			b = append(b, byte('a'+rng.IntN(26)))
		}
		return string(b)
	}
	var names []string
	for range 3000 {
		names = append(names, word()+" "+word())
	}
	m := matcher(t, names...)
	medium := ""
	for i := 0; i < len(names); i += 100 {
		if text := "then " + names[i] + " came"; !m.Names(text) {
			t.Errorf("%s: not found in a text", names[i])
		}
		medium += "then " + names[i] + " came\n"
	}
	rep, err := m.Scan(t.Context(), strings.NewReader(medium), nil)
	if err != nil || rep.Hits != 30 {
		t.Errorf("Scan = %d hits, %v; want 30", rep.Hits, err)
	}
}

// TestManyNames: the places of a long list must be compared with their neighbours, not each with all. Without
// that, this test takes minutes.
func TestManyNames(t *testing.T) {
	m := matcher(t, "Maren Holt")
	const lines = 1 << 17
	if got := m.Text(strings.Repeat("a Holt, Maren\n", lines)); len(got) != lines || got[lines/2].Method != subject.Reversed {
		t.Errorf("%d hits, want %d", len(got), lines)
	}
	if got := m.Text("Holt, Maren Holt, Maren\nMaren Holt, Maren"); len(got) != 2 || got[0].Method != subject.Exact || got[0].Start != len("Holt, ") {
		t.Errorf("%+v", got)
	}
}

func TestScanTellsABrokenRead(t *testing.T) {
	m := matcher(t, "subj-ana")
	if _, err := m.Scan(t.Context(), iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("abc"))), nil); err == nil {
		t.Error("a read that failed passed as a whole scan")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Scan(ctx, strings.NewReader("abc"), nil); !errors.Is(err, model.Timeout) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestScanAgainstPlainSearch compares with a plain search of random bytes with planted tokens.
func TestScanAgainstPlainSearch(t *testing.T) {
	m := matcher(t, "zx9canary77q", "Ana Ribeiro", "rc-5512")
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "a"), 1))
		n := rapid.IntRange(0, 12).Draw(rt, "tokens")
		var b bytes.Buffer
		for i := range n {
			for range rng.IntN(200) {
				b.WriteByte(byte(32 + rng.IntN(95)))
			}
			fmt.Fprintf(&b, " %s ", m.Terms()[i%3])
		}
		rep, err := m.Scan(context.Background(), bytes.NewReader(b.Bytes()), nil)
		if err != nil || rep.By[subject.Exact] < int64(n) {
			rt.Fatalf("%+v, %v; %d planted", rep, err, n)
		}
	})
}

func FuzzMatcher(f *testing.F) {
	f.Add("subj-ana", "x subj-ana \\u0041 %20 ＡＢ")
	f.Add("Zoë", "Zoe\u0308 \xff\xfe")
	f.Fuzz(func(t *testing.T, term, text string) {
		m, err := subject.New(term)
		if err != nil {
			return
		}
		at := 0
		for _, h := range m.Text(text) {
			if h.Start < at || h.End <= h.Start || h.End > len(text) {
				t.Fatalf("span %d:%d of %d", h.Start, h.End, len(text))
			}
			at = h.End
		}
		_ = m.NamesBytes([]byte(text))
		if _, err := m.Scan(context.Background(), strings.NewReader(text), nil); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	latin, noise := make([]byte, 32<<20), make([]byte, 32<<20)
	for i := range latin {
		latin[i] = "etaoin shrdlu cmfwypvbgkjqxz\n{}\":,0123456789-_"[rng.IntN(46)]
		noise[i] = byte(rng.Uint32())
	}
	media := map[string][]byte{"text": latin, "binary": noise}
	for name, letters := range map[string]string{"Russian": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэф  \n.,", "Japanese": "船は五時に出港する今日荷物の人国会社員東京。、本語日誌\n"} {
		runes, text := []rune(letters), []byte{}
		for len(text) < 8<<20 {
			text = utf8.AppendRune(text, runes[rng.IntN(len(runes))])
		}
		media[name] = text
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	files, _ := filepath.Glob(strings.TrimSpace(string(root)) + "/src/net/*/*.go") // as people write
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		media["code"] = append(media["code"], text...)
	}
	for who, terms := range map[string][]string{
		"Latin":    {"subj-ana", "Ana Ribeiro", "ana.ribeiro@example.test", "RC-ANA-5512"},
		"accents":  {"subj-zoe", "Zoë Ångström", "zoe.angstrom@example.test", "RC-ZOE-5512"},
		"Cyrillic": {"subj-mar", "Мария Иванова"},
		"Greek":    {"subj-nik", "Νίκος Παππάς"},
		"Arabic":   {"subj-dan", "دانا خليل"},
		"Chinese":  {"subj-wan", "王明珠"},
		"Korean":   {"subj-kim", "김민준"},
		"Japanese": {"subj-tan", "田中花子"},
	} {
		m := matcher(b, terms...)
		for medium, data := range media {
			b.Run(who+"/"+medium, func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				spent := testcpu.Spent(func() {
					for b.Loop() {
						if _, err := m.Scan(b.Context(), bytes.NewReader(data), nil); err != nil {
							b.Fatal(err)
						}
					}
				})
				b.ReportMetric(float64(b.N*len(data))/1e6/spent.Seconds(), "MB/cpu-s")
			})
		}
	}
}

// TestUTF32: a name in any script must be found in UTF-32 of either byte order, alone and in a sentence.
func TestUTF32(t *testing.T) {
	for _, name := range []string{"Яна Ковалёва", "محمد بن سلمان", "דנה לוי", "Νίκος Παππάς", "김민준", "สมชาย วงศ์ไทย", "王小明"} {
		m := matcher(t, name)
		for _, text := range []string{name, strings.Repeat(name+" ", 20), "We met " + name + " at the quay.", strings.ToUpper(name) + ": да"} {
			for _, enc := range []utf32.Endianness{utf32.LittleEndian, utf32.BigEndian} {
				for _, mark := range []utf32.BOMPolicy{utf32.UseBOM, utf32.IgnoreBOM} {
					b := in(utf32.UTF32(enc, mark), text)
					if rep, err := m.Scan(t.Context(), strings.NewReader(b), nil); err != nil || rep.Hits == 0 {
						t.Errorf("%s is not found in UTF-32 of %q (%v, %v): %+v, %v", name, text, enc, mark, rep, err)
					}
					if !m.NamesBytes([]byte(b)) {
						t.Errorf("NamesBytes does not find %s in UTF-32 of %q (%v, %v)", name, text, enc, mark)
					}
				}
			}
		}
		for _, enc := range []utf32.Endianness{utf32.LittleEndian, utf32.BigEndian} {
			other := in(utf32.UTF32(enc, utf32.UseBOM), "Яна Ковалёвская, محمدي, 김민, quiet")
			if m.NamesBytes([]byte(other)) {
				t.Errorf("%s is found in a text about others", name)
			}
		}
	}
}

// TestShortNameInNoise: the bytes of a picture spell a short name by chance, between the borders of a word too; then it
// must not be redacted as a whole. A field of the picture that is text has the name.
func TestShortNameInNoise(t *testing.T) {
	m := matcher(t, "Ana")
	r := rand.New(rand.NewPCG(3, 3))
	for _, zero := range []bool{true, false} {
		noise := make([]byte, 600)
		for i := range noise {
			noise[i] = byte(0x80 + r.Uint32()%0x40)
		}
		if zero {
			noise[10] = 0
		}
		at := func(said string) string { b := bytes.Clone(noise); copy(b[300:], said); return string(b) }
		for what, encode := range map[string]func(string) string{"base64": b64, "hex": func(s string) string { return fmt.Sprintf("%x", s) }} {
			if text := "![x](data:image/png;base64," + encode(at("\x01Ana\x02")) + ")"; m.Names(text) || m.Redact(text, "[erased]") != text {
				t.Errorf("%s: chance is taken for the name", what)
			}
			if text := "![x](data:image/png;base64," + encode(at("\x01by Ana, 2026\x02")) + ")"; !m.Names(text) {
				t.Errorf("%s: the name in a field is not found", what)
			}
		}
	}
	if text := b64(gz("\x00\x01Ana\x00\x02")); !m.Names(text) {
		t.Error("a field of a compressed record is not found")
	}
}

// TestHexOfOtherLetters: hex of letters beyond ASCII has few decimal digits.
func TestHexOfOtherLetters(t *testing.T) {
	for _, id := range []string{"Ελένη Παπά", "தமிழ் செல்வி", "Иван Петров", "张伟明华"} {
		if m := matcher(t, id); !m.Names(fmt.Sprintf("%x", id)) || !m.Names(fmt.Sprintf("blob=%X;", id)) {
			t.Errorf("%s is not found", id)
		}
	}
}

// TestEncodedBinaryFiles: a picture or a database in base64 or hex must be searched as the file itself is.
func TestEncodedBinaryFiles(t *testing.T) {
	m := matcher(t, "Maren Holt", "usr_8f3a22")
	r := rand.New(rand.NewPCG(7, 7))
	noise := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return string(b)
	}
	for _, said := range []string{"\x00\x00\x00\x19tEXtAuthor\x00Maren Holt", " met Maren Holt at ", "\x00\x07idusr_8f3a22x\x00"} {
		file := noise(300) + said + noise(300)
		quiet := noise(300) + strings.ReplaceAll(strings.ReplaceAll(said, "Holt", "Hort"), "8f3", "8f4") + noise(300)
		for what, encode := range map[string]func(string) string{
			"base64": b64, "hex": func(s string) string { return fmt.Sprintf("%x", s) }, "wrapped": func(s string) string { return wrap(b64(s), 76, "\r\n") },
		} {
			for _, frame := range []string{"![x](data:image/png;base64,%s)", `{"f":"%s"}`, "Content-Transfer-Encoding: base64\n\n%s\n"} {
				if text := fmt.Sprintf(frame, encode(file)); !m.Names(text) || m.Names(m.Redact(text, "[erased]")) {
					t.Errorf("%s of %q in %q: not found, or not redacted", what, said, frame)
				}
				if m.Names(fmt.Sprintf(frame, encode(quiet))) {
					t.Errorf("%s of another's file is found in %q", what, frame)
				}
			}
		}
	}
}

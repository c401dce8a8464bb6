package subject_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"mime/quotedprintable"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"memdesk/gdpr/subject"
)

// person is an invented subject, with the words that no form of the identifiers may leave behind.
type person struct {
	name, id, mail, phone string
	parts                 []string // folded words that only this subject's identifiers contain
	bystander             string   // a text about others who share a name or a part of an id
}

func invent(r *rand.Rand) person {
	syllable := func() string {
		return string("bcdfgklmnprstvz"[r.IntN(15)]) + string([]rune("aeiouéöüåøß")[r.IntN(10)])
	}
	title := func(s string) string {
		c, n := utf8.DecodeRuneInString(s)
		return string(unicode.ToUpper(c)) + s[n:]
	}
	word := func(n int) string {
		s := ""
		for range n {
			s += syllable()
		}
		return title(s)
	}
	var p person
	first, last, last2 := word(2)+"n", word(3)+"k", "Q"+word(3)[1:]+"x"
	switch r.IntN(4) {
	case 0:
		p.name = first + " " + last + "-" + last2
	case 1:
		p.name = first + " " + last
	case 2:
		p.name = first + " O'" + last
	case 3:
		p.name = first + "-" + word(2) + " " + last2
		last = last2
	}
	tail := strconv.Itoa(1000 + r.IntN(9000))
	p.id = "usr_" + ascii(word(2)) + "_" + tail
	p.mail = ascii(word(2)) + "h." + tail[:2] + "+in@mail.example"
	n := fmt.Sprintf("55%02d %02d%02d", r.IntN(90)+10, r.IntN(90)+10, r.IntN(90)+10)
	p.phone = "+49 30 " + n
	local, _, _ := strings.Cut(p.mail, "@")
	p.parts = []string{ascii(last), p.id, strings.ReplaceAll(n, " ", ""), local}
	p.bystander = fmt.Sprintf("%s Berg and %s.5 and %s0 and x%s and +49 40 %s met at the pier.", first, p.id, p.id, p.mail, n)
	return p
}

// ascii is a word in lower case without diacritics: the test's own fold.
func ascii(s string) string {
	s = strings.NewReplacer("ß", "ss", "ẞ", "ss", "ø", "o", "Ø", "o").Replace(s)
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(s)))
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// form writes one of the identifiers in a random form.
func (p person) form(r *rand.Rand) string {
	words := strings.Fields(p.name)
	switch r.IntN(17) {
	case 0:
		return p.id
	case 1:
		return pick(r, p.mail, strings.ToUpper(p.mail))
	case 2:
		n := strings.Fields(p.phone)
		return pick(r, p.phone, strings.ReplaceAll(p.phone, " ", ""), "030-"+n[2]+n[3], "0049 30 "+n[2]+" "+n[3], "+49 (0)30 "+n[2]+"-"+n[3], "030/"+n[2]+n[3])
	case 3:
		return strings.ToUpper(p.name)
	case 4:
		return norm.NFD.String(p.name)
	case 5:
		return strings.Join(words[1:], " ") + ", " + words[0]
	case 6:
		return "N:" + strings.Join(words[1:], " ") + ";" + words[0]
	case 7:
		return strings.NewReplacer(" ", pick(r, "\n", "\n> ", "\r\n", "\n\t// ", " \n  "), "-", pick(r, "-\n", "–", " ")).Replace(p.name)
	case 8:
		return strings.NewReplacer(" ", "-", "'", "").Replace(ascii(p.name))
	case 9:
		return strings.ReplaceAll(strings.NewReplacer(" ", "_", "'", "-").Replace(ascii(p.name)), "-", "_")
	case 10:
		return strings.NewReplacer(" ", "", "-", "", "'", "").Replace(p.name)
	case 11:
		return strings.NewReplacer("'", pick(r, "’", "´", "`", "''")).Replace(p.name)
	case 12:
		return strings.NewReplacer("ö", "oe", "ü", "ue", "å", "aa", "ø", "oe").Replace(p.name)
	case 13:
		return "**" + words[0] + "** " + strings.Join(words[1:], " ")
	case 14: // a line ends inside the last word
		at := strings.LastIndexAny(p.name, " -'") + 1
		last := []rune(p.name[at:])
		n := 2 + r.IntN(len(last)-3)
		return p.name[:at] + string(last[:n]) + "-\n" + string(last[n:])
	}
	return p.name
}

func each(s string, fn func(r rune) string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteString(fn(r))
	}
	return b.String()
}

// escapings are the encodings that programs write, plain text included. Those in blocks may also be wrapped.
var escapings = map[string]func(r *rand.Rand, s string) string{
	"plain":         func(_ *rand.Rand, s string) string { return s },
	"percent":       func(_ *rand.Rand, s string) string { return url.QueryEscape(s) },
	"percent twice": func(_ *rand.Rand, s string) string { return url.PathEscape(url.PathEscape(s)) },
	"entities": func(r *rand.Rand, s string) string {
		f := pick(r, "&#%d;", "&#x%x;", "&#X%04X;")
		return each(s, func(c rune) string {
			if c < 0x80 && c != '@' && c != '\'' && r.IntN(4) > 0 {
				return string(c)
			}
			return fmt.Sprintf(f, c)
		})
	},
	"quoted-printable": func(_ *rand.Rand, s string) string {
		var b strings.Builder
		w := quotedprintable.NewWriter(&b)
		_, _ = io.WriteString(w, strings.ReplaceAll(s, "\r\n", "\n"))
		_ = w.Close()
		return b.String()
	},
	"JSON": func(_ *rand.Rand, s string) string { return strings.Trim(strconv.QuoteToASCII(s), `"`) },
	"hex escapes": func(_ *rand.Rand, s string) string {
		return each(s, func(c rune) string {
			if c < 0x80 {
				return string(c)
			}
			return each(string(c), func(c rune) string { return fmt.Sprintf(`\u{%x}`, c) })
		})
	},
	"folded lines": func(r *rand.Rand, s string) string {
		width, fold := 3+r.IntN(70), pick(r, "\r\n ", "\n ", "\r\n\t")
		var b strings.Builder
		n := 0
		for _, c := range s { // as vCards and calendars do
			if n++; c == '\n' {
				n = 0
			} else if n > width && !unicode.IsSpace(c) {
				b.WriteString(fold)
				n = 1
			}
			b.WriteRune(c)
		}
		return b.String()
	},
	"Latin-1": func(_ *rand.Rand, s string) string {
		var b []byte
		for _, c := range norm.NFC.String(s) {
			if c > 0xff {
				return s
			}
			b = append(b, byte(c))
		}
		return string(b)
	},
}

var blocks = map[string]func(s string) string{
	"base64":           func(s string) string { return b64(s) },
	"base64 url":       func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"base64 twice":     func(s string) string { return b64(b64(s)) },
	"base64 of gzip":   func(s string) string { return b64(gz(s)) },
	"base64 of UTF-16": func(s string) string { return b64(string(wide(s, false))) },
	"hex":              func(s string) string { return hex.EncodeToString([]byte(s)) },
	"HEX":              func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"base32":           func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) },
}

// flatten drops the separators that people put between letters and digits, and the second letter of a
// spelled-out umlaut.
func flatten(s string) string {
	return strings.NewReplacer("oe", "o", "ue", "u", "aa", "a").Replace(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, ascii(s)))
}

// judge decodes a text in every known way, without the program's own code, and returns the parts of the
// subject's identifiers that it finds.
func judge(text string, parts []string, depth int) string {
	flat := flatten(text)
	for _, p := range parts {
		if strings.Contains(flat, flatten(p)) {
			return p
		}
	}
	if depth == 0 {
		return ""
	}
	var next []string
	add := func(s string, err error) {
		if err == nil && s != text && s != "" {
			next = append(next, s)
		}
	}
	add(strings.ReplaceAll(text, "\n> ", "\n"), nil)
	add(html.UnescapeString(text), nil)
	if !utf8.ValidString(text) {
		latin := make([]rune, len(text))
		for i := range len(text) {
			latin[i] = rune(text[i])
		}
		add(string(latin), nil)
	}
	add(url.QueryUnescape(text))
	b, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(text)))
	add(string(b), err)
	add(strconv.Unquote(`"` + strings.NewReplacer(`"`, `\"`, "\n", `\n`, "\r", "").Replace(regexp.MustCompile(`\\u\{([0-9a-f]+)\}`).ReplaceAllStringFunc(text, func(s string) string {
		n, _ := strconv.ParseUint(s[3:len(s)-1], 16, 32)
		return fmt.Sprintf(`\U%08x`, n)
	})) + `"`))
	for _, run := range regexp.MustCompile(`[A-Za-z0-9+/_-][A-Za-z0-9+/=_\r\n-]{10,}`).FindAllString(text, -1) {
		run = strings.NewReplacer("\n", "", "\r", "", "=", "", "-", "+", "_", "/").Replace(run)
		for skip := range 4 {
			b, _ := base64.RawStdEncoding.DecodeString(run[min(skip, len(run)):])
			add(string(b), nil)
			if z, err := gunzip(b); err == nil {
				add(z, nil)
			}
			if len(b) > 8 && bytes.Count(b, []byte{0})*3 > len(b) {
				u := make([]uint16, len(b)/2)
				for i := range u {
					u[i] = uint16(b[2*i]) | uint16(b[2*i+1])<<8
				}
				add(string(utf16.Decode(u)), nil)
			}
		}
		for skip := range 8 {
			up := strings.ToUpper(run)
			b, _ := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(up[min(skip, len(up)):])
			add(string(b), nil)
		}
		b, _ := hex.DecodeString(run)
		add(string(b), nil)
	}
	for _, s := range next {
		if got := judge(s, parts, depth-1); got != "" {
			return got
		}
	}
	return ""
}

func gunzip(b []byte) (string, error) {
	z, err := newGzip(b)
	if err != nil {
		return "", err
	}
	out, _ := io.ReadAll(z) // a truncated one has content too
	return string(out), nil
}

// TestGenerated plants a subject in generated forms, encodings and media, beside others who share a
// name or a part of an id, and asks judge for residue.
func TestGenerated(t *testing.T) {
	cases, seed := 500, rand.Uint64()
	if os.Getenv("MEMDESK_SOAK") != "" {
		cases = 10_000
	}
	if given := os.Getenv("MEMDESK_SEED"); given != "" { // repeats a failed run
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 7))
	hash := func(label, text string) subject.Sum {
		h := sha256.Sum256([]byte(label + "\x00" + text))
		return subject.Sum(h[:16])
	}
	names := func(m map[string]func(*rand.Rand, string) string) (out []string) {
		for _, n := range []string{"plain", "percent", "percent twice", "entities", "quoted-printable", "JSON", "hex escapes", "Latin-1", "folded lines"} {
			if m[n] != nil {
				out = append(out, n)
			}
		}
		return out
	}(escapings)
	kinds := []string{"base64", "base64 url", "base64 twice", "base64 of gzip", "base64 of UTF-16", "hex", "HEX", "base32"}
	for n := range cases {
		p := invent(r)
		m := matcher(t, p.id, p.name, p.mail, p.phone)
		filler := strings.Repeat("the boat leaves ", r.IntN(6))
		said := filler + pick(r, "asked ", "met ", "") + p.form(r) + pick(r, "", " today", ". Then left", ", and") + "\n"
		how, encoded := "", ""
		if r.IntN(2) == 0 {
			how = pick(r, names...)
			encoded = escapings[how](r, said)
		} else {
			how = pick(r, kinds...)
			encoded = blocks[how](said)
			if width := pick(r, 0, 40, 60, 64, 76); width > 0 {
				eol := pick(r, "\n", "\r\n", "\n> ")
				encoded = wrap(encoded, width, eol)
				how += fmt.Sprintf(" wrapped at %d by %q", width, eol)
			}
		}
		beside := pick(r, "", "", "sessionKey ", "parseURL(HTTPServer, ", "turnId: AbCdEfGhIj; ")
		text := p.bystander + "\n\n" + beside + encoded + "\n\n" + p.bystander + "\n"
		if left := judge(encoded, p.parts, 3); left == "" {
			t.Fatalf("the judge cannot read %s of %q", how, said)
		}
		where := fmt.Sprintf("case %d, %s of %q of %+v", n, how, said, p)
		if !m.Names(text) {
			t.Errorf("not found: %s: %q", where, text)
			continue
		}
		got := m.Redact(text, "[erased]")
		if left := judge(strings.ReplaceAll(got, p.bystander, ""), p.parts, 3); left != "" {
			t.Errorf("%q is left: %s: %q", left, where, got)
		}
		if strings.Count(got, p.bystander) != 2 {
			t.Errorf("a bystander was damaged: %s: %q", where, got)
		}
		known := false
		var all []subject.Known
		for _, id := range m.Terms() {
			all = append(all, subject.Sealed(id, hash)...)
		}
		_ = subject.NewIndex(all, hash).Find(t.Context(), text, func(int, string, int, int) bool { known = true; return false })
		if !known {
			t.Errorf("who knows hashes does not find it: %s: %q", where, text)
		}
		for medium, b := range map[string][]byte{
			"a stream": []byte(strings.Repeat("quiet water\n", r.IntN(200_000)) + text), "gzip": []byte(gz(text)), "zip": zipFile(t, zip.Deflate, "a/b.md", text), "UTF-16": wide("\ufeff"+strings.ToValidUTF8(said, ""), false),
			"a record of zlib": slices.Concat([]byte("\x00\x09\x00\x07"), zlibbed(t, 1+r.IntN(9), []byte(text)), make([]byte, r.IntN(40))),
			"a record":         []byte("\x00\x10SQLite\x00\x07fact" + text + "2026\x00\x01"), "UTF-32": wide32(said),
		} {
			if rep, err := m.Scan(t.Context(), bytes.NewReader(b), nil); err != nil || rep.Hits == 0 || len(rep.Closed) > 0 {
				t.Errorf("%s: %s: %+v, %v", medium, where, rep, err)
			}
		}
		if rep, err := m.Scan(t.Context(), strings.NewReader(p.bystander), nil); err != nil || rep.Hits > 0 {
			t.Errorf("a bystander is found: %+v of %q in %q", rep, m.Terms(), p.bystander)
		}
		if t.Failed() && n > 20 {
			break
		}
	}
}

func wide32(s string) []byte {
	out := []byte{0xff, 0xfe, 0, 0}
	for _, r := range s {
		out = append(out, byte(r), byte(r>>8), byte(r>>16), 0)
	}
	return out
}

func wrap(s string, width int, eol string) string {
	var out []string
	for len(s) > width {
		out, s = append(out, s[:width]), s[width:]
	}
	return strings.Join(append(out, s), eol)
}

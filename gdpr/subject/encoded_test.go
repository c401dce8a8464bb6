package subject_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"memdesk/gdpr/subject"
)

// forms are what programs make of a text that names Zoë Ångström or Ana Ribeiro.
var forms = []struct {
	name, text string
	want       subject.Method
}{
	{"percent", "?q=Zo%C3%AB%20%C3%85ngstr%C3%B6m&x", subject.Percent},
	{"percent, lower case", "?q=Zo%c3%ab+%c3%85ngstr%c3%b6m&x", subject.Percent},
	{"percent, twice", "?q=Zo%25C3%25AB%2520%25C3%2585ngstr%25C3%25B6m&x", subject.Percent},
	{"percent, behind another", "say%20Ana%20Ribeiro%20now", subject.Percent},
	{"percent of Latin-1", "?q=Zo%EB+%C5ngstr%F6m&x", subject.Percent},
	{"entities by name", "<p>Zo&euml; &Aring;ngstr&ouml;m</p>", subject.Entity},
	{"entities by number", "<p>Zo&#235; &#197;ngstr&#246;m</p>", subject.Entity},
	{"entities in hex", "<p>Zo&#xEB; &#Xc5;ngstr&#x0F6;m</p>", subject.Entity},
	{"a space as an entity", "<p>Ana&nbsp;Ribeiro</p>", subject.Entity},
	{"entities, escaped again", "&lt;p&gt;Zo&amp;euml; &amp;Aring;ngstr&amp;ouml;m", subject.Entity},
	{"entities in JSON", `{"html":"\u003cp\u003eZo&euml;\n&Aring;ngstr&ouml;m"}`, subject.Entity},
	{"quoted-printable", "From: Zo=C3=AB =C3=85ngstr=C3=B6m <x>", subject.Quoted},
	{"quoted-printable of Latin-1", "From: Zo=EB_x Zo=EB =C5ngstr=F6m <x>", subject.Quoted},
	{"quoted-printable, a soft break", "met Ana =\r\nRibeiro and =\nZoe", subject.Quoted},
	{"quoted-printable, a soft break within a letter", "met Zo=C3=\n=AB =C3=85ngstr=C3=B6m", subject.Quoted},
	{"Latin-1", "met Zo\xeb \xc5ngstr\xf6m.", subject.Latin1},
	{"Latin-1, capitals", "met ZO\xcb \xc5NGSTR\xd6M.", subject.Latin1},
	{"a quotation", "> met Zoë\n> Ångström", subject.Folded},
	{"a quotation in a quotation", "> > met Zoë\n>> Ångström", subject.Folded},
	{"a comment", "\t// met Zoë\n\t// Ångström", subject.Folded},
	{"a comment of a shell", "# met Zoë\r\n# Ångström", subject.Folded},
	{"a comment of stars", "/*\n * met Zoë\n * Ångström\n */", subject.Folded},
	{"a quotation in JSON", `{"text":"> met Ana\n> Ribeiro"}`, subject.Escaped},
	{"mixed case", "met zOË åNGSTRÖM", subject.Folded},
	{"decomposed, mixed case", norm.NFD.String("met zOË åNGSTRÖM"), subject.Folded},
	{"a slug without marks", "see [[zoe-angstrom]]", subject.Slug},
	{"a slug as Germans write", "people/zoe_aangstroem.md", subject.Slug},
	{"a slug with marks", "call-with-zoë-ångström-notes.md", subject.Slug},
	{"a decomposed slug", norm.NFD.String("zoë-ångström.md"), subject.Slug},

	{"a quotation ends between", "> met Zoë\nÅngström is a unit", subject.Folded}, // white space
	{"another mark", "> met Zoë\n# Ångström", ""},
	{"another mark, ASCII", "> met Ana\n# Ribeiro", ""},
	{"without marks in prose", "Zoe Angstrom", subject.Unmarked},
	{"a longer word", "Zo&euml; &Aring;ngstr&ouml;ms", ""},
	{"a longer word in quoted-printable", "xAna=20Ribeiro", ""},
	{"no entity", "Zo&eu; ngstrm", ""},
	{"a longer slug", "zoe-angstroms", ""},
}

func TestForms(t *testing.T) {
	m := matcher(t, "Zoë Ångström", "Ana Ribeiro")
	for _, tt := range forms {
		t.Run(tt.name, func(t *testing.T) {
			hits := m.Text(tt.text)
			if tt.want == "" && len(hits) > 0 || tt.want != "" && (len(hits) != 1 || hits[0].Method != tt.want) {
				t.Errorf("Text = %+v; want %q", hits, tt.want)
			}
			if m.Names(tt.text) != (tt.want != "") {
				t.Error("Names disagrees with Text")
			}
			got := m.Redact(tt.text, "[x]")
			if m.Names(got) || (got == tt.text) != (tt.want == "") {
				t.Errorf("Redact = %q", got)
			}
			rep, err := m.Scan(t.Context(), strings.NewReader(tt.text), nil)
			if err != nil || rep.Hits > 0 != (tt.want != "") || rep.Hits > 1 {
				t.Errorf("Scan = %+v, %v", rep, err)
			}
			binary := "SQLite format 3\x00\x10\x00 " + tt.text + " \x00\x01"
			if rep, err := m.Scan(t.Context(), strings.NewReader(binary), nil); err != nil || rep.Hits > 0 != (tt.want != "") && !strings.HasPrefix(tt.name, "a longer") {
				t.Errorf("Scan in a binary medium = %+v, %v", rep, err)
			}
			known := false
			for _, w := range append(subject.Unwrap(tt.text), subject.Wrapped{Text: tt.text}) {
				known = known || knows(w.Text, "Zoë Ångström") || knows(w.Text, "Ana Ribeiro")
			}
			if known != (tt.want != "") {
				t.Errorf("those who know hashes only: %v", known)
			}
		})
	}
}

// knows looks for an identifier as who knows only its hash does.
func knows(text, id string) bool {
	found := false
	n := subject.Normal(id)
	subject.Candidates(text, []int{len(n)}, func(normal, _ string, _, _ int) bool {
		found = normal == n
		return !found
	})
	for _, p := range subject.PlainsOf(id) {
		subject.Plains(text, []int{len(p)}, func(s, _ string, _, _ int) bool {
			found = found || s == p
			return !found
		})
	}
	slugs, _ := subject.SlugsOf(id)
	for _, slug := range slugs {
		subject.Slugs(text, []int{len(slug)}, func(s string, _ bool, _ string, _, _ int) bool {
			found = found || s == slug
			return !found
		})
	}
	return found
}

// TestFormsWithoutAnAnchor is the same for a name of which too little stands in every
// form: the forms themselves are looked for.
func TestFormsWithoutAnAnchor(t *testing.T) {
	m := matcher(t, "Åsa Öst", "Łukić")
	for _, text := range []string{
		"?q=%C3%85sa+%C3%96st", "%25C3%2585sa%2520%25C3%2596st", "&Aring;sa &Ouml;st", "&#197;sa &#214;st", "&amp;Aring;sa&amp;nbsp;&amp;Ouml;st", "=C3=85sa =C3=96st",
		"\xc5sa \xd6st", "åSA öST", "see [[asa-ost]]", "aasa_oest.md", "åsa-öst.md", "> met Åsa\n> Öst", "\u00c5sa\\n\u00d6st", "\\u00c5sa \\u00d6st",
		"?q=%C5%81uki%C4%87", "&#321;uki&#263;", "=C5=81uki=C4=87", "ŁUKIĆ",
	} {
		if !m.Names(text) {
			t.Errorf("not found in %q", text)
		}
		if got := m.Redact(text, "[x]"); m.Names(got) {
			t.Errorf("still there: %q", got)
		}
		if rep, err := m.Scan(t.Context(), strings.NewReader(text), nil); err != nil || rep.Hits == 0 {
			t.Errorf("Scan(%q) = %+v, %v", text, rep, err)
		}
	}
	for _, text := range []string{"Ása Ost", "&Aring;sa &Ouml;sts", "Lukic", "\xc5sa \xd6stx"} {
		if m.Names(text) {
			t.Errorf("found in %q", text)
		}
		if rep, err := m.Scan(t.Context(), strings.NewReader(text), nil); err != nil || rep.Hits > 0 {
			t.Errorf("Scan(%q) = %+v, %v", text, rep, err)
		}
	}
	for _, order := range []bool{false, true} {
		for _, text := range []string{"met åSA ÖST.", "met Zoë", "łUKIć"} {
			rep, err := m.Scan(t.Context(), strings.NewReader(string(wide(text, order))), nil)
			if want := text != "met Zoë"; err != nil || rep.Hits > 0 != want {
				t.Errorf("UTF-16 %q: %+v, %v", text, rep, err)
			}
		}
	}
}

// TestApostrophes: what programs and word processors make of one is the same name.
func TestApostrophes(t *testing.T) {
	m := matcher(t, "Sean O'Brien", "Anna-Maria Holt")
	for _, text := range []string{"met Sean O'Brien.", "met Sean O\u2019Brien.", "met sean o\u2018brien", `{"who":"Sean O\u0027Brien"}`, "Sean O&#39;Brien", "Sean&nbsp;O&apos;Brien", "Sean O=27Brien",
		"Sean%20O%27Brien", "Anna\u2011Maria Holt", "anna\u2010maria holt"} {
		if !m.Names(text) || m.Names(m.Redact(text, "[x]")) {
			t.Errorf("not found in %q, or left in %q", text, m.Redact(text, "[x]"))
		}
		if rep, err := m.Scan(t.Context(), strings.NewReader(text), nil); err != nil || rep.Hits == 0 {
			t.Errorf("Scan(%q) = %+v, %v", text, rep, err)
		}
	}
	for _, text := range []string{"Sean O'Briens", "Sean OBrien", "Anna Maria Holt"} {
		if m.Names(text) {
			t.Errorf("found in %q", text)
		}
	}
}

// TestWrappedBase64: lines of base64, of every line end and alphabet, in texts and in
// binary media.
func TestWrappedBase64(t *testing.T) {
	const she = "Maren Holt"
	m := matcher(t, she, "Zoë Ångström", "subj-ana")
	wrap := func(s string, n int, end string) string {
		var b strings.Builder
		for len(s) > n {
			b.WriteString(s[:n] + end)
			s = s[n:]
		}
		return b.String() + s + end
	}
	std, url := base64.StdEncoding, base64.URLEncoding
	for lead := range 70 {
		for _, who := range []string{she, "Zoë Ångström", "subj-ana", "MAREN HOLT"} {
			text := []byte(strings.Repeat("~?", lead/2) + strings.Repeat("x", lead%2) + " of " + who + " and others, ??>>~~ " + strings.Repeat("more ", 30))
			for name, body := range map[string]string{
				"lines":           wrap(std.EncodeToString(text), 76, "\n"),
				"lines of 64":     wrap(std.EncodeToString(text), 64, "\n"),
				"CRLF":            wrap(std.EncodeToString(text), 76, "\r\n"),
				"base64url":       wrap(url.EncodeToString(text), 76, "\n"),
				"base64url, bare": url.EncodeToString(text),
				"UTF-16":          wrap(std.EncodeToString(wide(string(text), false)), 76, "\r\n"),
				"UTF-16BE, bare":  std.EncodeToString(wide("\ufeff"+string(text), true)),
			} {
				for medium, all := range map[string]string{"text": "Content: x\n\n" + body + "\nend\n", "binary": "SQLite format 3\x00\x10\x00\x00\x01\n" + body + "\x00\x02"} {
					if rep, err := m.Scan(t.Context(), strings.NewReader(all), nil); err != nil || rep.Hits == 0 {
						t.Fatalf("%s, %s at %d in %s: %+v, %v", who, name, lead, medium, rep, err)
					}
				}
				if !m.Names("Content: x\n\n" + body) {
					t.Fatalf("%s, %s at %d: Names", who, name, lead)
				}
				if got := m.Redact(body, "[x]"); m.Names(got) {
					t.Fatalf("%s, %s at %d: still there after a redaction", who, name, lead)
				}
			}
		}
	}
	another := wrap(std.EncodeToString([]byte(strings.Repeat("Maren Holtz and subj-ana2 meet ", 8))), 76, "\r\n")
	if rep, err := m.Scan(t.Context(), strings.NewReader(another), nil); err != nil || rep.Hits > 0 || m.Names(another) {
		t.Errorf("a bystander: %+v, %v", rep, err)
	}
}

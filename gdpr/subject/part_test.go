package subject_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/gdpr/subject"
)

// TestPartsOfOtherIdentifiers is the table of part.go: some characters join an identifier to more text
// into another identifier, others do not. In text and in bytes, in either UTF-16 and inside base64.
func TestPartsOfOtherIdentifiers(t *testing.T) {
	ids := []string{"u1", "zx9canary"}
	tests := []struct {
		text string // ID is replaced by the identifier
		hers bool
	}{
		{"ID", true},
		{"asked ID.", true},
		{"asked ID. Then she left", true},
		{"see ID - ok", true},
		{"(ID) [ID] <ID> \"ID\"", true},
		{"ID's", true},
		{"ID@", true},
		{"ID@ noon", true},
		{"ping @ID", true},
		{"- ID", true},
		{"-ID", true},
		{"wait...ID", true},
		{"ID...", true},
		{"ID, ID; ID: ID! ID?", true},
		{"ID/notes a/ID", true},
		{"user:ID owner=ID", true},
		{"mailto:ID", true},
		{"用户ID来电", true},
		{"notes/ID.md", true},
		{"ID.json.gz", true},
		{"see ID.md.", true},
		{"ID.MD", true},
		{"user-ID session-ID.md customer.ID", true},
		{"2026-05-01-ID.md 2026-05-01.ID", true},
		{"ID\u200b.", true},

		{"ID0 xID ID_ _ID éID IDé", false},
		{"ID-b ID-", false},
		{"x-ID", false},
		{"team.ID", false},
		{"a@ID", false},
		{"session@ID", false},
		{"ID.backup", false},
		{"ID.example.org", false},
		{"ID@host", false},
		{"ID@example.test.", false},
		{"ID.md2 ID.md-old ID.md@x", false},
		{"ID.Then", false},
		{"x-\u200bID", false},
		{"ID\u200b@host", false},
		{"é-ID", false},
		{"x-user-ID 12026-05-01-ID", false},
	}
	for _, id := range ids {
		m := matcher(t, id)
		for _, tt := range tests {
			text := strings.ReplaceAll(tt.text, "ID", id)
			if m.Names(text) != tt.hers {
				t.Errorf("Names(%q) = %v", text, !tt.hers)
			}
			if got := m.Redact(text, "[x]"); tt.hers == (got == text) || tt.hers && strings.Contains(got, id) {
				t.Errorf("Redact(%q) = %q", text, got)
			}
			media := map[string][]byte{"text": []byte(text), "utf-16le": wide("\ufeffso "+text, false), "utf-16be": wide("so "+text, true)}
			if strings.Contains(text, "\u200b") { // in the other byte order the neighbours are other characters
				delete(media, "utf-16be")
				delete(media, "utf-16le")
			}
			if id != "u1" && !strings.ContainsAny(text, "\u200b用éÃ") {
				media["base64"] = []byte(base64.StdEncoding.EncodeToString([]byte("by " + text)))
			}
			for what, b := range media {
				rep, err := m.Scan(t.Context(), bytes.NewReader(b), nil)
				if err != nil || rep.Hits > 0 != tt.hers {
					t.Errorf("%s: Scan(%q) = %+v, %v; want %v", what, text, rep, err, tt.hers)
				}
			}
		}
	}
}

// TestPartsBesideAnAddressAndACompound is the rest of the table.
func TestPartsBesideAnAddressAndACompound(t *testing.T) {
	m := matcher(t, "ana.r@example.test", "subj-ana", "RC-ANA-5512")
	for text, hers := range map[string]bool{
		"mail ana.r@example.test.": true, "<ana.r@example.test>": true, "contact-ana.r@example.test": true, "ana.r@example.test.md": true,
		"mary-ana.r@example.test": false, "x.ana.r@example.test": false, "ana.r@example.test.uk": false, "ana.r@example.test%2Euk": false, "ana.r@example.test&#46;uk": false, `ana.r@example.test\u002euk`: false,
		"ana.r@example.test=2Euk": false, "ana.r@example.test%2E": true, "ana.r@example.test%2Emd": true, "ana.r@example.test%2C": true, "ana.r@example.test%2Dx": false, "ana.r@example.test@x": false,
		"n5-subj-ana": true, "team.subj-ana": true, "subj-ana.backup": true, "subj-ana@host": true, "ticket-RC-ANA-5512": true,
		"subj-ana-b": false, "subj-ana2": false, "xsubj-ana": false, "RC-ANA-55": false, "_subj_ana": false,
	} {
		if m.Names(text) != hers {
			t.Errorf("Names(%q) = %v", text, !hers)
		}
		rep, err := m.Scan(t.Context(), strings.NewReader(text), nil)
		if err != nil || rep.Hits > 0 != hers {
			t.Errorf("Scan(%q) = %+v, %v; want %v", text, rep, err, hers)
		}
	}
}

func TestPartsOfOtherNames(t *testing.T) {
	m := matcher(t, "Zoë Ångström")
	for text, hers := range map[string]bool{
		"Zoë Ångström.": true, "Dr.Zoë Ångström": true, "Zoë Ångström.Then": true, "ex-Zoë Ångström": true, "2026-05-01-Zoë Ångström": true,
		"(Zoë Ångström)": true, "Zoë Ångström@work": true, "- Zoë Ångström": true, "x@Zoë Ångström": true, "zoe.angstrom.md": true,
		"zoe.angstrom@example.test": true, // nobody gave this address; it says the name all the same
		"Jean-Zoë Ångström":         false, "JEAN-ZOË ÅNGSTRÖM": false, "Éva-Zoë Ångström": false, "Zoë Ångström-Berg": false,
	} {
		if m.Names(text) != hers {
			t.Errorf("Names(%q) = %v", text, !hers)
		}
		rep, err := m.Scan(t.Context(), strings.NewReader(text), nil)
		if err != nil || rep.Hits > 0 != hers {
			t.Errorf("Scan(%q) = %+v, %v; want %v", text, rep, err, hers)
		}
	}
}

// TestTheNameInAnAddressThatContinuesTheSubjects: only that address is somebody else's; any other that says the
// name is taken for the subject's own. The index of a suppression list must judge alike.
func TestTheNameInAnAddressThatContinuesTheSubjects(t *testing.T) {
	terms := []string{"kaja.lindqvist@example.org", "Kaja Lindqvist", "kaja-lindqvist"}
	m := matcher(t, terms...)
	hash := func(label, s string) subject.Sum {
		full := sha256.Sum256([]byte(label + "\x00" + s))
		return subject.Sum(full[:16])
	}
	var sealed []subject.Known
	for _, term := range terms {
		sealed = append(sealed, subject.Sealed(term, hash)...)
	}
	x := subject.NewIndex(sealed, hash)
	for text, hers := range map[string]bool{
		"kaja.lindqvist@example.org.uk": false, "<Kaja.Lindqvist@Example.org.uk>": false, "ask kaja.lindqvist@example.org-old": false,
		"kaja.lindqvist@example.orgx": false, "https://kaja.lindqvist@example.org.uk/a": false,
		"kaja.lindqvist@example.org": true, "kaja.lindqvist@example.org.": true, "kaja.lindqvist@example.com": true, "kaja.lindqvist@example.com.uk": true,
		"kaja-lindqvist@example.net": true, "kaja.lindqvist@example.org.uk of Kaja Lindqvist": true,
		"mailto:kaja.lindqvist%40example.org.uk?x=1": false, "kaja.lindqvist&#64;example.org.uk": false, "kaja.lindqvist&#64example.org.uk": false, "kaja.lindqvist%2540example.org.uk": false,
		`"kaja.lindqvist\u0040example.org.uk"`: false, "kaja.lindqvist=40example.org.uk": false, "kaja.lindqvist@example%2Eorg%2Euk": false,
		"kaja.lindqvist%40example.org&x=1": true, "kaja.lindqvist%40example.com.uk": true, "kaja.lindqvist%40example.org\n please": true,
		"kaja.lindqvist%40example.org.uk of Kaja%20Lindqvist": true, "info.kaja.lindqvist@example.org": true,
	} {
		if m.Names(text) != hers {
			t.Errorf("Names(%q) = %v", text, !hers)
		}
		known := false
		_ = x.Find(t.Context(), text, func(int, string, int, int) bool { known = true; return false })
		if known != hers {
			t.Errorf("Index.Find(%q) = %v", text, known)
		}
		var f subject.Bystanders
		f.Add(m, text)
		rep, err := m.Scan(t.Context(), strings.NewReader("\x00\x01fact"+text+"\x00\x02"), &f)
		if err != nil || rep.Hits > 0 != hers {
			t.Errorf("%q in a database: %+v, %v", text, rep, err)
		}
		if told := f.Joined(); !hers && len(told) == 0 {
			t.Errorf("%q is not told", text)
		}
	}
	if got, want := m.Redact("Kaja Lindqvist <kaja.lindqvist@example.org.uk>", "[erased]"), "[erased] <kaja.lindqvist@example.org.uk>"; got != want {
		t.Errorf("Redact = %q; want %q", got, want)
	}
}

// TestJoinedIdsAreTold: ids that may be the subject's under a longer id must be reported for people to
// judge, and explained in the bytes of a database.
func TestJoinedIdsAreTold(t *testing.T) {
	m := matcher(t, "anaribeiro")
	var f subject.Bystanders
	f.Add(m, "anaribeiro.backup and x-anaribeiro, anaribeiro2, xanaribeiro; anaribeiro@host. anaribeiro-b asked anaribeiro.")
	want := []string{"anaribeiro-b", "anaribeiro.backup", "anaribeiro@host", "x-anaribeiro"}
	if diff := cmp.Diff(want, f.Joined()); diff != "" {
		t.Errorf("Joined (-want +got):\n%s", diff)
	}
	for _, word := range append(want, "anaribeiro2", "xanaribeiro") {
		rep, err := m.Scan(t.Context(), strings.NewReader("\x00\x01fact "+word+"\x00\x02"), &f)
		if err != nil || rep.Hits > 0 {
			t.Errorf("%q in a database: %+v, %v", word, rep, err)
		}
	}
	rep, _ := m.Scan(t.Context(), strings.NewReader("\x00\x01fact y-anaribeiro\x00"), &f)
	if rep.Hits == 0 {
		t.Error("a word that no item holds is taken for another id")
	}
}

// TestARowOfNamesIsTold: two people may stand there, or the subject behind a capital word. It hides no other place.
func TestARowOfNamesIsTold(t *testing.T) {
	m := matcher(t, "Maren Holt")
	var f subject.Bystanders
	f.Add(m, "Anna Holt, Maren Berg")
	if diff := cmp.Diff([]string{"Holt, Maren"}, f.Joined()); diff != "" {
		t.Error(diff)
	}
	if rep, err := m.Scan(t.Context(), strings.NewReader("\x00\x01fact xHolt, Mareny\x00\x02"), nil); err == nil && rep.Hits > 0 {
		again, err := m.Scan(t.Context(), strings.NewReader("\x00\x01fact xHolt, Mareny\x00\x02"), &f)
		if err != nil || again.Hits != rep.Hits {
			t.Errorf("in a database: %+v, want %+v, %v", again, rep, err)
		}
	}
}

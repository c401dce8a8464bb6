package papers_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/gdpr/papers"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

var full = papers.Letter{Request: "er-1", Received: "2026-01-31", Deadline: "2026-02-28", Finished: "2026-02-20", Paused: true, Extended: true, Ended: true, Forgotten: 7, Redacted: 3,
	Stores: []string{"notes", "db"}, Held: []receipt.Held{{Store: "db", Items: 2, Ground: "Art. 17(3)(e)"}}, Open: []receipt.Left{{Store: "ship", Layer: "crewship.db"}},
	Backups: []receipt.Backup{{Store: "db", Until: "2026-05-01"}}, Recipients: []receipt.Recipient{{Name: "Harbour Print"}}}

func TestLetters(t *testing.T) {
	says := map[string][]string{"received": {"er-1", "2026-01-31", "2026-02-28"}, "extension": {"2026-02-28"}, "refused": {"Art. 17(3)(e)"},
		"done": {"2026-02-20", "notes, db", "Art. 17(3)(e)", "crewship.db", "2026-05-01", "Harbour Print"}}
	for _, kind := range papers.Kinds {
		for _, lang := range papers.Languages {
			for what, l := range map[string]papers.Letter{"full": full, "bare": {Request: "er-1", Received: "2026-01-31", Deadline: "2026-02-28", Extended: true, Ended: true, Finished: "2026-02-20"}} {
				text, err := l.Write(kind, lang, "")
				if err != nil || len(strings.Fields(text)) < 41 || strings.Contains(text, "{{") || strings.Contains(text, "<no value>") {
					t.Errorf("%s, %s, %s: %v\n%s", kind, lang, what, err, text)
				}
				for _, want := range says[kind] {
					if what == "full" && !strings.Contains(text, want) {
						t.Errorf("%s, %s: no %q in\n%s", kind, lang, want, text)
					}
				}
			}
		}
	}
	bare := papers.Letter{Request: "er-1"}
	for what, want := range map[[2]string]model.Kind{{"extension", "en"}: model.Conflict, {"done", "de"}: model.Conflict, {"thanks", "en"}: model.InvalidInput, {"received", "fr"}: model.InvalidInput} {
		if _, err := bare.Write(what[0], what[1], ""); !errors.Is(err, want) {
			t.Errorf("%q: %v; want %s", what, err, want)
		}
	}
	own := t.TempDir()
	if err := os.WriteFile(filepath.Join(own, "received.de.md"), []byte("Moin {{.Request}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := full.Write("received", "de", own); err != nil || text != "Moin er-1" {
		t.Errorf("%q %v; want the template of one's own", text, err)
	}
	if err := os.WriteFile(filepath.Join(own, "received.en.md"), []byte("{{.Name}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := full.Write("received", "en", own); !errors.Is(err, model.InvalidInput) {
		t.Errorf("a template with a field of no name: %v", err)
	}
}

// TestALetterHasNoMarkupOfAFileName: an agent or a sync chose the name; in a letter of the office it must be no link and no
// picture.
func TestALetterHasNoMarkupOfAFileName(t *testing.T) {
	l := full
	l.Open = []receipt.Left{{Store: "v", Layer: "memory/<img src=x>[pay here](http://evil.example).md"}}
	own := t.TempDir()
	if err := os.WriteFile(filepath.Join(own, "received.en.md"), []byte("{{range .Open}}{{.Layer}}{{end}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for kind, templates := range map[string]string{"done": "", "received": own} {
		text, err := l.Write(kind, "en", templates)
		if err != nil || !strings.Contains(text, `memory/\<img src=x>\[pay here\](http\://evil.example).md`) {
			t.Errorf("%s: %v\n%s", kind, err, text)
		}
	}
	if l.Open[0].Layer != "memory/<img src=x>[pay here](http://evil.example).md" {
		t.Errorf("the caller's row is %q", l.Open[0].Layer)
	}
}

func TestRegister(t *testing.T) {
	r := papers.Register{Year: 2026, Entries: []papers.Entry{
		{Request: "er-1", Person: "hmac:1", Received: "2026-01-31", State: "complete", Days: 20, Ground: "=1+1"},
		{Request: "er-2", Person: "hmac:2", Received: "2026-03-01", State: "partial", Days: 41, Late: true, Ground: "a|b\x1b[2J"},
	}}
	text, err := r.CSV()
	if err != nil || strings.Count(text, "\n") != 3 || !strings.Contains(text, ",'=1+1,") || !strings.HasPrefix(text, "request,person,received,") {
		t.Errorf("%v\n%s", err, text)
	}
	page := r.Markdown()
	if !strings.Contains(page, "2 received: 1 complete, 1 open, 0 withdrawn. 1 answered or still open after their deadline") || !strings.Contains(page, "20 days on average") || strings.Contains(page, "\x1b") || !strings.Contains(page, `a\|b`) {
		t.Errorf("%s", page)
	}
	if !strings.Contains(page, "| 41 | yes |") || strings.Contains(page, "true") || strings.Contains(page, "false") {
		t.Errorf("late and extended are no words of people:\n%s", page)
	}
}

package gdpr_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// The subjects of these tests: one who was erased, one whose request is open.
const (
	gone, goneName = "subj-gone-4471", "Gisela Xanthopoulou"
	open, openName = "subj-open-5582", "Osei Quartey-Vance"
)

// people fills a world with items of both subjects and erases the first.
func people(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.fill()
	w.put("db", model.RetainRequest{Tier: "longterm", Key: "g", Content: "of " + goneName})
	w.put("db", model.RetainRequest{Tier: "longterm", Key: "o", Content: "of " + openName})
	r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: gone, Aliases: []string{goneName}, Received: "2026-02-20", Ground: "a letter of " + goneName, By: goneName})
	if err != nil {
		t.Fatal(err)
	}
	w.complete(w.plan(r.ID))
	return w
}

// TestAnErasedPersonIsNamedInNoRequest: any text in a request must be refused if it names an erased
// subject; the refusal must state the reason and be audited.
func TestAnErasedPersonIsNamedInNoRequest(t *testing.T) {
	t.Parallel()
	w := people(t)
	r := w.file()
	tests := []struct {
		what string
		do   func() error
	}{
		{"a ground", func() error {
			_, err := w.desk.File(t.Context(), gdpr.Intake{Subject: other, Received: "2026-02-20", Ground: "as for " + goneName})
			return err
		}},
		{"who files it", func() error {
			_, err := w.desk.File(t.Context(), gdpr.Intake{Subject: other, Received: "2026-02-20", Ground: "a letter", By: "the lawyer of " + strings.ToUpper(goneName)})
			return err
		}},
		{"a hold's ground", func() error {
			_, err := w.desk.Hold(t.Context(), r.ID, gdpr.Hold{Store: "db", ID: "n2", Ground: "a claim of " + gone})
			return err
		}},
		{"the reason of a withdrawal", func() error {
			_, err := w.desk.Withdraw(t.Context(), r.ID, "it was "+goneName+" who asked")
			return err
		}},
	}
	for _, tt := range tests {
		if err := tt.do(); !model.IsRefusal(err) || !strings.Contains(err.Error(), "names a person who was erased under request er-") || strings.Contains(err.Error(), goneName) {
			t.Errorf("%s: %v; want a refusal with the reason", tt.what, err)
		}
	}
	for file, body := range tree(t, w.desk.State) {
		if strings.Contains(body, goneName) || strings.Contains(body, gone) {
			t.Errorf("%s holds her again", file)
		}
	}
	if all, err := w.desk.List(); err != nil || len(all) != 2 {
		t.Errorf("%d requests, %v; want the two that were filed", len(all), err)
	}
	// An erased subject may file another request and name themselves in it.
	if _, err := w.desk.File(t.Context(), gdpr.Intake{Subject: gone, Received: "2026-02-20", Ground: "asked again by " + goneName, Aliases: []string{goneName}}); err != nil {
		t.Errorf("a second request of hers: %v", err)
	}
}

// TestNoSignedReceiptNamesAnybody: whatever texts a request contains, and under any operator name, its
// receipt must name neither its subject nor the subject of an open request, so that the latter's
// erasure can complete. Of a hold's ground it keeps only the article.
func TestNoSignedReceiptNamesAnybody(t *testing.T) {
	t.Parallel()
	w := people(t)
	theirs, err := w.desk.File(t.Context(), gdpr.Intake{Subject: open, Aliases: []string{openName}, Received: "2026-02-20", Ground: "a letter"})
	if err != nil {
		t.Fatal(err)
	}
	w.desk.Operator.ID = "for " + openName
	r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: ana, Aliases: []string{mail, name}, Received: "2026-02-20", Ground: "as " + openName + " did, says " + name, By: name + " by " + openName})
	if err != nil {
		t.Fatal(err)
	}
	w.hold(r.ID, "db", "n2")
	h, err := w.desk.Locate(t.Context(), w.fleet, gdpr.Hold{Store: "db", ID: "n2", Ground: "art. 17 (3)(E): " + name + " against " + openName})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.desk.Hold(t.Context(), r.ID, h); err != nil {
		t.Fatal(err)
	}
	if _, err := w.desk.Identify(t.Context(), r.ID, "login", ""); err != nil {
		t.Fatal(err)
	}
	out := w.inScope(w.plan(r.ID))
	sees := func(what, text string) {
		t.Helper()
		for _, word := range []string{gone, goneName, open, openName, ana, mail, name} {
			for form, needle := range needlesOf(word) {
				if strings.Contains(text, string(needle)) {
					t.Errorf("%s holds %s (%s)", what, word, form)
				}
			}
		}
	}
	check := func(request string) receipt.Receipt {
		t.Helper()
		file, rec, key, err := w.desk.Receipt(request)
		if err != nil {
			t.Fatal(err)
		}
		sees("the receipt of "+request, string(file))
		sees("the page of "+request, rec.Markdown(key, true))
		return rec
	}
	rec := check(r.ID)
	held := ""
	for _, l := range rec.Layers {
		if l.Layer == "held items" {
			held = l.Reason
		}
	}
	if !strings.HasPrefix(held, "attested by for [erased] (SHA256:requester) on 2026-03-01: Art. 17(3)(e); its words") || !strings.HasSuffix(held, "1 on hold: Art. 17(3)(e); its words are on record with the request") {
		t.Errorf("the receipt says of the hold %q", held)
	}
	b, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	sees("the outcome", string(b))
	// The other subject's erasure must find nothing in the receipts signed before.
	w.desk.Operator.ID = "op"
	w.complete(w.plan(theirs.ID))
	check(theirs.ID)
}

// TestNoReportNamesAnybody: the report of an unfinished request and the receipt of a sweep must not
// name a subject either.
func TestNoReportNamesAnybody(t *testing.T) {
	t.Parallel()
	w := people(t)
	theirs, err := w.desk.File(t.Context(), gdpr.Intake{Subject: open, Aliases: []string{openName}, Received: "2026-02-20", Ground: "a letter of " + openName, By: openName})
	if err != nil {
		t.Fatal(err)
	}
	w.hold(theirs.ID, "db", "o")
	p := w.plan(theirs.ID)
	plant(t, w.dir, map[string]string{"agent/.memory/daily/2026-05-01.md": "- " + openName + " is back\n- quiet\n"})
	w.open()
	if out, err := w.erase(p); err != nil || out.Status == gdpr.StateComplete {
		t.Fatalf("%s, %v; want it partial", out.Status, err)
	}
	rep, err := w.desk.StatusReport(t.Context(), theirs.ID)
	if err != nil {
		t.Fatal(err)
	}
	b, err := rep.JSON()
	if err != nil {
		t.Fatal(err)
	}
	plant(t, w.dir, map[string]string{"agent/.memory/daily/2026-05-02.md": "- " + goneName + " is back\n- quiet\n"})
	w.open()
	swept, _, err := w.desk.Sweep(t.Context(), w.fleet, "", nil)
	if err != nil || len(swept) != 2 { // the subject of a running erasure is already suppressed
		t.Fatalf("%d swept, %v", len(swept), err)
	}
	for _, s := range swept {
		file, _, _, err := w.desk.Receipt(s.Request)
		if err != nil {
			t.Error(err)
		}
		b = append(b, file...)
	}
	for _, word := range []string{gone, goneName, open, openName} {
		for form, needle := range needlesOf(word) {
			if strings.Contains(string(b)+rep.Markdown(true), string(needle)) {
				t.Errorf("%s (%s) is named", word, form)
			}
		}
	}
}

// TestAReceiptKeepsNoPartOfAName: a person whose short name is an alias, and another person whose name overlaps,
// are redacted as a whole, in the name of a recipient too.
func TestAReceiptKeepsNoPartOfAName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "of " + goneName + " and of Xanthopoulou Krause"})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "asked by " + name})
	for _, names := range [][]string{{goneName, "Gisela"}, {"Xanthopoulou Krause"}} {
		r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: names[0], Aliases: names[1:], Received: "2026-02-20", Ground: "a letter"})
		if err != nil {
			t.Fatal(err)
		}
		w.complete(w.plan(r.ID))
	}
	w.desk.Policy.Recipients = []gdpr.Recipient{{Name: goneName + " & Co"}}
	w.desk.Policy.Backups = []gdpr.Backup{{Where: "crew/" + goneName + "/x", RestoreGuard: "ask " + goneName + " Krause, today"}}
	r := w.file()
	w.complete(w.plan(r.ID))
	_, rec, _, err := w.desk.Receipt(r.ID)
	if err != nil || len(rec.Backups) == 0 || len(rec.Recipients) != 1 {
		t.Fatalf("%+v, %+v, %v", rec.Backups, rec.Recipients, err)
	}
	got := []string{rec.Backups[0].Where, rec.Backups[0].Guard, rec.Recipients[0].Name}
	if want := []string{"crew/[erased]/x", "ask [erased], today", "[erased] & Co"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}

// TestNamesInTheConfiguration: a receipt shows no name of the person that stands in a [[backup]], and a recipient who is
// called like the person is refused before anything is planned.
func TestNamesInTheConfiguration(t *testing.T) {
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "asked by " + name})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "rain"})
	w.desk.Policy.Recipients = []gdpr.Recipient{{Name: name + ", bookkeeping"}}
	w.desk.Policy.Backups = []gdpr.Backup{{Where: "the tape of " + name, RestoreGuard: "ask " + name}}
	r := w.file()
	if _, err := w.desk.MakePlan(t.Context(), r.ID, w.fleet, nil); !errors.Is(err, model.InvalidInput) {
		t.Errorf("a recipient called like the person: %v; want InvalidInput", err)
	}
	w.desk.Policy.Recipients = nil
	w.complete(w.plan(r.ID))
	if _, rec, _, err := w.desk.Receipt(r.ID); err != nil || len(rec.Backups) == 0 || strings.Contains(fmt.Sprintf("%+v", rec), name) {
		t.Errorf("%+v, %v", rec.Backups, err)
	}
}

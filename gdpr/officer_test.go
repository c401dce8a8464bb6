package gdpr_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/audit"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// TestADamagedRequestHidesNoOther: its deadline is not known, and that of each other request is still told.
func TestADamagedRequestHidesNoOther(t *testing.T) {
	w := newWorld(t)
	r := w.file() // due 2026-03-20; it is 2026-03-01
	const damaged = "er-20260220-0123abcd"
	plant(t, w.desk.State, map[string]string{"gdpr/requests/" + damaged + ".json": "{"})
	all, err := w.desk.DueWithin(19)
	if len(all) != 1 || all[0].ID != r.ID || model.KindOf(err) != model.Internal || !strings.Contains(err.Error(), damaged) {
		t.Errorf("%+v, %v", all, err)
	}
}

// A privacy officer's papers on a request: its deadline, letters, the register, the recipients of the
// data. None may name the subject.
func TestAnOfficersPapers(t *testing.T) {
	w := vaultWith(t, map[string]string{"v/memory/fix/a.md": name + " called\nrain\nwind\n", "v/memory/fix/b.md": "rain\n"})
	w.desk.Policy.Recipients = []gdpr.Recipient{{Name: "Harbour Print", Stores: []string{"notes"}}, {Name: "Nobody", Stores: []string{"far"}}}
	w.desk.Policy.Backups = []gdpr.Backup{{Where: "off site", ExpiresAfter: 24 * time.Hour}}
	r := w.file() // received 2026-02-20, due 2026-03-20; it is 2026-03-01
	for within, want := range map[int]int{18: 0, 19: 1} {
		if all, err := w.desk.DueWithin(within); err != nil || len(all) != want {
			t.Errorf("within %d days: %d, %v; want %d", within, len(all), err, want)
		}
	}
	if _, err := w.desk.Letter(t.Context(), r.ID, "done", "en"); !errors.Is(err, model.Conflict) {
		t.Errorf("a letter of an end that is none: %v", err)
	}
	if _, err := w.desk.Tell(t.Context(), r.ID, "somebody", "2026-03-01", ""); !errors.Is(err, model.InvalidInput) {
		t.Errorf("a recipient whom nobody configured: %v", err)
	}
	for _, on := range [][2]string{{"2099-01-01", ""}, {"1999-01-01", ""}, {"", "2099-01-01"}, {"2026-03-01", "2026-02-28"}} {
		if _, err := w.desk.Tell(t.Context(), r.ID, "Harbour Print", on[0], on[1]); !errors.Is(err, model.InvalidInput) {
			t.Errorf("told and answered on %q: %v", on, err)
		}
	}
	if _, err := w.desk.Tell(t.Context(), r.ID, "Harbour Print", "2026-03-01", ""); err != nil {
		t.Fatal(err)
	}
	w.complete(w.planned(r.ID))
	_, rec, _, err := w.desk.Receipt(r.ID)
	if err != nil || len(rec.Recipients) != 1 || rec.Recipients[0].Told != "2026-03-01" || len(rec.Backups) != 2 || rec.Backups[0].Until != "2026-03-02" {
		t.Errorf("%+v %+v %v", rec.Recipients, rec.Backups, err)
	}
	letter, err := w.desk.Letter(t.Context(), r.ID, "done", "de")
	if err != nil || !strings.Contains(letter, "Harbour Print") || !strings.Contains(letter, "2026-03-02") {
		t.Errorf("%v\n%s", err, letter)
	}
	all, err := w.desk.Register(t.Context(), 2026)
	if err != nil || len(all.Entries) != 1 || all.Entries[0].Days != 9 || all.Entries[0].Late || all.Entries[0].State != "complete" {
		t.Errorf("%+v %v", all, err)
	}
	csv, err := all.CSV()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{letter, csv, all.Markdown()} {
		for what, n := range needles() {
			if strings.Contains(text, string(n)) {
				t.Errorf("it holds %s:\n%s", what, text)
			}
		}
	}
	if all, err := w.desk.DueWithin(10000); err != nil || len(all) != 0 {
		t.Errorf("a complete one is due: %+v %v", all, err)
	}
}

// TestRetentionOfClosedRequests: after its retention a closed request must be only a line in the
// register, without even a pseudonym; an open one must stay whole, and the log must have a record.
func TestRetentionOfClosedRequests(t *testing.T) {
	w := vaultWith(t, map[string]string{"v/memory/fix/a.md": name + " called\nrain\nwind\n", "v/memory/fix/b.md": "rain\n"})
	r := w.file()
	w.complete(w.planned(r.ID))
	before, err := w.desk.Register(t.Context(), 2026)
	if err != nil || len(before.Entries) != 1 || before.Entries[0].Person == "" {
		t.Fatalf("%+v %v", before, err)
	}
	path := filepath.Join(w.desk.State, "gdpr", "receipts", r.ID+".json")
	signed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	open := w.file()
	w.desk.Policy.KeepClosed = 30 * 24 * time.Hour
	if n, err := w.desk.Retire(t.Context()); err != nil || n != 0 {
		t.Fatalf("at once: %d, %v", n, err)
	}
	was := w.clock.Now()
	w.clock.Advance(400 * 24 * time.Hour)
	if n, err := w.desk.Retire(t.Context()); err != nil || n != 0 {
		t.Fatalf("by a clock that leapt ahead: %d, %v", n, err)
	}
	w.clock.Set(was.Add(31 * 24 * time.Hour))
	if err := w.desk.Log.Note(t.Context(), audit.Entry{Action: "gdpr-sweep"}, audit.Result{Verdict: audit.OK}); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(25 * time.Hour)
	if n, err := w.desk.Retire(t.Context()); err != nil || n != 1 {
		t.Fatalf("after its time: %d, %v", n, err)
	}
	got, err := w.desk.Get(r.ID)
	if err != nil || got.Pseudonym != "" || got.By != "" || got.PlanHash != "" || got.Kept == nil {
		t.Errorf("%+v %v", got.Request, err)
	}
	if _, _, _, err := w.desk.Receipt(r.ID); !errors.Is(err, model.NotFound) {
		t.Errorf("the receipt: %v", err)
	}
	after, err := w.desk.Register(t.Context(), 2026)
	if err != nil || len(after.Entries) != 2 {
		t.Fatalf("%+v %v", after, err)
	}
	want := before.Entries[0]
	want.Person = ""
	if !slices.Contains(after.Entries, want) {
		t.Errorf("the lines are %+v, want %+v", after.Entries, want)
	}
	if still, err := w.desk.Get(open.ID); err != nil || still.Subject == "" || still.Pseudonym == "" {
		t.Errorf("an open request: %+v %v", still.Request, err)
	}
	if n, err := w.desk.Retire(t.Context()); err != nil || n != 0 {
		t.Errorf("again: %d, %v", n, err)
	}
	if err := os.WriteFile(path, signed, 0o600); err != nil { // as a crash before its removal leaves it
		t.Fatal(err)
	}
	if n, err := w.desk.Retire(t.Context()); err != nil || n != 0 {
		t.Errorf("after a crash: %d, %v", n, err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a receipt that a crash left is still there: %v", err)
	}
}

// TestTheRegisterOfAReceiptThatCannotBeChecked: one such receipt must not keep the other requests out of the register, nor
// end the retention of others; it must be told, and its request kept.
func TestTheRegisterOfAReceiptThatCannotBeChecked(t *testing.T) {
	w := vaultWith(t, map[string]string{"v/memory/fix/a.md": name + " called\nrain\nwind\n", "v/memory/fix/b.md": "rain\n", "v/memory/fix/c.md": other + " called\nrain\nwind\n"})
	bad := w.file()
	w.clock.Advance(time.Second)
	good := w.fileFor(other)
	w.complete(w.planned(bad.ID))
	w.complete(w.planned(good.ID))
	path := filepath.Join(w.desk.State, "gdpr", "receipts", bad.ID+".json")
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	reg, err := w.desk.Register(t.Context(), 2026)
	if !errors.Is(err, receipt.ErrTampered) || !strings.Contains(err.Error(), bad.ID) || len(reg.Entries) != 2 {
		t.Fatalf("%+v, %v; want both lines, and the request whose receipt cannot be checked", reg.Entries, err)
	}
	if bad, good := reg.Entries[0], reg.Entries[1]; !bad.Unproven || bad.Ground == "" || good.Unproven || good.Forgotten+good.Redacted != 1 {
		t.Errorf("the lines are %+v", reg.Entries)
	}
	if csv, err := reg.CSV(); err != nil || !strings.Contains(csv, "unknown,unknown,unknown") {
		t.Errorf("counts that nobody knows are told as numbers: %s, %v", csv, err)
	}
	w.desk.Policy.KeepClosed = 24 * time.Hour
	w.clock.Advance(23 * time.Hour)
	if err := w.desk.Log.Note(t.Context(), audit.Entry{Action: "gdpr-sweep"}, audit.Result{Verdict: audit.OK}); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(25 * time.Hour)
	if n, err := w.desk.Retire(t.Context()); n != 1 || !errors.Is(err, receipt.ErrTampered) {
		t.Errorf("%d retired, %v; want the good one, and the error", n, err)
	}
	if got, err := w.desk.Get(bad.ID); err != nil || got.Kept != nil {
		t.Errorf("the one without a proof: %+v, %v; want it kept", got.Kept, err)
	}
}

// TestNoLetterOfAReceiptThatIsOver: a later run that found more, and a withdrawal, must not be told as done by an earlier
// receipt. The register counts what the runs did all the same.
func TestNoLetterOfAReceiptThatIsOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	r := w.file()
	w.hold(r.ID, "db", "n2")
	p := w.plan(r.ID)
	if out, err := w.erase(p); err != nil || out.Status != gdpr.StateInScope {
		t.Fatal(out.Status, err)
	}
	if _, err := w.desk.Letter(t.Context(), r.ID, "done", "en"); err != nil {
		t.Fatal(err)
	}
	w.agent(map[string]string{"daily/2026-02-20.md": "- 2026-02-20T00:00:00Z — " + name + " called\n"})
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StatePartial || out.Forgotten == 0 || out.Redacted == 0 {
		t.Fatal(out.Status, out.Forgotten, out.Redacted, err)
	}
	told := func(when string) {
		reg, err := w.desk.Register(t.Context(), 2026)
		if err != nil || len(reg.Entries) != 1 || reg.Entries[0].Forgotten != out.Forgotten || reg.Entries[0].Redacted != out.Redacted {
			t.Errorf("%s the register has %+v, %v; want %d forgotten and %d redacted", when, reg.Entries, err, out.Forgotten, out.Redacted)
		}
	}
	told("partial,")
	w.plan(r.ID)
	told("planned anew,")
	if _, err := w.desk.Letter(t.Context(), r.ID, "done", "en"); !errors.Is(err, model.Conflict) {
		t.Errorf("the letter of a partial request: %v; want a conflict", err)
	}
	if _, _, _, err := w.desk.Receipt(r.ID); !errors.Is(err, model.NotFound) {
		t.Errorf("the receipt of a partial request: %v; want NotFound", err)
	}
	if _, err := w.desk.Withdraw(t.Context(), r.ID, "taken back"); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := w.desk.Receipt(r.ID); !errors.Is(err, model.NotFound) {
		t.Errorf("the receipt of a withdrawn request: %v; want NotFound", err)
	}
	told("withdrawn,") // what is erased stays so
}

// TestTheLetterSaysWhomNobodyToldYet: a recipient who was not told must not be among those who were; one who was
// told after the receipt is.
func TestTheLetterSaysWhomNobodyToldYet(t *testing.T) {
	w := vaultWith(t, map[string]string{"v/memory/fix/a.md": name + " called\nrain\nwind\n", "v/memory/fix/b.md": "rain\n"})
	w.desk.Policy.Recipients = []gdpr.Recipient{{Name: "Harbour Print", Stores: []string{"notes"}}}
	r := w.file()
	w.complete(w.planned(r.ID))
	for lang, open := range map[string]string{"en": "Harbour Print: on [not told yet", "de": "Harbour Print: am [noch nicht unterrichtet"} {
		if letter, err := w.desk.Letter(t.Context(), r.ID, "done", lang); err != nil || !strings.Contains(letter, open) {
			t.Errorf("%s: %v\n%s", lang, err, letter)
		}
	}
	if _, err := w.desk.Tell(t.Context(), r.ID, "Harbour Print", "2026-03-01", ""); err != nil {
		t.Fatal(err)
	}
	if letter, err := w.desk.Letter(t.Context(), r.ID, "done", "en"); err != nil || !strings.Contains(letter, "Harbour Print: on 2026-03-01") {
		t.Errorf("told since: %v\n%s", err, letter)
	}
}

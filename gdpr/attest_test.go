package gdpr_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// shut is a file that no reader opens: the magic bytes of zstd, then noise.
const shut = "\x28\xb5\x2f\xfd\x01\x02noise that is no frame\x00\x7f\x13\x37"

// vaultWith opens a vault with these files beside the two stores.
func vaultWith(t *testing.T, files map[string]string) *world {
	t.Helper()
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "asked by " + name})
	plant(t, w.dir, files)
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: filepath.Join(w.dir, "v")}}
	w.open()
	return w
}

// planned makes a plan, which may report problems.
func (w *world) planned(id string) gdpr.Plan {
	w.t.Helper()
	p, err := w.desk.MakePlan(w.t.Context(), id, w.fleet, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// An operator examines a file that no program can open: the request must end, the receipt must say
// attested with operator, time and article, and a changed file must need a new attestation.
func TestAnAttestedFileEndsARequest(t *testing.T) {
	w := vaultWith(t, map[string]string{"v/att/map.zst": shut, "v/memory/fix/a.md": "rain\n"})
	r := w.file()
	if out, err := w.erase(w.planned(r.ID)); err != nil || out.Status != gdpr.StatePartial {
		t.Fatalf("%s %v; want partial: a file could not be opened", out.Status, err)
	}
	rep, err := w.desk.StatusReport(t.Context(), r.ID)
	if err != nil || !slices.ContainsFunc(rep.Left, func(l receipt.Left) bool { return strings.Contains(l.Do, "gdpr attest "+r.ID) }) {
		t.Errorf("%+v, %v: the report does not say how to attest", rep.Left, err)
	}
	in := gdpr.Looked{Store: "notes", Items: []string{"att/map.zst"}, Ground: "opened by the archivist, Art. 17(3)(d)", By: "the archivist"}
	if _, err := w.desk.Attest(t.Context(), r.ID, w.fleet, in); err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(w.dir, "v/att/map.zst")
	if err := os.WriteFile(changed, []byte(shut+"more"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.open()
	p := w.planned(r.ID)
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StatePartial || !slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool { return strings.Contains(l.Reason, "has changed since") }) {
		t.Fatalf("%s %v %+v; want it asked again: the file changed", out.Status, err, out.Layers)
	}
	if err := os.WriteFile(changed, []byte(shut), 0o600); err != nil {
		t.Fatal(err)
	}
	w.open()
	if p = w.planned(r.ID); len(p.Stores[1].Problems) > 0 || len(p.Stores[1].Notes) == 0 {
		t.Errorf("the plan has %q and notes %q; what was attested is a note", p.Stores[1].Problems, p.Stores[1].Notes)
	}
	out = w.complete(p)
	for _, l := range out.Layers {
		if l.Layer == "att/map.zst" && l.Verdict != model.VerdictAttested {
			t.Errorf("%+v; want it attested, never clean", l)
		}
	}
	_, rec, key, err := w.desk.Receipt(r.ID)
	if err != nil || len(rec.Attested) != 1 || rec.Attested[0].By.Name != "the archivist" || rec.Attested[0].At == "" || !strings.HasPrefix(rec.Attested[0].Ground, "Art. 17(3)(d)") || rec.Status != receipt.StatusComplete {
		t.Errorf("%+v %v", rec.Attested, err)
	}
	if page := rec.Markdown(key, true); strings.Contains(page, "opened by") || !strings.Contains(page, "the archivist") {
		t.Errorf("the page has the ground's words, or not who looked:\n%s", page)
	}
}

// TestASweepKeepsAnAttestation: the erasure of a person who came back must end without a second look at the same bytes.
func TestASweepKeepsAnAttestation(t *testing.T) {
	w := vaultWith(t, map[string]string{"v/att/map.zst": shut, "v/memory/fix/a.md": "rain\n"})
	r := w.file()
	if out, err := w.erase(w.planned(r.ID)); err != nil || out.Status != gdpr.StatePartial {
		t.Fatalf("%s, %v", out.Status, err)
	}
	if _, err := w.desk.Attest(t.Context(), r.ID, w.fleet, gdpr.Looked{Store: "notes", Items: []string{"att/map.zst"}, Ground: "Art. 17(3)(d)", By: "the archivist"}); err != nil {
		t.Fatal(err)
	}
	w.complete(w.planned(r.ID))
	plant(t, w.dir, map[string]string{"v/memory/fix/b.md": "by " + name + "\n"})
	w.open()
	swept, problems, err := w.desk.Sweep(t.Context(), w.fleet, "", nil)
	if err != nil || len(swept) != 1 || swept[0].Outcome.Status != gdpr.StateComplete || len(problems) > 0 {
		t.Errorf("%+v, %q, %v; want it complete, and nothing left to look into", swept, problems, err)
	}
	plant(t, w.dir, map[string]string{"v/att/other.zst": shut + "x"})
	w.open()
	if _, problems, err := w.desk.Sweep(t.Context(), w.fleet, "", nil); err != nil || len(problems) != 1 {
		t.Errorf("beside other bytes that nobody can open: %q, %v; want these told", problems, err)
	}
	if err := os.Remove(filepath.Join(w.dir, "v/att/other.zst")); err != nil {
		t.Fatal(err)
	}
	plant(t, w.dir, map[string]string{"v/att/.stversions/map~20260101-101010.zst": shut})
	w.open()
	if _, problems, err := w.desk.Sweep(t.Context(), w.fleet, "", nil); err != nil || len(problems) > 0 {
		t.Errorf("an old version with the same bytes: %q, %v", problems, err)
	}
	if out, err := w.erase(w.planned(w.fileFor(other).ID)); err != nil || out.Status != gdpr.StatePartial {
		t.Fatalf("%s, %v", out.Status, err)
	}
	if _, problems, err := w.desk.Sweep(t.Context(), w.fleet, "", nil); err != nil || len(problems) != 1 {
		t.Errorf("for a person for whom nobody looked: %q, %v; want it told", problems, err)
	}
}

func TestAttestIsForWhatNobodyCanOpen(t *testing.T) {
	w := vaultWith(t, map[string]string{"v/memory/fix/a.md": name + " called\nrain\nwind\n"})
	r := w.file()
	for what, tt := range map[string]struct {
		in   gdpr.Looked
		want model.Kind
	}{
		"an item that can be read": {gdpr.Looked{Store: "notes", Items: []string{"memory/fix/a.md"}, Ground: "x"}, model.InvalidInput},
		"a layer of the person":    {gdpr.Looked{Store: "db", Layers: []string{"memory.sqlite"}, Ground: "x"}, model.InvalidInput},
		"a layer of no name":       {gdpr.Looked{Store: "db", Layers: []string{"nothing"}, Ground: "x"}, model.NotFound},
		"no ground":                {gdpr.Looked{Store: "db", Layers: []string{"memory.sqlite"}}, model.InvalidInput},
		"a store of no name":       {gdpr.Looked{Store: "far", Layers: []string{"x"}, Ground: "x"}, model.NotFound},
	} {
		if _, err := w.desk.Attest(t.Context(), r.ID, w.fleet, tt.in); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v; want %s", what, err, tt.want)
		}
	}
	w.complete(w.planned(r.ID))
	if _, err := w.desk.Attest(t.Context(), r.ID, w.fleet, gdpr.Looked{Store: "db", Layers: []string{"memory.sqlite"}, Ground: "x"}); !errors.Is(err, model.Conflict) {
		t.Errorf("a request that is complete: %v; want %s", err, model.Conflict)
	}
}

// TestAttestAnItemWhoseBytesAreClean: its file can be scanned, and the store does not give it as an item.
func TestAttestAnItemWhoseBytesAreClean(t *testing.T) {
	w := vaultWith(t, map[string]string{"v/memory/fix/big.md": "rain\n"})
	w.extra = []model.Middleware{func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Op == model.OpRead && c.ID == "memory/fix/big.md" {
			return model.Errorf(model.Unsupported, "read", "the file is too large")
		}
		return next(ctx)
	}}
	w.open()
	if _, err := w.desk.Attest(t.Context(), w.file().ID, w.fleet, gdpr.Looked{Store: "notes", Items: []string{"memory/fix/big.md"}, Ground: "x"}); err != nil {
		t.Error(err)
	}
}

// While a layer out of scope holds the subject, the request must keep its identifiers, its receipt must
// name the layer, and it must verify again with the same plan.
func TestCompleteInScopeStaysOpen(t *testing.T) {
	w := vaultWith(t, map[string]string{"v/.obsidian/workspace.json": `{"open":"` + name + `"}`, "v/memory/fix/a.md": "rain\n"})
	r := w.file()
	p := w.planned(r.ID)
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StateInScope {
		t.Fatalf("%s %q %v; want complete in scope", out.Status, out.Problems, err)
	}
	_, rec, _, err := w.desk.Receipt(r.ID)
	if err != nil || rec.Status != receipt.StatusInScope || len(rec.Open) != 1 || !strings.Contains(rec.Open[0].Reason, "1 hit") || !strings.Contains(rec.Open[0].Do, "gdpr erase "+r.ID) {
		t.Errorf("%s %+v %v", rec.Status, rec.Open, err)
	}
	if got, err := w.desk.Get(r.ID); err != nil || got.Done() || got.Subject != ana || got.State != gdpr.StateInScope {
		t.Errorf("%+v %v; want it open with its names", got.State, err)
	}
	if err := os.Remove(filepath.Join(w.dir, "v/.obsidian/workspace.json")); err != nil {
		t.Fatal(err)
	}
	w.open()
	w.complete(p)
	if _, rec, _, err := w.desk.Receipt(r.ID); err != nil || rec.Status != receipt.StatusComplete || len(rec.Open) != 0 {
		t.Errorf("%s %+v %v", rec.Status, rec.Open, err)
	}
}

// An export for the subject is listed as open until it is marked as handed over or deleted.
func TestAnExportIsNamedUntilItIsMarked(t *testing.T) {
	w := vaultWith(t, map[string]string{"v/memory/fix/a.md": "rain\n"})
	r := w.file()
	out := filepath.Join(t.TempDir(), "for "+name)
	if _, _, err := w.desk.Export(t.Context(), r.ID, out, w.fleet); err != nil {
		t.Fatal(err)
	}
	w.complete(w.planned(r.ID))
	file, rec, _, err := w.desk.Receipt(r.ID)
	if err != nil || len(rec.Exports) != 1 || rec.Exports[0].State != receipt.ExportMade || rec.Exports[0].Items == 0 || strings.Contains(string(file), name) {
		t.Errorf("%+v %v", rec.Exports, err)
	}
	rep, err := w.desk.StatusReport(t.Context(), r.ID)
	if err != nil || len(rep.Left) != 1 || !strings.Contains(rep.Left[0].Do, "--mark") {
		t.Errorf("%+v %v: nobody says that an export is left", rep.Left, err)
	}
	if rec.Forgotten+rec.Redacted == 0 || rep.Forgotten != rec.Forgotten || rep.Redacted != rec.Redacted || rep.Held != receipt.Items(rec.Held) {
		t.Errorf("the report counts %d forgotten, %d redacted, %d held, and the receipt %d, %d", rep.Forgotten, rep.Redacted, rep.Held, rec.Forgotten, rec.Redacted)
	}
	if got, err := w.desk.Get(r.ID); err != nil || got.ExportsOpen != 1 || strings.Contains(got.Exports[0].Path, name) {
		t.Errorf("%+v %v", got.Exports, err)
	}
	if _, err := w.desk.MarkExport(t.Context(), r.ID, 1, "lost"); !errors.Is(err, model.InvalidInput) {
		t.Errorf("a state of no name: %v", err)
	}
	if _, err := w.desk.MarkExport(t.Context(), r.ID, 0, receipt.ExportHandedOver); err != nil {
		t.Fatal(err)
	}
	if _, err := w.desk.StatusReport(t.Context(), r.ID); !errors.Is(err, model.NotFound) {
		t.Errorf("nothing is left and the report says: %v", err)
	}
	second := w.file()
	out = filepath.Join(t.TempDir(), "x")
	if _, _, err := w.desk.Export(t.Context(), second.ID, out, w.fleet); err != nil {
		t.Fatal(err)
	}
	if _, err := w.desk.MarkExport(t.Context(), second.ID, 1, receipt.ExportDeleted); !errors.Is(err, model.Conflict) {
		t.Errorf("it is still there: %v", err)
	}
	if err := os.RemoveAll(out); err != nil {
		t.Fatal(err)
	}
	if _, err := w.desk.MarkExport(t.Context(), second.ID, 1, receipt.ExportDeleted); err != nil {
		t.Error(err)
	}
}

// A hold on a file that cannot be opened, or that names no subject, must be honoured: the plan keeps
// the file, and the request ends complete in scope.
func TestAHoldOfWhatThePlanCannotFind(t *testing.T) {
	w := vaultWith(t, map[string]string{"v/att/map.zst": shut, "v/memory/fix/a.md": "rain\n"})
	r := w.file()
	for _, id := range []string{"att/map.zst", "memory/fix/a.md"} {
		h, err := w.desk.Locate(t.Context(), w.fleet, gdpr.Hold{Store: "notes", ID: id, Ground: "Art. 17(3)(e)"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.desk.Hold(t.Context(), r.ID, h); err != nil {
			t.Fatal(err)
		}
	}
	p := w.plan(r.ID)
	if _, held := p.Count(); held != 2 || actions(p)["notes:att/map.zst"].Action != gdpr.Held {
		t.Errorf("%d on hold: %+v", held, actions(p)["notes:att/map.zst"])
	}
	out := w.inScope(p)
	for _, l := range out.Layers {
		if l.Store == "notes" && l.Layer == "held items" && l.Hits != 1 {
			t.Errorf("%+v; one of the two may hold the person", l)
		}
	}
}

// TestADeletedExportIsLookedFor: also after the end of a request, when the export's path named the person and is
// redacted.
func TestADeletedExportIsLookedFor(t *testing.T) {
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "asked by " + name})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "rain"})
	r := w.file()
	out := filepath.Join(t.TempDir(), "of "+name)
	if _, _, err := w.desk.Export(t.Context(), r.ID, out, w.fleet); err != nil {
		t.Fatal(err)
	}
	w.complete(w.plan(r.ID))
	if _, err := w.desk.MarkExport(t.Context(), r.ID, 0, receipt.ExportDeleted); !errors.Is(err, model.Conflict) {
		t.Errorf("%v; want Conflict: it is still there", err)
	}
	if err := os.RemoveAll(out); err != nil {
		t.Fatal(err)
	}
	if _, err := w.desk.MarkExport(t.Context(), r.ID, 0, receipt.ExportDeleted); err != nil {
		t.Error(err)
	}
}

// TestAttestBesideAHold: a layer that cannot be opened whole, and holds the text of an item on hold, must be attested
// as the run judged it.
func TestAttestBesideAHold(t *testing.T) {
	w := newWorld(t)
	id := w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "asked by " + name})
	for i := range 4 {
		w.put("db", model.RetainRequest{Tier: "session", Key: fmt.Sprintf("x%d", i), Content: "routers"})
	}
	var zeros bytes.Buffer
	z := gzip.NewWriter(&zeros)
	if _, err := z.Write(make([]byte, 3<<20)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", w.path("db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE theirs (id INTEGER PRIMARY KEY, blob BLOB)"); err != nil {
		t.Fatal(err)
	}
	for range 30 { // more comes out of them than is looked at
		if _, err := db.Exec("INSERT INTO theirs(blob) VALUES (?)", zeros.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	w.open()
	const layer = "memory.sqlite"
	r := w.file()
	w.hold(r.ID, "db", id)
	if out, err := w.erase(w.planned(r.ID)); err != nil || verdictOf(out.Layers, layer) != model.VerdictUnaudited {
		t.Fatalf("%s %q %v; want %s unaudited", out.Status, verdictOf(out.Layers, layer), err, layer)
	}
	if _, err := w.desk.Attest(t.Context(), r.ID, w.fleet, gdpr.Looked{Store: "db", Layers: []string{layer}, Ground: "opened by hand"}); err != nil {
		t.Fatal(err)
	}
}

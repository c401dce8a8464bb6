package gdpr_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// A store named after the subject would put that name into every record of the erasure. It must be
// refused at once; after a renaming the erasure must complete, and hits of the old name in the audit
// log must be reported, not hidden.
func TestAStoreIsCalledLikeThePerson(t *testing.T) {
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"vault/memory/idea/hers.md": "# Of " + name + "\n", "vault/memory/idea/x.md": "# X\n\nrain\n", "vault/memory/idea/y.md": "# Y\n\nrain\n"})
	w.more = []backends.StoreConfig{{Name: "ana-zxribeiro", Kind: "vault", Path: filepath.Join(w.dir, "vault")}}
	w.open()
	w.put("ana-zxribeiro", model.RetainRequest{Tier: "idea", Key: "z", Content: "# Z\n\nrain\n"}) // the log names the store
	r := w.file()
	_, err := w.desk.MakePlan(t.Context(), r.ID, w.fleet, nil)
	if !errors.Is(err, model.InvalidInput) || !strings.Contains(err.Error(), "name in the configuration") {
		t.Fatalf("plan = %v; want a refusal that says what to do", err)
	}
	if _, err := w.desk.Plan(r.ID); !errors.Is(err, model.NotFound) {
		t.Errorf("a plan is kept: %v", err)
	}
	w.more[0].Name = "notes"
	w.open()
	out := w.inScope(w.plan(r.ID))
	told := false
	for _, l := range out.Layers {
		told = told || l.Store == "memdesk" && l.Verdict == model.VerdictOutOfScope && l.Hits > 0 && strings.Contains(l.Reason, "store")
	}
	if !told {
		t.Errorf("the log's old name is not told: %+v", out.Layers)
	}
}

// An operator called like the subject stands in every record of the erasure. The hits are reported, and an attestation of
// them lasts although each further run adds records.
func TestAnOperatorIsCalledLikeThePerson(t *testing.T) {
	w := newWorld(t)
	w.fill()
	if err := w.desk.Log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var err error
	w.desk.Log, err = audit.Open(audit.Options{Dir: filepath.Join(w.desk.State, "audit"), Clock: w.clock, Tool: "test", FS: nosync{}, Actor: audit.Actor{ID: "unauthenticated " + ana + "@-"}})
	if err != nil {
		t.Fatal(err)
	}
	w.open()
	out := w.inScope(w.plan(w.file().ID))
	if !slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
		return l.Store == "memdesk" && l.HoldsPerson() && strings.Contains(l.Reason, "an operator is called like the person")
	}) {
		t.Errorf("the operator's name in the log is not reported: %+v", out.Layers)
	}
}

package gdpr_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/gdpr/sshsig"
	"memdesk/model"
)

// The same state with a configuration that demands no approval must be refused until the log has a
// record of the operator who changed the policy; the receipt then names that operator.
func TestAPolicyIsChangedOnRecordOnly(t *testing.T) {
	w, r, p := approvals(t)
	w.desk.Policy.RequireApproval = false
	if _, err := w.erase(p); !model.IsRefusal(err) || !strings.Contains(err.Error(), "gdpr policy --accept") {
		t.Fatalf("erased under a policy of one's own: %v; want a refusal", err)
	}
	if now, err := w.desk.PolicyNow(t.Context()); err != nil || now.InForce {
		t.Errorf("%+v %v; want it not in force", now, err)
	}
	if _, err := w.desk.SetPolicy(t.Context(), ""); err == nil {
		t.Error("a change without a reason is taken")
	}
	w.desk.Operator.ID = "carla"
	set, err := w.desk.SetPolicy(t.Context(), "one operator is left")
	if err != nil || !set.InForce || set.Record == 0 {
		t.Fatalf("%+v %v", set, err)
	}
	w.complete(p)
	_, rec, _, err := w.desk.Receipt(r.ID)
	if err != nil || rec.Policy.Approval || rec.Policy.Hash != set.Hash || rec.Policy.Record != set.Record || !strings.Contains(rec.Policy.By, "op") {
		t.Errorf("the receipt's policy %+v, %v; want %+v", rec.Policy, err, set)
	}
}

// The requester's key in the request's file is only a copy: another key there, or an approval without a
// record, must not count.
func TestWhoAskedIsReadFromTheLog(t *testing.T) {
	w, r, p := approvals(t)
	w.desk.Policy.Approvers = nil
	if _, err := w.desk.SetPolicy(t.Context(), "any other key"); err != nil {
		t.Fatal(err)
	}
	signer, _ := newSigner(t)
	edit := func(change func(map[string]any)) {
		t.Helper()
		path := filepath.Join(w.desk.State, "gdpr", "requests", r.ID+".json")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var all map[string]any
		if err := json.Unmarshal(b, &all); err != nil {
			t.Fatal(err)
		}
		change(all)
		if b, err = json.Marshal(all); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	asked := w.desk.Operator.Key
	edit(func(r map[string]any) { r["by_key"] = "SHA256:somebody-else" })
	if _, err := w.desk.Approve(t.Context(), r.ID, p.Hash, signer); !model.IsRefusal(err) || !strings.Contains(err.Error(), "another key than the audit log") {
		t.Errorf("another requester in the file: %v; want a refusal", err)
	}
	edit(func(r map[string]any) { r["by_key"] = asked })
	if _, err := w.desk.Approve(t.Context(), r.ID, p.Hash, signer); err != nil {
		t.Fatal(err)
	}
	if sshsig.Fingerprint(signer.PublicKey()) == asked {
		t.Fatal("the approver is the requester")
	}
	edit(func(r map[string]any) { r["by_key"] = "SHA256:somebody-else" })
	if _, err := w.erase(p); !model.IsRefusal(err) {
		t.Errorf("erased with another requester in the file: %v; want a refusal", err)
	}
	edit(func(r map[string]any) { r["by_key"] = asked })
	w.complete(p)
}

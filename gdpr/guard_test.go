package gdpr_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"database/sql"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/google/go-cmp/cmp"

	"memdesk/audit"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/gdpr/sshsig"
	"memdesk/model"
)

func newSigner(t testing.TB) (sshsig.Signer, string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := sshsig.File(path)
	if err != nil {
		t.Fatal(err)
	}
	return s, path
}

// certify puts a key into a certificate that it has signed itself.
func certify(t testing.TB, s sshsig.Signer) sshsig.Signer {
	t.Helper()
	c := &ssh.Certificate{Key: s.PublicKey(), CertType: ssh.UserCert, ValidBefore: ssh.CertTimeInfinity}
	if err := c.SignCert(rand.Reader, s); err != nil {
		t.Fatal(err)
	}
	out, err := ssh.NewCertSigner(c, s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestApprovalByCertificate: a certificate signs as the key in it, an RSA key too.
func TestApprovalByCertificate(t *testing.T) {
	small, _ := newSigner(t)
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	long, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []sshsig.Signer{small, long} {
		w, r, p := approvals(t)
		if _, err := w.desk.Approve(t.Context(), r.ID, p.Hash, certify(t, s)); err != nil {
			t.Fatal(err)
		}
		w.complete(p)
		if _, rec, _, err := w.desk.Receipt(r.ID); err != nil || rec.Approver == nil || rec.Approver.Key != sshsig.Fingerprint(s.PublicKey()) {
			t.Errorf("%s: the receipt's approver: %+v, %v", s.PublicKey().Type(), rec.Approver, err)
		}
	}
}

// approvals is a world whose plans must be approved.
func approvals(t *testing.T) (*world, gdpr.Due, gdpr.Plan) {
	t.Helper()
	w := newWorld(t)
	w.desk.Policy.RequireApproval = true
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "tea", DataSubjectID: ana})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "coffee"})
	r := w.file()
	return w, r, w.plan(r.ID)
}

// refusals counts the refusals in the audit log.
func refusals(t *testing.T, w *world) int {
	t.Helper()
	page, err := w.desk.Log.List(t.Context(), audit.Filter{}, 500, "")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range page.Rows {
		if r.Result == audit.Refused && strings.HasPrefix(r.Action, "gdpr-") {
			n++
		}
	}
	return n
}

func TestApproval(t *testing.T) {
	w, r, p := approvals(t)
	if _, err := w.erase(p); !model.IsRefusal(err) {
		t.Fatalf("without an approval: %v; want a refusal", err)
	}
	signer, _ := newSigner(t)
	if _, err := w.desk.Approve(t.Context(), r.ID, p.Hash, signer); err != nil {
		t.Fatal(err)
	}
	w.complete(p)
	_, rec, _, err := w.desk.Receipt(r.ID)
	if err != nil || rec.Approver == nil || rec.Approver.Key != sshsig.Fingerprint(signer.PublicKey()) {
		t.Errorf("the receipt's approver: %q, %v", rec.Approver, err)
	}
}

// TestApprovalBySession: where the policy allows it, the record of a session authenticated by another
// key approves; without the policy, the key or the record it does not.
func TestApprovalBySession(t *testing.T) {
	w, r, p := approvals(t)
	const key = "SHA256:second"
	id := func() string {
		t.Helper()
		due, err := w.desk.Get(r.ID)
		if err != nil {
			t.Fatal(err)
		}
		why, err := w.desk.Unapproved(t.Context(), &due.Request)
		if err != nil {
			t.Fatal(err)
		}
		return why
	}
	refused := func(want string) {
		t.Helper()
		if _, err := w.desk.ApproveHere(t.Context(), r.ID, p.Hash); !model.IsRefusal(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want a refusal: %s", err, want)
		}
	}
	requester, log := w.desk.Operator, w.desk.Log
	w.desk.Operator = gdpr.Operator{ID: "second", Key: key}
	refused("wants a signature")
	w.desk.Policy.Approval = gdpr.BySession
	w.desk.Operator.Key = ""
	refused("no key has authenticated")
	w.desk.Operator = requester
	refused("the requester's own")
	w.desk.Operator.Key = "SHA256:of another login"
	refused("filed the request")

	w.desk.Operator = gdpr.Operator{ID: "second", Key: key}
	if _, err := w.desk.ApproveHere(t.Context(), r.ID, p.Hash); err != nil { // but the log has no key on record
		t.Fatal(err)
	}
	if why := id(); !strings.Contains(why, "no record of the approval") {
		t.Errorf("a record without the key counts: %q", why)
	}
	second, err := audit.Open(audit.Options{Dir: filepath.Join(w.desk.State, "audit"), Clock: w.desk.Clock, Tool: "test", FS: nosync{}, Actor: audit.Actor{ID: key, Key: key, Authenticated: true}})
	if err != nil {
		t.Fatal(err)
	}
	w.desk.Log = second
	if _, err := w.desk.ApproveHere(t.Context(), r.ID, p.Hash); err != nil {
		t.Fatal(err)
	}
	w.desk.Operator, w.desk.Log = requester, log
	if why := id(); why != "" {
		t.Errorf("not approved: %s", why)
	}
	w.desk.Policy.Approval = ""
	if why := id(); !strings.Contains(why, "wants a signature") {
		t.Errorf("approved under a policy that wants a signature: %q", why)
	}
	w.desk.Policy.Approval = gdpr.BySession
	file := filepath.Join(w.desk.State, "gdpr", "requests", r.ID+".json")
	stored, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	longer := regexp.MustCompile(`"expires": ?"\d{4}`).ReplaceAll(stored, []byte(`"expires":"2999`))
	if err := os.WriteFile(file, longer, 0o600); err != nil || bytes.Equal(longer, stored) {
		t.Fatalf("the approval's time was not changed: %v", err)
	}
	w.clock.Advance(8 * 24 * time.Hour)
	if why := id(); !strings.Contains(why, "expired") {
		t.Errorf("approved after a week: %q", why)
	}
	w.clock.Advance(-8 * 24 * time.Hour)
	if _, err := w.desk.SetPolicy(t.Context(), "a session is enough"); err != nil {
		t.Fatal(err)
	}
	w.complete(p)
	if _, rec, _, err := w.desk.Receipt(r.ID); err != nil || rec.Approver == nil || rec.Approver.Method != gdpr.BySession || !strings.Contains(rec.ApproverWords(), "by the record of a session") || rec.Policy.Method != gdpr.BySession {
		t.Errorf("the receipt's approver: %+v, %v", rec.Approver, err)
	}
}

// TestApprovalByAgent signs with a key that only an agent holds.
func TestApprovalByAgent(t *testing.T) {
	w, r, p := approvals(t)
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: private}); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(memDir(t), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { // one caller, until it disconnects
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_ = agent.ServeAgent(ring, c)
	}()
	keys, conn, err := sshsig.Agent(socket)
	if err != nil || len(keys) != 1 {
		t.Fatalf("Agent = %d keys, %v", len(keys), err)
	}
	if _, err := w.desk.Approve(t.Context(), r.ID, p.Hash, keys[0]); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(conn.Close(), l.Close()); err != nil {
		t.Fatal(err)
	}
	<-done
	w.complete(p)
	if _, rec, _, err := w.desk.Receipt(r.ID); err != nil || rec.Approver == nil || rec.Approver.Key != sshsig.Fingerprint(keys[0].PublicKey()) {
		t.Errorf("the receipt's approver: %q, %v", rec.Approver, err)
	}
	for _, bad := range []string{"", socket} {
		if _, _, err := sshsig.Agent(bad); err == nil {
			t.Errorf("Agent(%q) passed without an agent", bad)
		}
	}
}

func TestApprovalRefuses(t *testing.T) {
	tests := []struct {
		name string
		try  func(*testing.T, *world, gdpr.Due, gdpr.Plan) error
	}{
		{"one's own", func(t *testing.T, w *world, r gdpr.Due, p gdpr.Plan) error {
			s, _ := newSigner(t)
			w.desk.Operator.Key = sshsig.Fingerprint(s.PublicKey())
			mine, err := w.desk.File(t.Context(), gdpr.Intake{Subject: ana, Received: "2026-02-20", Ground: "x"})
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.desk.Approve(t.Context(), mine.ID, w.plan(mine.ID).Hash, s)
			return err
		}},
		{"one's own in a certificate", func(t *testing.T, w *world, r gdpr.Due, p gdpr.Plan) error {
			s, _ := newSigner(t)
			w.desk.Operator.Key = sshsig.Fingerprint(s.PublicKey())
			mine, err := w.desk.File(t.Context(), gdpr.Intake{Subject: ana, Received: "2026-02-20", Ground: "x"})
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.desk.Approve(t.Context(), mine.ID, w.plan(mine.ID).Hash, certify(t, s))
			return err
		}},
		{"one key under two names", func(t *testing.T, w *world, r gdpr.Due, p gdpr.Plan) error {
			s, _ := newSigner(t)
			w.desk.Operator = gdpr.Operator{ID: "first", Key: sshsig.Fingerprint(s.PublicKey())}
			mine, err := w.desk.File(t.Context(), gdpr.Intake{Subject: ana, Received: "2026-02-20", Ground: "x"})
			if err != nil {
				t.Fatal(err)
			}
			w.desk.Operator.ID = "second"
			_, err = w.desk.Approve(t.Context(), mine.ID, w.plan(mine.ID).Hash, s)
			return err
		}},
		{"replayed from another request", func(t *testing.T, w *world, r gdpr.Due, p gdpr.Plan) error {
			s, _ := newSigner(t)
			if _, err := w.desk.Approve(t.Context(), r.ID, p.Hash, s); err != nil {
				t.Fatal(err)
			}
			second, err := w.desk.File(t.Context(), gdpr.Intake{Subject: ana, Aliases: []string{mail, name}, Received: "2026-02-21", Ground: "y"})
			if err != nil {
				t.Fatal(err)
			}
			p2 := w.plan(second.ID)
			first := editRequest(t, w, r.ID, nil)
			editRequest(t, w, second.ID, func(m map[string]any) {
				a := first["approvals"].([]any)[0].(map[string]any)
				a["plan_hash"] = p2.Hash
				m["approvals"] = []any{a}
			})
			_, err = w.erase(p2)
			return err
		}},
		{"expired", func(t *testing.T, w *world, r gdpr.Due, p gdpr.Plan) error {
			s, _ := newSigner(t)
			if _, err := w.desk.Approve(t.Context(), r.ID, p.Hash, s); err != nil {
				t.Fatal(err)
			}
			w.clock.Set(w.clock.Now().Add(gdpr.DefaultApprovalValid))
			_, err := w.erase(p)
			return err
		}},
		{"the plan changed", func(t *testing.T, w *world, r gdpr.Due, p gdpr.Plan) error {
			s, _ := newSigner(t)
			if _, err := w.desk.Approve(t.Context(), r.ID, p.Hash, s); err != nil {
				t.Fatal(err)
			}
			w.put("db", model.RetainRequest{Tier: "session", Key: "n9", Content: "more of " + name})
			_, err := w.erase(w.plan(r.ID))
			return err
		}},
		{"an approval of the plan before", func(t *testing.T, w *world, r gdpr.Due, p gdpr.Plan) error {
			s, _ := newSigner(t)
			if _, err := w.desk.Approve(t.Context(), r.ID, p.Hash, s); err != nil {
				t.Fatal(err)
			}
			was := editRequest(t, w, r.ID, nil)
			w.put("db", model.RetainRequest{Tier: "session", Key: "n9", Content: "more of " + name})
			p2 := w.plan(r.ID)
			editRequest(t, w, r.ID, func(m map[string]any) { m["approvals"] = was["approvals"] })
			_, err := w.erase(p2)
			return err
		}},
		{"an approval of the plan before, with this one's hash", func(t *testing.T, w *world, r gdpr.Due, p gdpr.Plan) error {
			s, _ := newSigner(t)
			if _, err := w.desk.Approve(t.Context(), r.ID, p.Hash, s); err != nil {
				t.Fatal(err)
			}
			was := editRequest(t, w, r.ID, nil)
			w.put("db", model.RetainRequest{Tier: "session", Key: "n9", Content: "more of " + name})
			p2 := w.plan(r.ID)
			editRequest(t, w, r.ID, func(m map[string]any) {
				m["approvals"] = was["approvals"]
				m["approvals"].([]any)[0].(map[string]any)["plan_hash"] = p2.Hash
			})
			_, err := w.erase(p2)
			return err
		}},
		{"a key that may not", func(t *testing.T, w *world, r gdpr.Due, p gdpr.Plan) error {
			w.desk.Policy.Approvers = []string{"SHA256:other"}
			s, _ := newSigner(t)
			_, err := w.desk.Approve(t.Context(), r.ID, p.Hash, s)
			return err
		}},
		{"nobody knows who filed it", func(t *testing.T, w *world, r gdpr.Due, p gdpr.Plan) error {
			s, _ := newSigner(t)
			w.desk.Operator.Key, w.desk.Policy.Approvers = "", []string{sshsig.Fingerprint(s.PublicKey())}
			mine, err := w.desk.File(t.Context(), gdpr.Intake{Subject: ana, Received: "2026-02-20", Ground: "x"})
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.desk.Approve(t.Context(), mine.ID, w.plan(mine.ID).Hash, s)
			return err
		}},
		{"the requester's other key", func(t *testing.T, w *world, r gdpr.Due, p gdpr.Plan) error {
			s, _ := newSigner(t)
			w.desk.Policy.Names = map[string]string{"SHA256:requester": "ann", sshsig.Fingerprint(s.PublicKey()): "ann"}
			_, err := w.desk.Approve(t.Context(), r.ID, p.Hash, s)
			return err
		}},
		{"the key of who is said to have filed it", func(t *testing.T, w *world, r gdpr.Due, p gdpr.Plan) error {
			s, _ := newSigner(t)
			w.desk.Policy.Names = map[string]string{sshsig.Fingerprint(s.PublicKey()): "ann"}
			mine, err := w.desk.File(t.Context(), gdpr.Intake{Subject: ana, Received: "2026-02-20", Ground: "x", By: "ann"})
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.desk.Approve(t.Context(), mine.ID, w.plan(mine.ID).Hash, s)
			return err
		}},
		{"another plan than was seen", func(t *testing.T, w *world, r gdpr.Due, p gdpr.Plan) error {
			s, _ := newSigner(t)
			_, err := w.desk.Approve(t.Context(), r.ID, strings.Repeat("0", 64), s)
			return err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, r, p := approvals(t)
			before := refusals(t, w)
			if err := tt.try(t, w, r, p); !model.IsRefusal(err) {
				t.Fatalf("%v; want a refusal", err)
			}
			if refusals(t, w) != before+1 {
				t.Error("the refusal is not in the audit log")
			}
			if _, ok := w.contents()["db:n1"]; !ok {
				t.Error("something was erased")
			}
		})
	}
}

// TestAnApprovalThatHasExpiredIsNone: the status must show the expiry too.
func TestAnApprovalThatHasExpiredIsNone(t *testing.T) {
	w, r, p := approvals(t)
	s, _ := newSigner(t)
	if got, err := w.desk.Approve(t.Context(), r.ID, p.Hash, s); err != nil || got.State != gdpr.StateApproved {
		t.Fatalf("%s, %v", got.State, err)
	}
	w.clock.Set(w.clock.Now().Add(gdpr.DefaultApprovalValid))
	if got, err := w.desk.Get(r.ID); err != nil || got.State != gdpr.StatePlanned || !strings.Contains(got.Reason, "expired") {
		t.Errorf("after it has expired: %s, %q, %v", got.State, got.Reason, err)
	}
	if got, err := w.desk.Approve(t.Context(), r.ID, p.Hash, s); err != nil || got.State != gdpr.StateApproved || got.Reason != "" {
		t.Errorf("approved again: %s, %q, %v", got.State, got.Reason, err)
	}
}

// TestAnApprovalByAClockThatWasAhead counts neither at once nor later.
func TestAnApprovalByAClockThatWasAhead(t *testing.T) {
	w, r, p := approvals(t)
	s, _ := newSigner(t)
	now := w.clock.Now()
	w.clock.Set(now.Add(400 * 24 * time.Hour))
	if got, err := w.desk.Approve(t.Context(), r.ID, p.Hash, s); err != nil || got.State != gdpr.StateApproved {
		t.Fatalf("%s, %v", got.State, err)
	}
	for _, later := range []time.Duration{0, 300 * 24 * time.Hour} {
		w.clock.Set(now.Add(later))
		if got, err := w.desk.Get(r.ID); err != nil || got.State != gdpr.StatePlanned {
			t.Errorf("after %s: %s, %v", later, got.State, err)
		}
		if _, err := w.erase(p); err == nil {
			t.Errorf("after %s the plan is carried out", later)
		}
	}
}

// TestTheReceiptNamesTheApprovalInForce: an approval that had expired when the run began is not the one that
// it began under.
func TestTheReceiptNamesTheApprovalInForce(t *testing.T) {
	w, r, p := approvals(t)
	first, _ := newSigner(t)
	second, _ := newSigner(t)
	for _, s := range []sshsig.Signer{first, second} {
		w.clock.Set(w.clock.Now().Add(gdpr.DefaultApprovalValid))
		if _, err := w.desk.Approve(t.Context(), r.ID, p.Hash, s); err != nil {
			t.Fatal(err)
		}
	}
	w.complete(p)
	if _, rec, _, err := w.desk.Receipt(r.ID); err != nil || rec.Approver == nil || rec.Approver.Key != sshsig.Fingerprint(second.PublicKey()) {
		t.Errorf("the receipt's approver: %q, %v; want the second", rec.Approver, err)
	}
}

// TestTheApprovalOfAnotherErasureCoversNone: a request that says in its file that it repeats an approved erasure
// must still be approved itself: no sweep filed it, or it names somebody else.
func TestTheApprovalOfAnotherErasureCoversNone(t *testing.T) {
	w, r, p := approvals(t)
	signer, _ := newSigner(t)
	if _, err := w.desk.Approve(t.Context(), r.ID, p.Hash, signer); err != nil {
		t.Fatal(err)
	}
	w.complete(p)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n3", Content: "asks " + other})
	theirs, err := w.desk.File(t.Context(), gdpr.Intake{Subject: other, Received: "2026-02-20", Ground: "asked"})
	if err != nil {
		t.Fatal(err)
	}
	plan := w.plan(theirs.ID)
	editRequest(t, w, theirs.ID, func(m map[string]any) { m["of"], m["pseudonym"] = r.ID, r.Pseudonym })
	if _, err := w.erase(plan); !model.IsRefusal(err) {
		t.Errorf("erase = %v; want a refusal", err)
	}
	err = w.desk.Log.Act(t.Context(), audit.Entry{Action: "gdpr-sweep", Scope: theirs.ID}, func(context.Context) (map[string]int64, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.erase(plan); !model.IsRefusal(err) {
		t.Errorf("erase of somebody else = %v; want a refusal", err)
	}
}

// TestTheRequesterSigns: a request that a session without a key files with a key cannot be approved by
// that key; where approvers are listed, an unknown key does not count.
func TestTheRequesterSigns(t *testing.T) {
	w, _, _ := approvals(t)
	w.desk.Operator.Key = ""
	if w.desk.Unattested() == "" {
		t.Error("a session without a key is not told that nobody could approve")
	}
	ann, _ := newSigner(t)
	ben, _ := newSigner(t)
	in := gdpr.Intake{Subject: ana, Received: "2026-02-20", Ground: "x", Signer: ann}
	w.desk.Policy.Approvers = []string{sshsig.Fingerprint(ben.PublicKey())}
	if _, err := w.desk.File(t.Context(), in); !errors.Is(err, model.InvalidInput) {
		t.Errorf("a key that nobody knows: %v; want InvalidInput", err)
	}
	w.desk.Policy.Names = map[string]string{sshsig.Fingerprint(ann.PublicKey()): "ann"}
	r, err := w.desk.File(t.Context(), in)
	if err != nil || r.ByKey != sshsig.Fingerprint(ann.PublicKey()) {
		t.Fatalf("File = %q, %v", r.ByKey, err)
	}
	p := w.plan(r.ID)
	w.desk.Policy.Approvers = nil
	if _, err := w.desk.Approve(t.Context(), r.ID, p.Hash, ann); !model.IsRefusal(err) {
		t.Errorf("the key that filed it approves: %v; want a refusal", err)
	}
	if _, err := w.desk.Approve(t.Context(), r.ID, p.Hash, ben); err != nil {
		t.Fatal(err)
	}
	w.complete(p)
	w.desk.Operator.Key = "SHA256:session"
	if _, err := w.desk.File(t.Context(), in); !errors.Is(err, model.InvalidInput) {
		t.Errorf("another key than the session's: %v; want InvalidInput", err)
	}
}

// TestASignatureThatNobodyAskedFor: where no second operator is required, a signature over a request
// without a requester's key is accepted; it must not count once one is required.
func TestASignatureThatNobodyAskedFor(t *testing.T) {
	w, _, _ := approvals(t)
	w.desk.Operator.Key, w.desk.Policy.RequireApproval = "", false
	r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: ana, Received: "2026-02-20", Ground: "x"})
	if err != nil {
		t.Fatal(err)
	}
	p := w.plan(r.ID)
	ben, _ := newSigner(t)
	if got, err := w.desk.Approve(t.Context(), r.ID, p.Hash, ben); err != nil || got.State != gdpr.StateApproved {
		t.Fatalf("approved: %s, %v", got.State, err)
	}
	w.desk.Policy.RequireApproval = true
	if _, err := w.desk.Erase(t.Context(), order(p), w.fleet, nil); !model.IsRefusal(err) {
		t.Errorf("erased under it: %v; want a refusal", err)
	}
	if _, err := w.desk.Approve(t.Context(), r.ID, p.Hash, ben); !model.IsRefusal(err) {
		t.Errorf("approved where it counts: %v; want a refusal", err)
	}
}

func editRequest(t *testing.T, w *world, id string, edit func(map[string]any)) map[string]any {
	t.Helper()
	path := filepath.Join(w.desk.State, "gdpr", "requests", id+".json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(m)
		if b, err = json.Marshal(m); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// TestApprovalReadsOutside checks a signature with OpenSSH itself.
func TestApprovalReadsOutside(t *testing.T) {
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("no ssh-keygen here to compare with")
	}
	s, _ := newSigner(t)
	sig, err := sshsig.Sign(s, "memdesk-approval", []byte("the plan"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"sig": sig, "allowed": "bob " + string(ssh.MarshalAuthorizedKey(s.PublicKey()))} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), keygen, "-Y", "verify", "-f", filepath.Join(dir, "allowed"), "-I", "bob", "-n", "memdesk-approval", "-s", filepath.Join(dir, "sig"))
	cmd.Stdin = strings.NewReader("the plan")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("ssh-keygen: %v: %s", err, out)
	}
	if _, err := sshsig.Verify(sig, "memdesk-approval", []byte("the plan")); err != nil {
		t.Errorf("Verify: %v", err)
	}
	for _, bad := range []struct{ sig, ns, text string }{{sig, "memdesk-approval", "another"}, {sig, "git", "the plan"}, {sig[:len(sig)/2], "memdesk-approval", "the plan"}} {
		if _, err := sshsig.Verify(bad.sig, bad.ns, []byte(bad.text)); err == nil {
			t.Errorf("Verify(%q, %q) passed", bad.ns, bad.text)
		}
	}
}

// TestResurrection tries the five ways in which a subject could return.
func TestResurrection(t *testing.T) {
	w := newWorld(t)
	w.fill()
	db := w.store("db")
	// Copies from before the erasure: an export, an undo entry, a backup of the file.
	_, entry, err := w.desk.Undo.Retain(t.Context(), db, model.RetainRequest{ID: "n2", Content: "later " + name, Mode: model.Replace})
	if err != nil {
		t.Fatal(err)
	}
	r := w.file()
	out := filepath.Join(t.TempDir(), "export")
	n, missing, err := w.desk.Export(t.Context(), r.ID, out, w.fleet)
	if err != nil || n == 0 || len(missing) > 0 {
		t.Fatalf("Export = %d, %q, %v", n, missing, err)
	}
	if err := w.fleet.Close(); err != nil {
		t.Fatal(err)
	}
	backup, err := os.ReadFile(w.path("db"))
	if err != nil {
		t.Fatal(err)
	}
	w.fleet = nil
	w.open()
	w.complete(w.plan(r.ID))
	db = w.store("db")

	refused := func(what string, err error) {
		t.Helper()
		if !model.IsRefusal(err) {
			t.Errorf("%s: %v; want a refusal", what, err)
		}
	}
	var file struct {
		Items []struct{ ID, Body string }
	}
	b, err := os.ReadFile(filepath.Join(out, "export.json"))
	if err != nil || json.Unmarshal(b, &file) != nil || len(file.Items) == 0 {
		t.Fatalf("export.json: %v", err)
	}
	blocked := 0
	for _, it := range file.Items {
		_, err := db.Provider.Retain(t.Context(), model.RetainRequest{Tier: "session", Content: "re: " + it.Body, Mode: model.Replace})
		if strings.Contains(it.Body, name) || strings.Contains(it.Body, mail) {
			refused("re-import", err)
			blocked++
		}
	}
	if blocked == 0 {
		t.Error("the export held nothing that names her")
	}
	_, err = w.desk.Undo.Restore(t.Context(), w.fleet.Store, entry.ID)
	if err == nil {
		t.Error("undo: it was put back")
	}
	_, err = db.Provider.Retain(t.Context(), model.RetainRequest{Tier: "session", Key: "copy", Content: "sync copy about " + strings.ToUpper(name), Mode: model.Replace})
	refused("a conflict copy that is resolved", err)
	_, err = db.Provider.Retain(t.Context(), model.RetainRequest{Tier: "session", Content: "tea", Mode: model.Append, DataSubjectID: ana})
	refused("a tag alone", err)
	_, err = db.Provider.Retain(t.Context(), model.RetainRequest{Tier: "session", Key: ana, Content: "tea", Mode: model.Replace})
	refused("an id alone", err)
	if _, err = db.Provider.Retain(t.Context(), model.RetainRequest{Tier: "session", Key: "ok", Content: ana + "2 is another", Mode: model.Replace}); err != nil {
		t.Errorf("somebody else: %v", err)
	}

	// A backup and a sync peer pass no gate: the sweep finds them.
	if err := w.fleet.Close(); err != nil {
		t.Fatal(err)
	}
	w.fleet = nil
	for _, side := range []string{"-wal", "-shm"} {
		_ = os.Remove(w.path("db") + side)
	}
	if err := os.WriteFile(w.path("db"), backup, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.path("agent"), "daily", "2026-02-21.md"), []byte("- "+mail+" wrote\n- quiet\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.open()
	swept, problems, err := w.desk.Sweep(t.Context(), w.fleet, "", nil)
	if err != nil || len(problems) > 0 || len(swept) != 1 || swept[0].Outcome.Status != gdpr.StateComplete {
		t.Fatalf("Sweep = %+v, %q, %v", swept, problems, err)
	}
	if left := w.traces(w.dir, w.desk.State); len(left) > 0 {
		t.Errorf("traces: %q", left)
	}
	if swept, _, err := w.desk.Sweep(t.Context(), w.fleet, "", nil); err != nil || len(swept) != 0 {
		t.Errorf("a second sweep: %+v, %v; want nothing", swept, err)
	}
}

// TestReaderHoldsASnapshot: the request must be pending while a reader holds the snapshot, and complete
// once the reader has ended.
func TestReaderHoldsASnapshot(t *testing.T) {
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "tea", DataSubjectID: ana})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "coffee"})
	r := w.file()
	p := w.plan(r.ID)
	reader, err := sql.Open("sqlite3", "file:"+w.path("db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	tx, err := reader.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM nodes").Scan(&n); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	out, err := w.desk.Erase(ctx, order(p), w.fleet, nil)
	if err != nil || out.Status != gdpr.StatePending {
		t.Fatalf("while somebody reads: %s, %q, %v; want pending", out.Status, out.Reason, err)
	}
	if _, _, _, err := w.desk.Receipt(r.ID); !errors.Is(err, model.NotFound) {
		t.Errorf("a receipt of pending work: %v", err)
	}
	layers, err := w.desk.Verify(t.Context(), r.ID, "", w.fleet)
	if err != nil {
		t.Fatal(err)
	}
	if got := verdictOf(layers, "memory.sqlite-wal"); got != model.VerdictPending || slices.ContainsFunc(layers, func(l receipt.Layer) bool { return l.Verdict == model.VerdictResidue }) {
		t.Errorf("verified while somebody reads: %s, %+v; want pending", got, layers)
	}
	if err := errors.Join(tx.Rollback(), reader.Close()); err != nil {
		t.Fatal(err)
	}
	w.complete(p)
}

func TestOneDeskAtATime(t *testing.T) {
	w := newWorld(t)
	w.fill()
	r := w.file()
	p := w.plan(r.ID)
	out, err := w.desk.Erase(t.Context(), order(p), w.fleet, func(ctx context.Context, pr gdpr.Progress) error {
		if pr.What == "scrub" {
			if _, err := w.erase(p); !errors.Is(err, gdpr.ErrBusy) {
				t.Errorf("a second run beside the first: %v; want ErrBusy", err)
			}
		}
		return nil
	})
	if err != nil || out.Status != gdpr.StateComplete {
		t.Errorf("the first: %s, %v", out.Status, err)
	}
}

func TestListCannotBeReadNothingIsRetained(t *testing.T) {
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "tea", DataSubjectID: ana})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "coffee"})
	r := w.file()
	w.complete(w.plan(r.ID))
	if err := os.WriteFile(filepath.Join(w.desk.State, "gdpr", "suppressed.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := w.store("db").Provider.Retain(t.Context(), model.RetainRequest{Tier: "session", Key: "n3", Content: "milk", Mode: model.Replace})
	if !model.IsRefusal(err) {
		t.Errorf("retain with a damaged list = %v; want a refusal", err)
	}
}

// TestNothingGoesWhileItIsNotKnownWhoAsks: a request paused for an identity check must not be carried
// out, and the refusal must say how to continue.
func TestNothingGoesWhileItIsNotKnownWhoAsks(t *testing.T) {
	w, r, p := approvals(t)
	w.desk.Policy.RequireApproval = false
	if _, err := w.desk.SetPolicy(t.Context(), "one operator is left"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.desk.Pause(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	before := w.contents()
	if _, err := w.desk.Erase(t.Context(), order(p), w.fleet, nil); !model.IsRefusal(err) || !strings.Contains(err.Error(), "gdpr resume") {
		t.Errorf("erased while paused: %v; want a refusal", err)
	}
	if diff := cmp.Diff(before, w.contents()); diff != "" {
		t.Errorf("something went (-before +after)\n%s", diff)
	}
	if _, err := w.desk.Resume(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	w.complete(p)
}

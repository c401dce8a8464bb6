package gdpr

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"memdesk/audit"
	"memdesk/gdpr/receipt"
	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// finish records the outcome. An erasure that is complete, or complete in scope, gets a receipt; only a
// complete one loses its identifiers.
func (x *run) finish(ctx context.Context) error {
	now, err := x.d.load(x.r.ID) // others may have changed it during the run
	if err != nil {
		return err
	}
	if now.PlanHash != x.p.Hash && (x.out.Status == StateComplete || x.out.Status == StateInScope) {
		x.out.Status, x.out.Reason = StatePartial, changedReason
	}
	now.Warnings = x.r.Warnings
	*x.r = now
	clear, err := x.nameless()
	if err != nil {
		return err
	}
	clear.layers(x.out.Layers)
	for i, p := range x.out.Problems {
		x.out.Problems[i].What = clear.text(p.What)
	}
	if err := x.report(); err != nil {
		return err
	}
	if x.out.Status != StateComplete && x.out.Status != StateInScope {
		return x.keep(ctx)
	}
	if err := x.receipt(ctx, clear); err != nil {
		return err
	}
	if x.out.Status == StateInScope { // the next verification needs the identifiers
		err = x.keep(ctx)
	} else {
		err = x.settle(ctx, x.d.Clock.Now().UTC())
	}
	if !errors.Is(err, errChanged) {
		return err
	}
	x.out.Status, x.out.Reason = StatePartial, changedReason
	return errors.Join(removeIfThere(x.d.dir("receipts", x.r.ID+".json")), x.report(), x.keep(ctx))
}

// changedReason is why a run whose request was changed meanwhile is not complete.
const changedReason = "the request was changed while its plan was carried out: plan again"

// errChanged keeps a request open that was changed after its receipt was written.
var errChanged = model.Errorf(model.Conflict, "gdpr-erase", changedReason)

// keep saves the outcome in the request; errChanged where its plan is void by now and the outcome needs it.
func (x *run) keep(ctx context.Context) error {
	warnings := x.r.Warnings
	return x.d.edit(context.WithoutCancel(ctx), x.r, func(r *Request) error {
		if x.out.Status == StateInScope && r.PlanHash != x.p.Hash {
			return errChanged
		}
		r.State, r.Reason, r.Warnings = x.out.Status, x.out.Reason, warnings
		return nil
	})
}

// receipt writes the signed receipt.
func (x *run) receipt(ctx context.Context, clear nameless) error {
	key, err := receipt.LoadKey(x.d.dir("keys", "receipt"))
	if err != nil {
		return err
	}
	now := x.d.Clock.Now().UTC()
	policy, err := x.d.policyInForce(ctx, x.r, "gdpr-erase")
	if err != nil {
		return err
	}
	copies, err := x.d.copies(ctx, x.out.Stores)
	if err != nil {
		return err
	}
	rec := receipt.Receipt{
		Request: x.r.ID, Subject: x.r.Pseudonym, Status: string(x.out.Status), Plan: x.p.Hash, Received: x.r.Received, Deadline: x.r.deadline(now).Format(dateForm),
		Begun: x.r.Begun.Format(time.RFC3339), Finished: now.Format(time.RFC3339), Ground: requestGround(x.r.Ground), Policy: policy,
		Operator:  receipt.Party{Name: x.d.Operator.ID, Key: x.d.Operator.Key, Authenticated: x.d.Operator.Key != ""},
		Forgotten: x.out.Forgotten, Redacted: x.out.Redacted, Stores: x.out.Stores, Layers: x.out.Layers,
		Held: x.heldItems(), Attested: x.attestations(), Open: x.d.unreached(x.r, x.out), Exports: x.r.exports(false), Backups: copies, Recipients: x.recipients(),
		Suppression: receipt.Suppression{Active: true, Method: "keyed hashes of the identifiers; what names the person is refused at the gate and found by `memdesk gdpr sweep`"},
		Notes:       append(limits(), x.r.Warnings...),
	}
	both := x.p.shared(x.fleet)
	for _, i := range slices.Sorted(maps.Keys(both)) {
		rec.Notes = append(rec.Notes, x.p.Stores[i].Store+": "+both[i])
	}
	rec.Identity = x.r.identityCheck(x.d.Clock.Now())
	if a := x.approval; a != nil {
		rec.Approver = &receipt.Party{Name: x.d.Policy.Names[a.Fingerprint], Key: a.Fingerprint, Authenticated: true, Method: a.Method()}
	}
	if rec.LogHead.Seq, rec.LogHead.Hash, err = x.d.Log.Head(ctx); err != nil {
		return model.E(model.Unavailable, "gdpr-erase", err)
	}
	clear.receipt(&rec)
	if err := x.prove(ctx, &rec); err != nil {
		return err
	}
	file, err := key.Sign(rec)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(x.d.dir("receipts", x.r.ID+".json"), file, 0o600); err != nil {
		return model.E(model.Unavailable, "gdpr-erase", atomicfile.Pathless(err))
	}
	return nil
}

// prove records the receipt's digest in the log, and puts the proof of that record into the receipt. A log
// whose head cannot be signed now (its key is in an agent that is away) leaves the proof out.
func (x *run) prove(ctx context.Context, rec *receipt.Receipt) error {
	digest, err := rec.Digest()
	if err != nil {
		return err
	}
	e := audit.Entry{Action: receipt.Action, Plan: rec.Plan, Scope: digest}
	proof, cosignatures, err := x.d.Log.NoteProven(ctx, e, audit.Result{Verdict: audit.OK})
	if err != nil {
		return model.E(model.Unavailable, "gdpr-erase", err)
	}
	if proof == nil {
		return nil
	}
	signed, inclusion := string(proof.Checkpoint), proof.Inclusion()
	rec.Checkpoint, rec.InclusionProof, rec.Cosignatures = &signed, &inclusion, cosignatures
	return nil
}

// limits lists the facts that a receipt does not prove.
func limits() []string {
	return []string{
		"times are those of the machine that carried the erasure out",
		"whoever can read the state directory of this desk can sign such a receipt; the cosignature of a witness says from when on it was there",
		"nothing is claimed about storage below the file system",
	}
}

// heldItems are the items on hold, by store and ground.
func (x *run) heldItems() []receipt.Held {
	var out []receipt.Held
	for _, p := range x.parts {
		for _, st := range p.Steps {
			if st.Action != Held {
				continue
			}
			h := receipt.Held{Store: p.Store, Ground: citedArticles(st.Ground)}
			i := slices.IndexFunc(out, func(o receipt.Held) bool { return o.Store == h.Store && o.Ground == h.Ground })
			if i < 0 {
				i, out = len(out), append(out, h)
			}
			out[i].Items++
		}
	}
	return out
}

// settle closes what the receipt proves complete: the subject's other requests that ask for no more, the plan
// and the identifiers.
func (x *run) settle(ctx context.Context, now time.Time) error {
	if err := x.closeCovered(ctx); err != nil {
		return err
	}
	if err := x.d.dropPlan(x.r.ID); err != nil {
		return err
	}
	return x.close(ctx, now)
}

// receipted is the receipt of a request that was carried out but not closed, because its process died in
// between. The same plan continues from there.
func (d *Desk) receipted(r *Request) (receipt.Receipt, bool) {
	_, rec, _, err := d.signed(r.ID)
	return rec, err == nil && r.endedBy(rec)
}

// endedBy reports whether a receipt is of the request's plan as it stands, and the request is not closed yet.
func (r *Request) endedBy(rec receipt.Receipt) bool {
	return !r.Done() && r.PlanHash != "" && rec.Request == r.ID && rec.Plan == r.PlanHash && rec.Status == receipt.StatusComplete
}

// resumeSettling closes such a request.
func (x *run) resumeSettling(ctx context.Context, rec receipt.Receipt) error {
	x.out = Outcome{Status: StateComplete, Forgotten: rec.Forgotten, Redacted: rec.Redacted, Held: receipt.Items(rec.Held), Stores: rec.Stores, Layers: rec.Layers}
	finished, err := time.Parse(time.RFC3339, rec.Finished)
	if err != nil {
		return model.E(model.Internal, "gdpr-erase", err)
	}
	return x.settle(ctx, finished)
}

// close removes everything that names the subject from the request.
func (x *run) close(ctx context.Context, now time.Time) error {
	key, err := x.d.pseudonymKey()
	if err != nil {
		return err
	}
	warnings := x.r.Warnings
	return x.d.edit(context.WithoutCancel(ctx), x.r, func(r *Request) error {
		if r.PlanHash != x.p.Hash {
			return errChanged
		}
		r.State, r.Subject, r.Aliases, r.Ground, r.Choices, r.Reason = StateComplete, "", nil, "", nil, ""
		for i, h := range r.Holds {
			if !h.hashed() {
				r.Holds[i].ID = key.Item(h.place(), h.ID)
			}
			r.Holds[i].Ground = x.m.Redact(h.Ground, Erased)
		}
		r.forgetNames(key, x.m)
		r.Finished, r.Warnings = now, warnings
		return nil
	})
}

// Receipt returns a finished request's signed file and its content; NotFound before there is one, and where a later run
// or a withdrawal left the receipt of an earlier run behind.
func (d *Desk) Receipt(id string) ([]byte, receipt.Receipt, string, error) {
	b, rec, key, err := d.signed(id)
	if err != nil {
		return b, rec, key, err
	}
	r, err := d.load(id)
	if err == nil && !r.Receipted() && !r.endedBy(rec) {
		err = model.Errorf(model.NotFound, "gdpr", "request %s is %s, and has a receipt of an earlier run only: `memdesk gdpr report %s` says where it stands", id, r.State, id)
	}
	if err != nil {
		return nil, receipt.Receipt{}, "", err
	}
	return b, rec, key, nil
}

// signed returns the signed file of a request's last run that had one, and its content.
func (d *Desk) signed(id string) ([]byte, receipt.Receipt, string, error) {
	b, err := atomicfile.ReadFile(d.dir("receipts", id+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, receipt.Receipt{}, "", model.Errorf(model.NotFound, "gdpr", "request %s has no receipt: an erasure gets one when every layer in scope is done, `memdesk gdpr report %s` says where it stands", id, id)
	}
	if err != nil {
		return nil, receipt.Receipt{}, "", model.E(model.Unavailable, "gdpr", atomicfile.Pathless(err))
	}
	rec, signer, err := d.CheckReceipt(b, "")
	if err == nil && signer.Known == "" {
		err = errors.Join(receipt.ErrTampered, errors.New("this desk's key is gone, so nobody can say who signed it: put gdpr/keys/receipt back from a backup"))
	}
	if err != nil {
		err = fmt.Errorf("request %s: %w", id, err)
	}
	return b, rec, signer.KeyID, err
}

// checkReceiptKey refuses where the key is lost that signed the receipts: with another one they would look forged.
func (d *Desk) checkReceiptKey() error {
	if _, err := receipt.ReadKey(d.dir("keys", "receipt")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	files, err := os.ReadDir(d.dir("receipts"))
	if err != nil {
		return model.E(model.Unavailable, "gdpr-erase", atomicfile.Pathless(err))
	}
	if slices.ContainsFunc(files, func(f fs.DirEntry) bool { return strings.HasSuffix(f.Name(), ".json") }) {
		return model.Errorf(model.Unavailable, "gdpr-erase", "the key that signs receipts is lost: put gdpr/keys/receipt back from a backup; without one, keep the files of gdpr/receipts elsewhere, because a new key cannot vouch for them")
	}
	return nil
}

// CheckReceipt verifies a receipt's bytes, offline. pin is the public key, or the key id, that must have
// signed it; empty means this desk's own. Where there is neither, nobody vouches for the signer, and the
// answer says so.
func (d *Desk) CheckReceipt(file []byte, pin string) (receipt.Receipt, receipt.Signer, error) {
	if pin != "" {
		pin = strings.ToLower(pin)
		if err := receipt.CheckPin(pin); err != nil {
			return receipt.Receipt{}, receipt.Signer{}, err
		}
		return receipt.Read(file, pin)
	}
	key, err := receipt.ReadKey(d.dir("keys", "receipt"))
	if d.State == "" || errors.Is(err, fs.ErrNotExist) {
		return receipt.Read(file, "")
	}
	if err != nil {
		return receipt.Receipt{}, receipt.Signer{}, err
	}
	rec, signer, err := receipt.Read(file, key.Public())
	signer.Known = receipt.OwnKey
	return rec, signer, err
}

// PublicKey is the public half of the desk's receipt key, in hex; empty before the
// first receipt.
func (d *Desk) PublicKey() string {
	key, err := receipt.ReadKey(d.dir("keys", "receipt"))
	if err != nil {
		return ""
	}
	return key.Public()
}

package gdpr

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/model"
)

// Attestation is the word of a person who looked at a layer or an item that the program cannot open or
// change. It holds only for the bytes that were looked at: when the file has another text, or the layer other
// findings, it is needed again.
type Attestation struct {
	Store string `json:"store"` // the store's name at that time
	Where string `json:"where"` // the store's identity
	Layer string `json:"layer"` // the layer's name in a verification; of an item its id
	// Sum is the hash of the bytes that were looked at; of a layer without bytes, the hash of what a run
	// reported about it.
	Sum    string        `json:"sum"`
	Ground string        `json:"ground"`
	By     receipt.Party `json:"by"`
	At     time.Time     `json:"at"`
}

// words describe an attestation in a verdict, without the free text of its ground.
func (a Attestation) words() string {
	return fmt.Sprintf("attested by %s on %s: %s", a.By, a.At.UTC().Format(dateForm), citedArticles(a.Ground))
}

// Looked names the layers or items of a store that a person attests.
type Looked struct {
	Store  string
	Layers []string // as `gdpr verify` or the last run names them
	Items  []string
	Ground string
	By     string // who looked; empty: the operator
}

// Attest records that a person looked at layers or items that the program cannot open. It refuses a layer
// that the program can open, and one in which it finds the subject: those are erased or put on hold. The next
// run counts the attestation.
func (d *Desk) Attest(ctx context.Context, id string, fleet *backends.Fleet, in Looked) (Due, error) {
	const op = "gdpr-attest"
	r, err := d.live(id, op)
	if err != nil {
		return Due{}, err
	}
	if strings.TrimSpace(in.Ground) == "" {
		return Due{}, model.Errorf(model.InvalidInput, op, "an attestation needs its ground: who looked at it and why it may stay or needs no erasure")
	}
	for _, t := range []struct{ what, text string }{{"the ground", in.Ground}, {"who looked", in.By}} {
		if err := d.refuseErased(ctx, &r, op, t.what, t.text); err != nil {
			return Due{}, err
		}
	}
	s := ownAsStore()
	if in.Store != ownStore {
		if s, err = fleet.Store(in.Store); err != nil {
			return Due{}, err
		}
	}
	m, err := subject.New(r.Terms()...)
	if err != nil {
		return Due{}, err
	}
	all, err := d.newAttestations(ctx, &r, m, fleet, s, in)
	if err != nil {
		return Due{}, err
	}
	places := s.Identities()
	reason := strings.Join(append(in.Layers, in.Items...), ", ") + ": " + in.Ground
	return d.change(audit.WithReason(ctx, m.Redact(reason, Erased)), id, op, func(r *Request) error {
		for _, a := range all {
			r.Attested = slices.DeleteFunc(r.Attested, func(o Attestation) bool { return slices.Contains(places, o.Where) && o.Layer == a.Layer })
			r.Attested = append(r.Attested, a)
		}
		return nil
	})
}

// ownAsStore stands for memdesk's own files where a store is needed.
func ownAsStore() model.Store { return model.Store{Name: ownStore, Kind: ownStore} }

// newAttestations returns one attestation for each layer or item that was looked at.
func (d *Desk) newAttestations(ctx context.Context, r *Request, m *subject.Matcher, fleet *backends.Fleet, s model.Store, in Looked) ([]Attestation, error) {
	by := receipt.Party{Name: in.By}
	if in.By == "" {
		by = receipt.Party{Name: d.Operator.ID, Key: d.Operator.Key, Authenticated: d.Operator.Key != ""}
	}
	at := Attestation{Store: s.Name, Where: s.Identity(), Ground: strings.TrimSpace(in.Ground), By: by, At: d.Clock.Now().UTC()}
	var layers []model.Layer
	if s.Maintainer != nil {
		var err error
		if layers, err = s.Maintainer.Layers(ctx); err != nil {
			return nil, err
		}
	}
	var out []Attestation
	add := func(layer, sum string) {
		a := at
		a.Layer, a.Sum = layer, sum
		out = append(out, a)
	}
	for _, id := range in.Layers {
		sum, err := d.sumOfLayer(ctx, r, m, fleet, s, layers, id)
		if err != nil {
			return nil, err
		}
		add(id, sum)
	}
	for _, id := range in.Items {
		found, clean := false, error(nil)
		for _, l := range layers {
			if l.ItemID != id && l.ID != id || attached(l) { // what is attached has a row and a name of its own
				continue
			}
			sum, err := d.sumOfLayer(ctx, r, m, fleet, s, layers, l.ID)
			if errors.Is(err, errClean) { // its bytes are, and yet the store may not give the item
				clean = err
				continue
			}
			if err != nil {
				return nil, err
			}
			if found = true; l.ID != id {
				add(l.ID, sum)
			}
		}
		sum, err := sumOfItem(ctx, m, s, id, found)
		if err != nil {
			return nil, cmp.Or(clean, err)
		}
		add(id, sum)
	}
	return out, nil
}

// sumOfLayer returns the hash that binds an attestation to a layer. A layer that needs no attestation is
// refused.
func (d *Desk) sumOfLayer(ctx context.Context, r *Request, m *subject.Matcher, fleet *backends.Fleet, s model.Store, layers []model.Layer, id string) (string, error) {
	i := slices.IndexFunc(layers, func(l model.Layer) bool { return l.ID == id })
	if i < 0 {
		i = slices.IndexFunc(layers, func(l model.Layer) bool { return m.Redact(l.ID, Erased) == id }) // the name that a run prints
	}
	if i < 0 || id == gitLayer || nested(layers[i]) {
		return d.sumOfRow(r, s, id)
	}
	beside := &subject.Bystanders{}
	for _, o := range fleet.Members() {
		if o.Err != nil || o.Store.Medium() != s.Medium() {
			continue
		}
		if err := d.addBystanders(ctx, m, o.Store, beside); err != nil {
			return "", err
		}
	}
	scan := scanLayers(ctx, m, s, layers[i:i+1], beside, func(model.Layer) bool { return true }, nil)
	if ctx.Err() != nil {
		return "", model.FromContext(ctx, "gdpr-attest")
	}
	row := rowOf(m, s, layers[i], scan[0])
	if err := attestable(row); err != nil {
		return "", err
	}
	return layerSum(ctx, s, layers[i], row)
}

// sumOfRow is the hash for a row that is no layer of the medium: its words come from the last run.
func (d *Desk) sumOfRow(r *Request, s model.Store, id string) (string, error) {
	out, _, err := d.Report(r.ID)
	if err != nil && model.KindOf(err) != model.NotFound {
		return "", err
	}
	for _, row := range out.Layers {
		if row.Store == s.Name && row.Layer == id {
			if err := attestable(row); err != nil {
				return "", err
			}
			if row.Sum != "" {
				return row.Sum, nil
			}
			return statedSum(row), nil
		}
	}
	return "", model.Errorf(model.NotFound, "gdpr-attest", "%s has no layer %q: `memdesk gdpr report %s` names those of the last run", s.Name, id, r.ID)
}

// sumOfItem binds an attestation to an item's text. inLayers says that the item's bytes have a layer of their
// own, which was judged already.
func sumOfItem(ctx context.Context, m *subject.Matcher, s model.Store, id string, inLayers bool) (string, error) {
	if s.Browser == nil {
		return "", model.Errorf(model.Unsupported, "gdpr-attest", "%s shows no single items: attest its layer", s.Name)
	}
	it, err := s.Browser.Read(ctx, id)
	switch k := model.KindOf(err); {
	case err != nil && inLayers, err != nil && k != model.NotFound && k != model.InvalidInput && !k.Retryable():
		return itemSum(""), nil // a person attests a file that cannot be read
	case err != nil:
		return "", err
	}
	if _, closed := m.Inside(it.Body); len(closed) == 0 && !inLayers {
		return "", model.Errorf(model.InvalidInput, "gdpr-attest", "%s can be read: there is nothing to attest", model.Ref{Store: s.Name, ID: id}.String())
	}
	return itemSum(it.Body), nil
}

func itemSum(body string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(body))) }

var errClean = errors.New("can be read and is clean: there is nothing to attest")

// attestable refuses what the program itself can judge.
func attestable(row receipt.Layer) error {
	switch row.Verdict {
	case model.VerdictUnaudited, model.VerdictAttested, model.VerdictOutOfScope:
		return nil
	case model.VerdictResidue:
		return model.Errorf(model.InvalidInput, "gdpr-attest", "%s: %s can be read and holds the person: plan again, or put the item on hold", row.Store, row.Layer)
	case model.VerdictClean:
		return model.Errorf(model.InvalidInput, "gdpr-attest", "%s: %s %w", row.Store, row.Layer, errClean)
	}
	return model.Errorf(model.InvalidInput, "gdpr-attest", "%s: %s is %s: carry the plan out again first", row.Store, row.Layer, row.Verdict)
}

// layerSum is the hash of a layer's bytes, or of its stated reason and hits where the bytes cannot be read.
func layerSum(ctx context.Context, s model.Store, l model.Layer, row receipt.Layer) (string, error) {
	if !l.Readable {
		return statedSum(row), nil
	}
	f, err := s.Maintainer.OpenLayer(ctx, l.ID)
	if err != nil {
		return statedSum(row), nil //nolint:nilerr // a layer that cannot be opened has no bytes to hash
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return statedSum(row), nil //nolint:nilerr // as above
	}
	return fmt.Sprintf("sha256:%x", h.Sum(nil)), nil
}

// statedSum is the hash of the reason and the hits that a run states for a layer. The hits of memdesk's own files grow
// with each record of an operator who is called like the subject.
func statedSum(row receipt.Layer) string {
	if row.Store == ownStore && (row.Layer == stateLayer || row.Layer == originLayer) {
		row.Hits = 0
	}
	return fmt.Sprintf("said:%x", sha256.Sum256(fmt.Appendf(nil, "memdesk-attested-v1\x00%s\x00%d", row.Reason, row.Hits)))
}

// attestedIn is the attestation of a layer of a store, nil for none. A name with the subject redacted counts
// as the same layer: a finished request keeps only that one.
func (r *Request) attestedIn(m *subject.Matcher, s model.Store, layer string) *Attestation {
	if len(r.Attested) == 0 {
		return nil
	}
	places, redacted := s.Identities(), m.Redact(layer, Erased)
	for i := range r.Attested {
		if a := &r.Attested[i]; slices.Contains(places, a.Where) && (a.Layer == layer || a.Layer == redacted) {
			return a
		}
	}
	return nil
}

// applyAttestation sets a row's verdict to attested where a person attested exactly these bytes, or this
// stated reason.
func (r *Request) applyAttestation(m *subject.Matcher, s model.Store, row *receipt.Layer, layer string, sum func() (string, error)) error {
	if row.Verdict != model.VerdictUnaudited && row.Verdict != model.VerdictOutOfScope {
		return nil
	}
	a := r.attestedIn(m, s, layer)
	if a == nil {
		return nil
	}
	now, err := sum()
	if err != nil {
		return err
	}
	row.Sum = now
	if now != a.Sum {
		row.Reason = withWords(row.Reason, []string{"it was attested on " + a.At.UTC().Format(dateForm) + " and has changed since: somebody has to look again"})
		return nil
	}
	row.Verdict, row.Reason = model.VerdictAttested, withWords(a.words(), []string{row.Reason})
	return nil
}

// attestedItems reports whether a person attested an item that cannot be opened, with the
// same body.
func (r *Request) attestedItems(m *subject.Matcher, s model.Store) func(id, body string) bool {
	if len(r.Attested) == 0 {
		return nil
	}
	return func(id, body string) bool {
		a := r.attestedIn(m, s, id)
		return a != nil && a.Sum == itemSum(body)
	}
}

// attestations are those that a run counted, for its receipt.
func (x *run) attestations() []receipt.Attested {
	var out []receipt.Attested
	for _, row := range x.out.Layers {
		if row.Verdict != model.VerdictAttested {
			continue
		}
		for _, a := range x.r.Attested {
			if a.Store == row.Store && a.Sum == row.Sum && (a.Layer == row.Layer || x.m.Redact(a.Layer, Erased) == row.Layer) {
				out = append(out, receipt.Attested{Store: row.Store, Layer: row.Layer, By: a.By, At: a.At.UTC().Format(time.RFC3339), Ground: citedArticles(a.Ground), Sum: a.Sum})
			}
		}
	}
	return out
}

// looked is the attestation of a layer that is unchanged since; nil for none.
func (r *Request) looked(ctx context.Context, m *subject.Matcher, s model.Store, l model.Layer, scan layerScan) (*Attestation, error) {
	a := r.attestedIn(m, s, l.ID)
	if a == nil {
		return nil, nil
	}
	row := rowOf(m, s, l, scan)
	if row.Verdict != model.VerdictUnaudited {
		return nil, nil
	}
	sum, err := layerSum(ctx, s, l, row)
	if err != nil || sum != a.Sum {
		return nil, err
	}
	return a, nil
}

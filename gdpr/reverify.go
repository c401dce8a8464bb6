package gdpr

import (
	"context"
	"fmt"
	"slices"

	"memdesk/backends"
	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/gdpr/suppress"
	"memdesk/model"
)

// Verify looks again at every store, outside an erasure. A complete request has no identifiers any more: the
// operator types the subject's id, and those aliases that shall be searched for in bytes too; they must be
// those of the request. Items and texts are searched for all identifiers by their hashes.
func (d *Desk) Verify(ctx context.Context, id, typed string, fleet *backends.Fleet, aliases ...string) ([]receipt.Layer, error) {
	r, err := d.load(id)
	if err != nil {
		return nil, err
	}
	if r.State == StateWithdrawn {
		return nil, r.over("verify")
	}
	terms := r.Terms()
	var k *known
	switch {
	case r.Done():
		if k, err = d.recognise(&r, typed, aliases); err != nil {
			return nil, err
		}
		terms = k.typed
	case len(aliases) > 0:
		return nil, model.Errorf(model.InvalidInput, "verify", "request %s has its aliases still: leave --alias out", id)
	}
	return d.verifyTerms(ctx, &r, terms, fleet, k)
}

// await marks the stores in which the last run of a pending request left a layer to another program. Without its report
// what is found there is residue.
func (x *run) await() {
	if x.r.State != StatePending {
		return
	}
	last, _, _ := x.d.Report(x.r.ID)
	for _, p := range x.parts {
		p.pending = slices.ContainsFunc(last.Layers, func(l receipt.Layer) bool { return l.Store == p.Store && l.Verdict == model.VerdictPending })
	}
}

// verifyTerms verifies for these identifiers and, for a complete request, by its hashes.
func (d *Desk) verifyTerms(ctx context.Context, r *Request, terms []string, fleet *backends.Fleet, k *known) ([]receipt.Layer, error) {
	m, err := subject.New(terms...)
	if err != nil {
		return nil, err
	}
	p, err := d.Plan(r.ID)
	if err != nil || p.Hash != r.PlanHash { // a void plan knows the holds of its time
		p = Plan{}
		for _, m := range fleet.Members() {
			p.Stores = append(p.Stores, StorePlan{Store: m.Name, Kind: m.Kind})
		}
	}
	x := d.newRun(r, p, m, fleet, nil)
	x.await()
	err = d.act(ctx, r, "gdpr-verify", nil, func(ctx context.Context) (map[string]int64, error) {
		err := x.verify(ctx)
		if err == nil && k != nil {
			err = x.verifyKnown(ctx, k)
		}
		return map[string]int64{"layers": int64(len(x.out.Layers))}, err
	})
	return x.out.Layers, err
}

// known keeps a complete request's identifiers as keyed hashes. With them a text can be judged and a typed
// name recognised, but no identifier can be recovered for a search of bytes.
type known struct {
	ix     *suppress.Index
	person suppress.Person
	typed  []string // the typed subject id and aliases
}

// recognise checks that the typed identifiers are those of a complete request's subject: another person's
// identifiers would not be found, and the answer would be clean.
func (d *Desk) recognise(r *Request, typed string, aliases []string) (*known, error) {
	key, err := d.pseudonymKey()
	if err != nil {
		return nil, err
	}
	if typed == "" || key.Pseudonym(typed) != r.Pseudonym {
		return nil, model.Errorf(model.InvalidInput, "verify",
			"request %s is complete and its identifiers are gone: type the person's id instead, or check the receipt's file; `gdpr sweep` looks by pseudonyms", r.ID)
	}
	list := d.Suppressed()
	persons, err := list.Persons()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(persons, func(p suppress.Person) bool { return p.Pseudonym == r.Pseudonym })
	if i < 0 {
		return nil, model.Errorf(model.Internal, "verify", "the person of request %s is not among those who must not come back: restore the list from a backup", r.ID)
	}
	k := &known{person: persons[i], typed: []string{typed}}
	if k.ix, err = list.Now(); err != nil {
		return nil, err
	}
	for _, a := range aliases {
		if !k.person.Has(key, a) {
			return nil, model.Errorf(model.InvalidInput, "verify", "an alias that was typed is none that was erased under request %s: write it as it was filed", r.ID)
		}
		k.typed = including(k.typed, a)
	}
	return k, nil
}

// verifyKnown looks through every item and text by the keyed hashes of all the subject's identifiers, typed
// or not.
func (x *run) verifyKnown(ctx context.Context, k *known) error {
	all := k.person.Identifiers()
	for _, m := range x.fleet.Members() {
		row := receipt.Layer{Store: m.Name, Layer: "items and texts, by hash", Verdict: model.VerdictClean,
			Method: fmt.Sprintf("keyed hashes of all %d identifiers", all)}
		if n := len(k.typed); n < all {
			row.Reason = fmt.Sprintf("%d of %d identifiers were typed: recall and the bytes of databases were asked for those alone; --alias gives more", n, all)
		}
		back := newReturned(k.ix)
		var closed []string
		err := m.Err
		if err == nil {
			closed, err = back.store(ctx, x.d, m.Store, nil)
		}
		if ctx.Err() != nil {
			return model.FromContext(ctx, "verify")
		}
		row.Hits = int64(len(back.found[k.person.Pseudonym]))
		switch {
		case row.Hits > 0:
			row.Verdict, row.Reason = model.VerdictResidue, "an item or a text names the person: `gdpr sweep` erases it again"
		case err != nil && m.Err == nil && model.KindOf(err) == model.Unsupported && noDelete(m.Store) != "":
			row.Verdict, row.Reason = model.VerdictOutOfScope, noDelete(m.Store)
		case err != nil:
			row.Verdict, row.Reason = model.VerdictUnaudited, "it could not be looked through to the end: "+string(model.KindOf(err))
		case len(closed) > 0:
			row.Reason = withWords(row.Reason, closed)
			if slices.ContainsFunc(x.out.Layers, func(l receipt.Layer) bool { return l.Store == m.Name && l.Verdict == model.VerdictUnaudited }) { // not attested
				row.Verdict = model.VerdictUnaudited
			}
		}
		x.row(row)
	}
	return nil
}

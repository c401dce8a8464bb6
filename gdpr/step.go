package gdpr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/model"
)

// step carries out one step, for the first time or again: its result may exist already.
func (x *run) step(ctx context.Context, s model.Store, st Step) (string, error) {
	err := takesMore(ctx, s, st)
	switch {
	case errors.Is(err, model.Conflict):
		return x.changed(ctx, s, st, err)
	case err != nil:
		return "", err
	case st.Action == Forget:
		return x.forget(ctx, s, st)
	case st.NewID != "":
		return x.rename(ctx, s, st)
	}
	return x.redact(ctx, s, st)
}

func (x *run) forget(ctx context.Context, s model.Store, st Step) (string, error) {
	req := model.ForgetRequest{ID: st.ID}
	if st.Layer != layerQuarantine { // a quarantine entry's name is the hash of its content
		req.IfMatch = st.Revision
	}
	res, err := s.Provider.Forget(ctx, req)
	switch {
	case errors.Is(err, model.Conflict):
		return x.changed(ctx, s, st, err)
	case errors.Is(err, model.NotFound), err == nil && res.Removed == 0:
		return "absent", nil
	case err != nil:
		return "", err
	}
	return "removed", nil
}

func (x *run) redact(ctx context.Context, s model.Store, st Step) (string, error) {
	if len(st.Beside) > 0 && st.NewMeta == nil && !st.Binary {
		// Where the item's text stays as it is, the scrub makes all edits; a store may refuse a text without a change.
		if it, err := s.Browser.Read(ctx, st.ID); err == nil && it.Revision == st.Revision && it.Body == st.NewBody {
			return "edited", nil
		}
	}
	err := keep(ctx, s, st, model.RetainRequest{ID: st.ID, IfMatch: st.Revision})
	if errors.Is(err, model.Conflict) || errors.Is(err, model.NotFound) {
		return x.changed(ctx, s, st, err)
	}
	if err == nil && x.m.Names(st.ID) && s.Browser != nil {
		if it, rerr := s.Browser.Read(ctx, st.ID); rerr == nil && keepsID(s, it) {
			err = model.Errorf(model.Unsupported, "gdpr-erase", ownIDsReason)
		}
	}
	return "edited", err
}

// keep writes the redacted item, in its own encoding where the store accepts that.
func keep(ctx context.Context, s model.Store, st Step, req model.RetainRequest) error {
	req.Content, req.Mode, req.Meta = st.NewBody, model.Replace, st.NewMeta
	ctx = redacting(ctx, st)
	if st.Binary {
		own := req
		own.Content, own.Binary = string(st.NewBytes), true
		_, err := s.Provider.Retain(ctx, own)
		if !errors.Is(err, model.Unsupported) && !errors.Is(err, model.InvalidInput) {
			return err
		}
	}
	_, err := s.Provider.Retain(ctx, req)
	return err
}

// rename writes the redacted item under an id that names nobody, then forgets the old one.
func (x *run) rename(ctx context.Context, s model.Store, st Step) (string, error) {
	old, err := s.Browser.Read(ctx, st.ID)
	switch {
	case errors.Is(err, model.NotFound): // somebody else removed it: its text must not come back
		return "absent", nil
	case err != nil:
		return "", err
	case old.Revision != st.Revision:
		return x.changed(ctx, s, st, model.Errorf(model.Conflict, "gdpr-erase", "it was changed since it was planned"))
	}
	file, err := s.FileOf(ctx, st.ID)
	if err != nil {
		return "", err
	}
	if err = keep(ctx, s, st, model.RetainRequest{ID: st.NewID, IfMatch: model.Absent, Beside: file}); err == nil && !tierOf(s, old).Index {
		x.gone-- // the store has one more until the old one goes
	}
	if errors.Is(err, model.Conflict) || errors.Is(err, model.AlreadyExists) {
		it, rerr := s.Browser.Read(ctx, st.NewID)
		if rerr != nil || it.Body != st.NewBody && (!st.Binary || it.Body != string(st.NewBytes)) {
			return "", err // another item has that id
		}
		err = nil // an earlier run wrote it
	}
	if err != nil {
		return "", err
	}
	if tierOf(s, old).Index { // it stays until its directory is empty
		return "edited", nil
	}
	return x.forget(ctx, s, st)
}

// forgetMoved removes the old places of moved indexes, now that the files that they list have moved or gone, and
// their lines with them.
func (x *run) forgetMoved(ctx context.Context, s model.Store, p *part) {
	if !slices.ContainsFunc(s.Tiers, func(t model.TierSpec) bool { return t.Index }) {
		return
	}
	renamed := p.renamed()
	for _, st := range p.Steps {
		if st.NewID == "" {
			continue
		}
		old, err := s.Browser.Read(ctx, st.ID)
		if err != nil || !tierOf(s, old).Index {
			continue // verification reports what is left
		}
		planned := strings.Split(st.NewBody, "\n")
		for line := range strings.SplitSeq(x.m.Redact(relisted(old, renamed).Body, Erased), "\n") {
			if !slices.Contains(planned, line) {
				err = model.Errorf(model.Conflict, "gdpr-erase", "it was changed since it was planned")
			}
		}
		if err == nil {
			_, err = s.Provider.Forget(ctx, model.ForgetRequest{ID: st.ID, IfMatch: old.Revision})
		}
		if err != nil {
			x.failed(s, st, err)
		}
	}
}

// changed handles an item that differs from the plan. If it is gone or clean, the step is done; otherwise it
// is left alone, and a new plan is needed.
func (x *run) changed(ctx context.Context, s model.Store, st Step, err error) (string, error) {
	if s.Browser == nil {
		return "", err
	}
	it, rerr := s.Browser.Read(ctx, st.ID)
	switch {
	case errors.Is(rerr, model.NotFound):
		return "absent", nil
	case rerr != nil:
		return "", rerr
	case st.Fallen, x.concerns(it):
		return "", err
	}
	return stepClean, nil
}

func (x *run) concerns(it model.Item) bool {
	q := &search{m: x.m, bystanders: &subject.Bystanders{}, children: map[string][]string{}}
	q.look(it)
	return len(q.found) > 0
}

// Only the first step waits for a store that another program keeps locked; later ones just probe the lock.

// lockProbe is how long a step waits for a lock that the previous step already waited for.
const lockProbe = 250 * time.Millisecond

// patience is the longest wait for a store that answers with a rate limit.
const patience = 5 * time.Minute

func isLocked(err error) bool { return errors.Is(err, model.Locked) }

// stepOrWait carries out a step. After a rate limit it waits for the time that the store asks for, and tries
// once more. locked says that the previous step found the store locked: this step then only probes for
// lockProbe.
func (x *run) stepOrWait(ctx context.Context, s model.Store, st Step, locked bool) (string, error) {
	if locked {
		probe, cancel := context.WithTimeout(ctx, lockProbe)
		defer cancel()
		what, err := x.step(probe, s, st)
		if err != nil && probe.Err() != nil && ctx.Err() == nil {
			err = model.Errorf(model.Locked, "gdpr-erase", "the store is still locked")
		}
		return what, err
	}
	what, err := x.step(ctx, s, st)
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.RateLimited || e.After <= 0 || e.After > patience {
		return what, err
	}
	if err := x.tell(ctx, Progress{Store: s.Name, What: string(st.Action), Note: "the store asks to be left alone for " + e.After.Round(time.Second).String()}); err != nil {
		return "", err
	}
	select {
	case <-time.After(e.After):
		return x.step(ctx, s, st)
	case <-ctx.Done():
		return "", model.FromContext(ctx, "gdpr-erase")
	}
}

// withLock adds a row for a store that another program keeps locked. Residue in such a store
// is pending: the steps are done when the lock is gone.
func (p *part) withLock(rows []receipt.Layer) []receipt.Layer {
	if p.locked == 0 {
		return rows
	}
	postpone(rows, "left until the store is not locked any more: ")
	return append(rows, receipt.Layer{Store: p.Store, Layer: "lock", Method: "the store was asked to change", Verdict: model.VerdictPending,
		Reason: fmt.Sprintf("another program keeps the store locked: %d steps wait for it", p.locked)})
}

// postpone makes residue pending, and says why it is left.
func postpone(rows []receipt.Layer, why string) {
	for i := range rows {
		if rows[i].Verdict == model.VerdictResidue {
			rows[i].Verdict, rows[i].Reason = model.VerdictPending, why+rows[i].Reason
		}
	}
}

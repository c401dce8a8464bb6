package gdpr

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"regexp"
	"slices"
	"sync/atomic"

	"memdesk/gdpr/subject"
	"memdesk/model"
)

// mayScrub returns a filter for the scrub: a layer may be cleaned only if the plan lists it, and removed as a
// whole only with the planned bytes. A copy of an item that the plan removes or edits counts as planned with
// the item.
//
// Layers attached to an item on hold are kept with it, without another plan.
func (p *part) mayScrub(kept map[string]bool) func(layer string, whole []byte) bool {
	layers, texts := map[string]model.Revision{}, map[model.Revision]bool{}
	for _, st := range p.Steps {
		switch st.Action {
		case Scrub:
			layers[st.ID] = st.Revision
		case Forget, Redact:
			texts[st.Revision] = true
		}
	}
	return func(layer string, whole []byte) bool {
		if kept[layer] {
			return false
		}
		sum, planned := layers[layer]
		if planned && (whole == nil || bytesSum(whole) == sum) || whole != nil && texts[model.RevisionOf(model.Document{Body: string(whole)})] {
			return true
		}
		p.unseen[layer] = true
		return false
	}
}

// keptLayers are a store's layers that a hold keeps, and the files of these layers.
func (x *run) keptLayers(ctx context.Context, s model.Store) (kept map[string]bool, in []string, err error) {
	holds, err := x.d.holdsIn(&s)
	if err != nil || holds.all == nil {
		return nil, nil, err
	}
	layers, err := s.Maintainer.Layers(ctx)
	if err != nil {
		return nil, nil, err
	}
	kept = map[string]bool{}
	for _, l := range layers {
		kept[l.ID] = holds.layer(l).exists()
		if file := heldWith(l); kept[l.ID] && file != "" {
			in = append(in, file)
		}
	}
	return kept, in, nil
}

// spared are the bystanders in a store, and the items on hold: the scrub has to spare both.
func (x *run) spared(ctx context.Context, s model.Store, p *part) (*subject.Bystanders, []string, error) {
	q, err := x.d.search(s, x.m)
	if err != nil {
		return nil, nil, err
	}
	q.othersOnly, q.holding = true, p.heldIDs()
	if q.bystanders, err = x.sharedBystanders(ctx, s); err == nil {
		_, err = q.run(ctx, nil)
	}
	return q.bystanders, slices.Sorted(maps.Keys(q.holding)), err
}

// needsSpared reports whether a scrub has to know the bystanders and the items on hold. It does where something is on hold,
// and where a record names the subject: a dry scrub tells, which is cheap where the items are rows of a database.
func (x *run) needsSpared(ctx context.Context, s model.Store, p *part, req model.ScrubRequest) bool {
	holds, err := x.d.holdsIn(&s)
	if err != nil || holds.any.exists() || p.held() > 0 || !s.Capabilities()["transactions"] {
		return true
	}
	req.Dry, req.May, req.MayEdit = true, nil, nil
	named := x.leave(&req)
	_, err = s.Maintainer.Scrub(ctx, req)
	return err != nil || named.Load()
}

// leave has a scrub leave all that names the subject, and returns whether there was such a record or trace.
func (x *run) leave(req *model.ScrubRequest) *atomic.Bool {
	var named atomic.Bool
	req.Concerns = func(record []byte) bool {
		if x.m.NamesBytes(record) {
			named.Store(true)
		}
		return false
	}
	req.Traces = func(ctx context.Context, medium io.Reader) (bool, error) {
		rep, err := x.m.Scan(ctx, medium, nil)
		if rep.Hits > 0 {
			named.Store(true)
		}
		return false, err
	}
	return &named
}

// renamed maps the old ids of renamed items to their new ids.
func (sp *StorePlan) renamed() map[string]string {
	out := map[string]string{}
	for _, st := range sp.Steps {
		if st.Action == Redact && st.NewID != "" {
			out[st.ID] = st.NewID
		}
	}
	return out
}

// touches reports whether the plan changes anything in a store.
func (sp *StorePlan) touches() bool {
	return slices.ContainsFunc(sp.Steps, func(st Step) bool { return st.changes() || st.Action == Scrub })
}

// redactor edits a record of a store's medium.
func redactor(m *subject.Matcher) func([]byte) []byte {
	return func(b []byte) []byte {
		out, ok := m.RedactBytes(b, Erased)
		if !ok {
			out = []byte(m.Redact(string(b), Erased))
		}
		return mendJSON(b, out)
	}
}

// erasedNumber matches a string of JSON, or the mark where a number was.
var erasedNumber = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?` + regexp.QuoteMeta(Erased) + `(?:\.0+)?`)

// mendJSON makes a text JSON again that was JSON, as its store may take no other: a mark in the place of a number becomes
// null.
func mendJSON(was, now []byte) []byte {
	if !json.Valid(was) || json.Valid(now) {
		return now
	}
	mended := erasedNumber.ReplaceAllFunc(now, func(b []byte) []byte {
		if b[0] == '"' {
			return b
		}
		return []byte("null")
	})
	if !json.Valid(mended) || len(bytes.TrimSpace(mended)) == len("null") { // a text that was a number is none
		return now
	}
	return mended
}

// scrub cleans what Forget leaves in the store's medium.
func (x *run) scrub(ctx context.Context, s model.Store, p *part) error {
	if s.Maintainer == nil || s.ReadOnly && !p.touches() { // verification reads what the plan leaves alone
		return nil
	}
	if err := x.tell(ctx, Progress{Store: s.Name, What: string(Scrub)}); err != nil {
		return err
	}
	what, err := x.clean(ctx, s, p)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return model.FromContext(ctx, "gdpr-erase")
	case what == notScrubbed && model.KindOf(err) == model.PermissionDenied: // the kind alone does not say what forbids the scrub
		x.problem(s.Name, "%s: %s; remove the cause, then run the same command again", what, x.m.Redact(err.Error(), Erased))
	default:
		x.problem(s.Name, "%s: %s", what, model.KindOf(err))
	}
	return nil
}

const notScrubbed = "it could not be scrubbed"

// clean scrubs a store, and says what an error kept it from.
func (x *run) clean(ctx context.Context, s model.Store, p *part) (string, error) {
	kept, heldFiles, err := x.keptLayers(ctx, s)
	if err != nil {
		return "it is not scrubbed, nobody can say what is on hold in it", err
	}
	removed, edited := touched(p.changed())
	req := model.ScrubRequest{May: p.mayScrub(kept), MayEdit: p.planned(func(layer string) { p.unseen[layer] = true }),
		Removed: removed, Renamed: p.renamed(), Edited: edited, HeldFiles: heldFiles, Subjects: []string{x.r.Subject},
		Redact: redactor(x.m),
		Step: func(layer, what string) {
			_ = x.tell(ctx, Progress{Store: s.Name, What: string(Scrub), Note: what}) // a scrub is not stopped in the middle
		},
	}
	var before []model.LayerResult // of a scrub that left what names the subject
	var bystanders *subject.Bystanders
	if !p.touches() { // the plan lists nothing: only old leftovers in the medium are cleaned, no record goes
		req.Subjects = nil
	} else {
		if !x.needsSpared(ctx, s, p, req) {
			leaving := req // a record may have come since, and a dry scrub reads no definitions of tables
			named := x.leave(&leaving)
			if before, err = s.Maintainer.Scrub(ctx, leaving); err != nil {
				return notScrubbed, err
			}
			if !named.Load() {
				p.took(before, kept)
				return "", nil
			}
		}
		if bystanders, req.Held, err = x.spared(ctx, s, p); err != nil {
			p.took(before, kept)
			return "it is not scrubbed, nobody can say who else is in it, or what is on hold", err
		}
		req.Concerns = concerns(x.m, bystanders)
	}
	req.Traces = func(ctx context.Context, medium io.Reader) (bool, error) {
		rep, err := x.m.Scan(ctx, medium, bystanders)
		return rep.Hits > 0, err
	}
	res, err := s.Maintainer.Scrub(ctx, req)
	if err != nil {
		return notScrubbed, err
	}
	for i := range res {
		if at := slices.IndexFunc(before, func(l model.LayerResult) bool { return l.Layer == res[i].Layer }); at >= 0 {
			res[i].Rows += before[at].Rows
			before = slices.Delete(before, at, at+1) // two results may be of one layer
		}
	}
	p.took(res, kept)
	return "", nil
}

// took keeps the results of a scrub, without the layers that a hold keeps: verification reports them.
func (p *part) took(res []model.LayerResult, kept map[string]bool) {
	p.scrubbed = slices.DeleteFunc(res, func(l model.LayerResult) bool { return kept[l.Layer] })
	for _, l := range p.scrubbed {
		p.pending = p.pending || l.Verdict == model.VerdictPending
	}
}

// planned returns a filter that lets the scrub edit a value beside an item's fields only if the plan lists
// it. The path in the record is not compared: the Retain before the scrub can move it.
func (sp *StorePlan) planned(refused func(layer string)) func(model.RecordEdit) bool {
	known := map[[3]string]bool{}
	for _, st := range sp.Steps {
		for _, b := range st.Beside {
			known[[3]string{st.ID, b.Before, b.After}] = true
		}
	}
	return func(e model.RecordEdit) bool {
		if known[[3]string{e.ID, e.Before, e.After}] {
			return true
		}
		refused(e.Layer)
		return false
	}
}

package gdpr

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/model"
)

// verify checks everything again: by recall as agents do, and by bytes.
func (x *run) verify(ctx context.Context) error {
	for _, p := range x.parts {
		if p.Away > 0 {
			row := receipt.Layer{Store: ownStore, Layer: "store " + p.Store, Method: "not looked at", Verdict: model.VerdictOutOfScope, Hits: p.Away, Reason: p.Notes[0]}
			x.attestRow(ownAsStore(), &row)
			x.row(row)
			continue
		}
		s, err := x.fleet.Store(p.Store)
		if err != nil {
			x.row(receipt.Layer{Store: p.Store, Layer: "items", Verdict: model.VerdictFailed, Method: "browse", Reason: "it cannot be opened: " + string(model.KindOf(err))})
			continue
		}
		if p.Where != "" && !slices.Contains(s.Identities(), p.Where) {
			x.row(receipt.Layer{Store: p.Store, Layer: "items", Verdict: model.VerdictUnaudited, Method: "none", Reason: otherStoreReason + ": plan again"})
			continue
		}
		if err := x.tell(ctx, Progress{Store: p.Store, What: "verify"}); err != nil {
			return err
		}
		rows, err := x.verifyStore(ctx, s, p)
		if ctx.Err() != nil {
			return model.FromContext(ctx, "gdpr-erase")
		}
		if err != nil {
			x.row(receipt.Layer{Store: p.Store, Layer: "items", Verdict: model.VerdictFailed, Method: "browse", Reason: string(model.KindOf(err))})
		}
		for _, r := range p.withLock(rows) {
			x.row(r)
		}
	}
	for _, m := range x.fleet.Members() {
		if !slices.ContainsFunc(x.parts, func(p *part) bool { return p.Store == m.Name }) {
			x.row(receipt.Layer{Store: m.Name, Layer: "items", Verdict: model.VerdictUnaudited, Method: "none", Reason: "the store is in no part of the plan: plan again"})
		}
	}
	return x.verifyOwn(ctx)
}

const otherStoreReason = "another store stands under this name"

func (x *run) row(l receipt.Layer) {
	l.Layer = x.m.Redact(l.Layer, Erased) // a file's name may name the subject; another file may be called "erased"
	l.Reason = x.m.Redact(l.Reason, Erased)
	x.out.Layers = append(x.out.Layers, l)
}

// check is the verification of one store.
type check struct {
	*run
	p    *part
	s    model.Store
	q    *search
	held map[string]string // by id: why an item on hold is kept
	left map[string]string // by id: why an item is left to another program, and named in the row of its file
	kept int64             // items on hold that name the person
}

// verifyStore returns a row for each layer of a store.
func (x *run) verifyStore(ctx context.Context, s model.Store, p *part) ([]receipt.Layer, error) {
	q, err := x.d.search(s, x.m)
	if err != nil {
		return nil, err
	}
	c := &check{run: x, p: p, s: s, q: q, held: map[string]string{}, left: map[string]string{}}
	planned := map[string]bool{}
	for _, st := range p.Steps {
		if planned[st.ID] = planned[st.ID] || st.changes(); st.Action == Held {
			c.held[st.ID], q.holding[st.ID] = citedArticles(st.Ground), true
		}
	}
	if q.bystanders, err = x.sharedBystanders(ctx, s); err != nil {
		return nil, err
	}
	q.isAttested, q.held = x.r.attestedItems(x.m, s), func(id string) string { return c.held[id] }
	if _, err := q.run(ctx, nil); err != nil {
		return nil, err
	}
	for _, f := range q.found { // a hold may be younger than the plan
		if id := f.Item.ID; q.holding[id] && c.held[id] == "" && !planned[id] {
			c.held[id] = "under request " + q.holds.by(id)
		}
	}
	out := []receipt.Layer{c.items(ctx)}
	x.partAway(p, q.items)
	add := func(row receipt.Layer) {
		if row.Store != "" {
			out = append(out, row)
		}
	}
	add(missingItems(ctx, s, p))
	add(c.onHold())
	for _, st := range p.Steps {
		if st.Layer == layerLink {
			add(receipt.Layer{Store: s.Name, Layer: st.ID + " (other names)", Method: "links counted", Verdict: model.VerdictOutOfScope, Hits: 1, Reason: st.Reason})
		}
	}
	ids := maps.Clone(q.seen)
	for _, st := range p.Steps {
		if st.Layer == layerItem || st.Layer == layerVersion {
			ids[st.ID] = true // gone, but perhaps not its versions
		}
	}
	versions, _, err := oldTexts(ctx, x.m, s, slices.Sorted(maps.Keys(ids)))
	if err != nil {
		return nil, err
	}
	add(versions)
	commits, _ := history(ctx, x.m, s)
	add(commits)
	if row, ok := x.handles(ctx, s, p); ok {
		add(row)
	}
	add(c.recall(ctx))
	for i := range out {
		x.attestRow(s, &out[i])
	}
	layers, err := c.bytes(ctx)
	return append(out, layers...), err
}

// items is the row of the store's items. It finds which of them are left to other programs, and counts those on hold.
func (c *check) items(ctx context.Context) receipt.Layer {
	s, q := c.s, c.q
	row := receipt.Layer{Store: s.Name, Layer: "items", Method: "every item read again", Verdict: model.VerdictClean, BytesScanned: q.bytes}
	c.kept = int64(len(q.heldShut))
	still := map[string]bool{}
	for _, f := range q.found {
		if _, ok := c.held[f.Item.ID]; ok {
			keepItem(q, f.Item)
			if !q.heldShut[f.Item.ID] {
				c.kept++
			}
			continue
		}
		if why := leftTo(s, f.Item); why != "" {
			c.left[f.Item.ID] = why
			continue
		}
		row.Hits++
		still[f.Item.ID] = true
	}
	c.uncount(c.p, still)
	switch {
	case c.p.vanished(ctx, s):
		row.Verdict, row.Reason = model.VerdictFailed, vanishedReason
	case noDelete(s) != "" && (row.Hits > 0 || s.Browser == nil || len(q.problems) == 0):
		row.Verdict, row.Reason = model.VerdictOutOfScope, noDelete(s)
	case row.Hits > 0:
		row.Verdict, row.Reason = model.VerdictResidue, "items name the person: they came back, changed meanwhile or were kept; plan again"
	case len(q.problems) > 0, s.Maintainer == nil && len(q.closed) > 0: // else its bytes have their own row
		row.Verdict, row.Reason = model.VerdictUnaudited, withWords(strings.Join(q.problems, "; "), q.closed)
	case s.Maintainer == nil && q.looked > 0:
		row.Verdict, row.Reason = model.VerdictAttested, fmt.Sprintf("%d items that cannot be opened were attested as they are", q.looked)
	}
	if recallOnly(s) {
		c.p.describeUnlisted(&row)
	}
	return row
}

// onHold is the row of the items on hold; without a store where there is none.
func (c *check) onHold() receipt.Layer {
	if len(c.held) == 0 {
		return receipt.Layer{}
	}
	own := func(ground string) bool { return !strings.HasPrefix(ground, "under request ") }
	if !slices.ContainsFunc(slices.Collect(maps.Values(c.held)), own) {
		c.out.advise(c.s.Name, heldLayer, "the other request's hold is lifted when its ground has passed (memdesk gdpr unhold)")
	}
	return receipt.Layer{Store: c.s.Name, Layer: heldLayer, Method: "kept on purpose", Verdict: model.VerdictOutOfScope, Hits: c.kept,
		Reason: fmt.Sprintf("%d on hold: %s", len(c.held), strings.Join(slices.Compact(slices.Sorted(maps.Values(c.held))), "; "))}
}

// sharedBystanders are the bystanders in the stores whose items lie in the same files, what is on hold there among them: it is no
// residue of this store. Each of the stores is searched once for all of them.
func (x *run) sharedBystanders(ctx context.Context, s model.Store) (*subject.Bystanders, error) {
	medium := s.Medium()
	if known := x.bystanders[medium]; known != nil {
		return known, nil
	}
	var beside []model.Store
	for _, p := range x.parts {
		if o, err := x.fleet.Store(p.Store); err == nil && o.Medium() == medium {
			beside = append(beside, o)
		}
	}
	out := &subject.Bystanders{}
	if len(beside) == 1 {
		beside = nil // its own search finds the same
	}
	for _, o := range beside {
		if err := x.d.addBystanders(ctx, x.m, o, out); err != nil {
			return nil, err
		}
	}
	x.bystanders[medium] = out
	return out, nil
}

// addBystanders adds the bystanders of a store, and what is on hold in it.
func (d *Desk) addBystanders(ctx context.Context, m *subject.Matcher, s model.Store, out *subject.Bystanders) error {
	q, err := d.search(s, m)
	if err != nil {
		return err
	}
	q.bystanders = out
	if _, err := q.run(ctx, nil); err != nil {
		return err
	}
	for _, f := range q.found {
		if q.holding[f.Item.ID] {
			keepItem(q, f.Item)
		}
	}
	return nil
}

// keepItem records where an item that stays names the subject, to distinguish its bytes from residue.
func keepItem(q *search, it model.Item) {
	q.bystanders.Keep(q.m, it.Body)
	q.bystanders.Keep(q.m, it.ID)
	for _, f := range it.Meta {
		q.bystanders.Keep(q.m, f.Name)
		q.bystanders.Keep(q.m, f.Value)
	}
}

// hitsOf counts how often an item names the subject.
func hitsOf(m *subject.Matcher, it model.Item) int64 {
	n := int64(len(m.Text(it.ID)))
	if raw(it) {
		n += int64(len(m.Bytes([]byte(it.Body))))
	} else {
		n += int64(len(m.Text(it.Body)))
	}
	for _, f := range it.Meta {
		n += int64(len(m.Text(f.Value)))
	}
	return n
}

// recall searches as an agent would. What stays may be found.
func (c *check) recall(ctx context.Context) receipt.Layer {
	row := receipt.Layer{Store: c.s.Name, Layer: "recall", Method: "asked as an agent would", Verdict: model.VerdictClean}
	stays := func(id string) bool {
		_, held := c.held[id]
		return held || c.left[id] != "" || c.q.lists[id]
	}
	for _, t := range c.m.Terms() {
		res, err := c.s.Provider.Recall(ctx, model.RecallRequest{Query: t})
		switch {
		case errors.Is(err, model.Unsupported):
			row.Verdict, row.Reason = model.VerdictOutOfScope, "the store has no recall"
			return row
		case err != nil:
			row.Verdict, row.Reason = model.VerdictFailed, "it did not answer: "+string(model.KindOf(err))
			return row
		}
		for _, h := range res.Hits {
			if !stays(h.ID) && (c.m.Names(h.Snippet) || c.m.Names(h.ID) || c.m.Names(h.Source)) {
				row.Hits++
			}
		}
	}
	switch why := noDelete(c.s); {
	case why != "":
		row.Verdict, row.Reason = model.VerdictOutOfScope, why
	case row.Hits > 0:
		row.Verdict, row.Reason = model.VerdictResidue, "recall still gives the person"
	}
	return row
}

// bytes scans every layer of the medium, and adds the scrub's results.
func (c *check) bytes(ctx context.Context) ([]receipt.Layer, error) {
	s := c.s
	if s.Maintainer == nil {
		row := receipt.Layer{Store: s.Name, Layer: "medium", Method: "none", Verdict: model.VerdictUnaudited, Reason: "the store does not show what lies beneath its items"}
		if !filepath.IsAbs(s.Location) { // not on this machine
			row.Verdict, row.Reason = model.VerdictOutOfScope, "what lies beneath its items is on another machine: indexes, logs and backups there are for whoever runs it"
		}
		c.attestRow(s, &row)
		return []receipt.Layer{row}, nil
	}
	layers, err := s.Maintainer.Layers(ctx)
	if err != nil {
		return nil, err
	}
	var out []receipt.Layer
	own := receipt.Layer{Store: s.Name, Layer: "items' own files", Method: scanMethod, Verdict: model.VerdictClean}
	files := 0
	scans := scanLayers(ctx, c.m, s, layers, c.q.bystanders, func(model.Layer) bool { return true }, nil)
	for i, l := range layers {
		if l.ID == gitLayer && l.Kind == model.LayerExternal { // its commits were searched
			continue
		}
		row, err := c.layer(ctx, l, scans[i])
		if err != nil {
			return nil, err
		}
		if l.Kind == model.LayerItem && l.ItemID != "" && row.Verdict == model.VerdictClean { // there are as many rows as items
			files++
			own.BytesScanned += row.BytesScanned
			continue
		}
		out = append(out, row)
	}
	if ctx.Err() != nil {
		return out, model.FromContext(ctx, "gdpr-erase")
	}
	names := c.names(layers)
	c.attestRow(s, &names)
	out = append(out, names)
	if files > 0 {
		own.Reason = receipt.Files(files)
		out = slices.Insert(out, 0, own)
	}
	return groupRows(c.p.withScrub(out)), nil
}

// layer is the row of a layer that was scanned.
func (c *check) layer(ctx context.Context, l model.Layer, scan layerScan) (receipt.Layer, error) {
	if nested(l) {
		row, _ := nestedHistory(ctx, c.m, c.s, l)
		c.attestRow(c.s, &row)
		return row, nil
	}
	row := rowOf(c.m, c.s, l, scan)
	_, named := c.held[l.ItemID] // has a row of its own
	kept := named || c.q.holds.layer(l).exists()
	if kept && (row.Verdict == model.VerdictUnaudited || row.Verdict == model.VerdictResidue) { // nothing in it is another item's
		row.Verdict, row.Held, row.Reason = model.VerdictOutOfScope, named, "on hold: "+row.Reason
	}
	if why := c.left[l.ItemID]; why != "" && row.Verdict == model.VerdictResidue {
		row.Verdict, row.Reason = model.VerdictOutOfScope, why
	}
	err := c.r.applyAttestation(c.m, c.s, &row, l.ID, func() (string, error) { return layerSum(ctx, c.s, l, row) })
	if err == nil && (row.Verdict == model.VerdictUnaudited || row.HoldsPerson()) && l.Advice != "" {
		c.out.advise(c.s.Name, c.m.Redact(row.Layer, Erased), l.Advice) // the row's name
	}
	return row, err
}

// names checks the names of layers: a file's name is as clear as its text.
func (c *check) names(layers []model.Layer) receipt.Layer {
	row := receipt.Layer{Store: c.s.Name, Layer: "names", Method: "names of files, directories and layers: exact, folded, slug", Verdict: model.VerdictClean}
	foreign := int64(0)
	for _, l := range layers {
		row.BytesScanned += int64(len(l.ID))
		_, kept := c.held[l.ItemID]
		switch {
		case !c.m.Names(l.ID) || l.ItemID != "" && kept:
		case l.Kind == model.LayerExternal, c.left[l.ItemID] != "":
			foreign++
		default:
			row.Hits++
		}
	}
	switch {
	case row.Hits > 0:
		row.Verdict, row.Reason = model.VerdictResidue, "names still name the person"
	case foreign > 0:
		row.Hits, row.Verdict, row.Reason = foreign, model.VerdictOutOfScope, "names of what another program keeps, or of what cannot be reached"
	}
	return row
}

// heldLayer is the row for a store's items on hold.
const heldLayer = "held items"

// attestRow applies an attestation to a row that is no layer of the medium: its sum covers the row's own
// words.
func (x *run) attestRow(s model.Store, row *receipt.Layer) {
	sum := statedSum(*row)
	if err := x.r.applyAttestation(x.m, s, row, row.Layer, func() (string, error) { return sum, nil }); err == nil && row.Verdict != model.VerdictClean {
		row.Sum = sum
	}
}

// judge sets the run's status. Only clean, attested and out-of-scope layers pass; it is complete only where
// no layer out of scope is known to hold the subject and no item is on hold.
func (x *run) judge() {
	bad, waiting, still := 0, 0, 0
	for _, l := range x.out.Layers {
		switch l.Verdict {
		case model.VerdictClean, model.VerdictAttested:
		case model.VerdictOutOfScope:
			if l.HoldsPerson() {
				still++
			}
		case model.VerdictPending:
			waiting++
		default:
			bad++
		}
	}
	switch {
	case len(x.out.Problems) > 0 || bad > 0:
		x.out.Status = StatePartial
		x.out.Reason = leftOver(bad, waiting, len(x.out.Problems)) + "; run it again, or plan again"
	case waiting > 0:
		x.out.Status, x.out.Reason = StatePending, "a reader or a sync holds a layer back; run it again when it has gone"
	case still > 0:
		x.out.Status, x.out.Reason = StateInScope, stillThere(still)
	default:
		x.out.Status = StateComplete
	}
}

func stillThere(n int) string {
	if n == 1 {
		return "1 layer that memdesk does not change still holds the person"
	}
	return fmt.Sprintf("%d layers that memdesk does not change still hold the person", n)
}

// leftOver says in numbers what a run did not finish.
func leftOver(bad, waiting, undone int) string {
	var out []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			out = append(out, "1 "+one)
		case n > 1:
			out = append(out, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(bad, "layer is not clean", "layers are not clean")
	add(waiting, "layer is held back by a reader or a sync", "layers are held back by a reader or a sync")
	add(undone, "thing was not done", "things were not done")
	return strings.Join(out, ", ")
}

package gdpr

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"memdesk/gdpr/subject"
	"memdesk/model"
)

// planLayers lists the layers that are no items: those that hold the subject and those out of reach.
func (sp *StorePlan) planLayers(ctx context.Context, r *Request, q *search, t *teller) error {
	m, s := q.m, q.store
	if found, unknown := history(ctx, m, s); found.Hits > 0 || unknown {
		sp.leave(found.Layer, "git", found.Reason)
	}
	if why := noDelete(s); why != "" {
		sp.leave("(store)", "external", why)
	}
	if s.Maintainer == nil {
		return nil
	}
	t.part("listing", 0)
	layers, err := s.Maintainer.Layers(ctx)
	if err != nil {
		return err
	}
	layers = sp.besideItems(layers)
	dry, err := sp.wouldScrub(ctx, r, q, layers)
	if err != nil {
		return err
	}
	ours := func(l model.Layer) bool { return l.Kind != model.LayerExternal }
	t.part("bytes", bytesIn(layers, ours))
	scans := scanLayers(ctx, m, s, layers, q.bystanders, ours, t.layer())
	if ctx.Err() != nil {
		return model.FromContext(ctx, "gdpr-plan")
	}
	for i, l := range layers {
		vouched, err := r.looked(ctx, m, s, l, scans[i])
		if err != nil {
			return err
		}
		if vouched != nil {
			sp.Notes = append(sp.Notes, m.Redact(l.ID+": "+vouched.words(), Erased))
			continue
		}
		for _, why := range scans[i].rep.Closed { // the rest of it goes if it has hits
			sp.Problems = append(sp.Problems, m.Redact(l.ID+": "+why, Erased))
		}
		switch sum, cleaned := dry[l.ID]; {
		case (cleaned || scans[i].rep.Hits > 0) && q.holds.layer(l).exists():
			sp.leave(l.ID, layerName(l), "it is kept with what is on hold")
		case ours(l):
			sp.planLayer(q, l, scans[i], sum, cleaned)
		default:
			sp.planExternal(ctx, q, l, sum, cleaned)
		}
	}
	if sp.touches() { // its program's own erasure is called
		for i, st := range sp.Steps {
			if _, goes := dry[st.ID]; goes && st.Layer == "external" {
				sp.Steps[i].Action = Scrub
			}
		}
	}
	return nil
}

// leave adds the step of what is out of reach.
func (sp *StorePlan) leave(id, layer, why string) {
	sp.Steps = append(sp.Steps, Step{Store: sp.Store, ID: id, Layer: layer, Action: OutOfScope, Reason: why})
}

// besideItems drops the layers of items: the item's own step covers its bytes, but not under a second name of the file.
func (sp *StorePlan) besideItems(layers []model.Layer) []model.Layer {
	going := map[string]bool{}
	for _, st := range sp.Steps {
		going[st.ID] = going[st.ID] || st.changes()
	}
	return slices.DeleteFunc(layers, func(l model.Layer) bool {
		item := l.Kind == model.LayerItem && l.ItemID != ""
		if item && going[l.ItemID] {
			sp.secondName(l)
		}
		return item
	})
}

// planExternal adds the step of a layer out of reach. Of a symbolic link whose name names the subject the scrub removes the
// link itself.
func (sp *StorePlan) planExternal(ctx context.Context, q *search, l model.Layer, sum model.Revision, cleaned bool) {
	if cleaned && strings.HasSuffix(l.Reason, model.LinkReason) {
		sp.Steps = append(sp.Steps, Step{Store: sp.Store, ID: l.ID, Layer: "symbolic link", Action: Scrub, Revision: sum,
			Reason: "its own name names the person: the link itself is removed, and not what it leads to"})
		return
	}
	if nested(l) {
		if found, unknown := nestedHistory(ctx, q.m, q.store, l); found.Hits > 0 || unknown {
			sp.leave(l.ID, "git", found.Reason)
			return
		}
	}
	sp.leave(l.ID, "external", whyLeft(q.m, l))
}

// planLayer adds the step of a layer within reach that holds the subject, or that the scrub changes: cleaned. sum is the
// hash of a layer that goes as a whole.
func (sp *StorePlan) planLayer(q *search, l model.Layer, scan layerScan, sum model.Revision, cleaned bool) {
	m, st := q.m, Step{Store: sp.Store, ID: l.ID, Layer: layerName(l), Action: Scrub, Revision: sum}
	if sum != "" { // a layer that only loses records changes its size with every write
		st.Bytes = l.Bytes
	}
	switch {
	case !l.Readable:
		st.Reason = "it cannot be looked at: " + l.Reason
		if !cleaned { // no scrub reaches it: its row of the receipt says what became of it
			st.Action = OutOfScope
		}
	case scan.err != nil:
		st.Reason = "it cannot be looked at: " + string(model.KindOf(scan.err))
		if model.KindOf(scan.err) != model.NotFound { // a program may remove a journal meanwhile
			sp.Problems = append(sp.Problems, m.Redact(l.ID, Erased)+": "+st.Reason)
		}
	case scan.rep.Hits > 0:
		st.Reason = "its bytes name the person" + m.Redact(inMembers(scan.rep.Members), Erased)
	case m.Names(l.ID):
		st.Reason = "its name names the person"
	case cleaned:
		st.Reason = "it keeps something of what goes"
	default:
		return
	}
	sp.Steps = append(sp.Steps, st)
	sp.secondName(l)
}

// wouldScrub asks the store what its scrub would remove or rewrite: the same code makes the plan and carries
// it out. A layer that goes as a whole has the hash of its bytes, to which the step binds the scrub; so do
// the values that it edits in the records of edited items.
func (sp *StorePlan) wouldScrub(ctx context.Context, r *Request, q *search, layers []model.Layer) (map[string]model.Revision, error) {
	out, held := map[string]model.Revision{}, sp.heldIDs()
	maps.Copy(held, q.holding)
	removed, edited := touched(slices.Values(sp.Steps))
	beside := map[string][]Beside{}
	_, err := q.store.Maintainer.Scrub(ctx, model.ScrubRequest{Dry: true, Listed: layers, Removed: removed, Renamed: sp.renamed(), Edited: edited, Held: slices.Sorted(maps.Keys(held)),
		Subjects: []string{r.Subject}, Redact: redactor(q.m), Concerns: concerns(q.m, q.bystanders), May: func(layer string, whole []byte) bool {
			out[layer] = bytesSum(whole)
			return true
		}, MayEdit: func(e model.RecordEdit) bool {
			beside[e.ID] = append(beside[e.ID], Beside{Path: e.Path, Before: e.Before, After: e.After})
			return true
		}})
	for i, st := range sp.Steps {
		if st.Action == Redact && st.NewID == "" && (st.Layer == layerItem || st.Layer == layerEdge) {
			sp.Steps[i].Beside = beside[st.ID]
		}
	}
	return out, err
}

// bytesSum is the hash of a layer that goes as a whole; empty where only records go.
func bytesSum(whole []byte) model.Revision {
	if whole == nil {
		return ""
	}
	return model.Revision(fmt.Sprintf("%x", sha256.Sum256(whole)))
}

// noDelete says why nothing in a store can be erased from here; empty where something can. A store that is
// merely opened read-only could erase, and is not out of scope; in a store that can be listed and written,
// redaction removes the subject from items.
func noDelete(s model.Store) string {
	can := s.Capabilities()
	switch {
	case s.ReadOnly, can["forget"], s.Browser != nil && can["retain"]:
		return ""
	case s.Browser == nil:
		return "the store can neither be read through nor deleted from here: ask whoever runs it to erase the person, and for a word that it is done"
	}
	return "the store has no delete: ask whoever runs it to erase the person, and for a word that it is done"
}

// layerName is a layer's kind in a plan: an item layer is a file, because it can hold several items.
func layerName(l model.Layer) string {
	if l.Kind == model.LayerItem {
		return "file"
	}
	return string(l.Kind)
}

// secondName adds the row about the further names of a file, where it has any: memdesk does not know where they are
// (erasure-physical.md, Files).
func (sp *StorePlan) secondName(l model.Layer) {
	if l.Links == 0 {
		return
	}
	why := "the file has a second name"
	if l.Links > 1 {
		why = fmt.Sprintf("the file has a second name and %d more", l.Links-1)
	}
	sp.leave(l.ID, layerLink, why+": what is removed or rewritten here keeps its old text there; find it by its inode and remove it")
}

// keepLinks copies the rows about second names and old versions from an older plan of the same request: the
// item's removal here removes neither.
func (d *Desk) keepLinks(p *Plan) {
	old, err := d.earlier(p.Request)
	if err != nil {
		return
	}
	for _, was := range old.Stores {
		at := slices.IndexFunc(p.Stores, func(s StorePlan) bool { return s.Store == was.Store && slices.Contains(s.places(), was.Where) })
		if at < 0 {
			continue
		}
		now := &p.Stores[at]
		for _, st := range was.Steps {
			if (st.Layer == layerLink || st.Layer == layerVersion) && !slices.ContainsFunc(now.Steps, func(o Step) bool { return o.Layer == st.Layer && o.ID == st.ID }) {
				now.Steps = append(now.Steps, st)
			}
		}
	}
}

// leads reports whether a symbolic link's own text, the path that it leads to, names the subject.
func leads(m *subject.Matcher, l model.Layer) bool {
	if l.Kind != model.LayerExternal || !strings.HasSuffix(l.Reason, model.LinkReason) || l.File == "" {
		return false
	}
	to, err := os.Readlink(l.File)
	return err == nil && m.Names(to)
}

// whyLeft is a layer's reason; for a symbolic link whose path names the subject it also says what to do: the
// link holds no text, but its path names the subject.
func whyLeft(m *subject.Matcher, l model.Layer) string {
	switch {
	case l.Reason == model.LinkReason && !m.Names(l.ID) && leads(m, l):
		return "the path that it leads to names the person: remove the link by hand, or lead it elsewhere; it is " + l.Reason
	case l.Kind != model.LayerExternal || l.Reason != model.LinkReason || !m.Names(l.ID):
		return l.Reason
	case m.Names(path.Base(l.ID)):
		return "its own name names the person: remove the link by hand; it is " + l.Reason
	}
	return "a directory above it names the person: remove the link by hand, and the directory when it is empty; it is " + l.Reason
}

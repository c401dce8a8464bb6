package gdpr

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"memdesk/backends"
	"memdesk/gdpr/suppress"
	"memdesk/internal/atomicfile"
	"memdesk/internal/safetext"
	"memdesk/model"
)

// Hold keeps an item from being erased, with its legal ground (Art. 17(3)). It belongs to an item of a store,
// under any name of that store.
type Hold struct {
	Store string `json:"store"` // the store's name at that time
	// Where is the store's identity; empty only in an old hold that knew only the name, until the next plan.
	Where  string `json:"where,omitempty"`
	ID     string `json:"id"`
	Ground string `json:"ground"`
	// File is the hash of the item's path (fileHash): another store over the same directory has the same file
	// under another id. Empty where the store is not on this machine, and in an old hold until the next plan.
	File string `json:"file,omitempty"`
	// Dirs are the hashes of what it lies in, with spaces between them: another store may have a directory above it, or
	// the whole file of which the item is a part. Those of the store's further files are among them (model.Store.Files).
	Dirs string `json:"dirs,omitempty"`
}

// locate completes a hold with the identity of its store and the hashes of its file. pathOf is files of the store.
func (h *Hold) locate(key suppress.Key, s *model.Store, pathOf func(id string) string) {
	h.Where, h.File, h.Dirs = s.Identity(), "", ""
	add := func(hash string) {
		if !strings.Contains(h.Dirs, hash) {
			h.Dirs += hash + " "
		}
	}
	within := func(path string) {
		for dir := range above(path) {
			add(dirHash(key, dir))
		}
	}
	if path := pathOf(h.ID); path != "" {
		h.File = fileHash(key, path)
		within(path)
	}
	for _, file := range further(s) {
		add(besideHash(key, file))
		within(file)
	}
}

// place is the store of a hold: its identity, or else its name.
func (h Hold) place() string { return cmp.Or(h.Where, h.Store) }

// hashForm is the form of suppress.Key.Item.
var hashForm = regexp.MustCompile(`^` + suppress.HashPrefix + `[0-9a-f]{8}:[0-9a-f]{32}$`)

// hashed reports whether the hold knows its item only by a hash of the id. A store may have ids of that form: whoever
// asks must look for the id as it is, too.
func (h Hold) hashed() bool { return hashForm.MatchString(h.ID) }

// on reports whether the hold is on this item of a store, given by its name and its identities.
func (h Hold) on(key suppress.Key, name string, places []string, id string) bool {
	if h.Where == "" && h.Store != name || h.Where != "" && !slices.Contains(places, h.Where) {
		return false
	}
	return h.ID == id || h.hashed() && h.ID == key.Item(h.place(), id)
}

// is reports whether another hold is on the same item: in the same store or, without an identity, in a store
// of the same name.
func (h Hold) is(key suppress.Key, o Hold) bool {
	byName := (h.Where == "" || o.Where == "") && h.Store == o.Store
	return h.on(key, o.Store, []string{o.Where}, o.ID) || byName && (h.ID == o.ID || h.ID == key.Item(h.place(), o.ID))
}

// heldIDs are the items that a store's plan keeps back.
func (s *StorePlan) heldIDs() map[string]bool {
	ids := map[string]bool{}
	for i := range s.Steps {
		if s.Steps[i].Action == Held {
			ids[s.Steps[i].ID] = true
		}
	}
	return ids
}

// holdsListed refuses a plan that does not list a held item: then nobody knows what the hold keeps. The plan itself
// reports a store that could not be searched.
func (r *Request) holdsListed(key suppress.Key, p *Plan) error {
	held := make([]map[string]bool, len(p.Stores))
	for i := range p.Stores {
		held[i] = p.Stores[i].heldIDs()
	}
	for _, h := range r.Holds {
		if err := h.listed(key, r.ID, p, held); err != nil {
			return err
		}
	}
	return nil
}

// listed is an error where no store's plan has the held item, by the ids that each keeps back.
func (h Hold) listed(key suppress.Key, request string, p *Plan, held []map[string]bool) error {
	ref := model.Ref{Store: h.Store, ID: h.ID}.String()
	for i, s := range p.Stores {
		places := s.places()
		switch {
		case s.Error != "" && s.Store == h.Store,
			held[i][h.ID] && h.on(key, s.Store, places, h.ID),
			h.hashed() && slices.ContainsFunc(s.Steps, func(st Step) bool { return st.Action == Held && h.on(key, s.Store, places, st.ID) }):
			return nil
		case slices.Contains(places, h.Where) || h.Where == "" && s.Store == h.Store:
			return model.Errorf(model.NotFound, "gdpr-plan",
				"%s is on hold and is not among what was found: look whether it is the item that is meant, or lift the hold: `memdesk gdpr unhold %s --item %s`", ref, request, safetext.Word(ref))
		}
	}
	return model.Errorf(model.NotFound, "gdpr-plan",
		"%s is on hold and its store is not open: open it too, or lift the hold: `memdesk gdpr unhold %s --item %s`", ref, request, safetext.Word(ref))
}

// keepHeld adds to the plan the held items in which the subject was not found: an item that cannot be opened
// may still hold the subject, and a hold is honoured all the same. holdsListed reports an item that does not exist.
func (d *Desk) keepHeld(ctx context.Context, r *Request, s model.Store, q *search, sp *StorePlan) error {
	key, err := d.pseudonymKey()
	if err != nil {
		return err
	}
	held := sp.heldIDs()
	for _, h := range r.Holds {
		if s.Browser == nil || h.hashed() || !h.on(key, s.Name, sp.places(), h.ID) || held[h.ID] {
			continue
		}
		st := Step{Store: s.Name, ID: h.ID, Layer: layerItem, Action: Held, Ground: cmp.Or(h.Ground, "on hold"), Reason: "on hold, and nothing that names the person was found in it"}
		if q.heldShut[h.ID] {
			st.Reason = "on hold, and nobody can open it"
		}
		switch _, err := s.Browser.Read(ctx, h.ID); model.KindOf(err) {
		case model.NotFound, model.InvalidInput:
			continue
		}
		sp.Steps = append(sp.Steps, st)
	}
	return nil
}

// Locate completes a hold with the identity of the item's store and the item's file. An item that does not exist is
// NotFound: a hold on it would keep nothing.
func (d *Desk) Locate(ctx context.Context, fleet *backends.Fleet, h Hold) (Hold, error) {
	s, err := fleet.Store(h.Store)
	if err != nil {
		return h, err
	}
	key, err := d.pseudonymKey()
	if err != nil {
		return h, err
	}
	h.locate(key, &s, files(&s))
	if s.Browser == nil {
		return h, nil // a store that cannot be read can still have a hold
	}
	if _, err = s.Browser.Read(ctx, h.ID); err != nil && s.Quarantine != nil {
		if _, qerr := s.Quarantine.ReadQuarantined(ctx, h.ID); qerr == nil {
			return h, nil
		}
	}
	if k := model.KindOf(err); err != nil && (k == model.NotFound || k == model.InvalidInput) {
		return h, model.Errorf(model.NotFound, "gdpr-hold", "there is no item %s: nothing was put on hold", model.Ref{Store: h.Store, ID: h.ID}.String())
	}
	return h, nil // an item that cannot be read exists
}

// Hold keeps items from being erased. An earlier plan becomes void. The receipt states only the articles of
// the ground; a ground that names an erased person is refused, and then no item is held.
func (d *Desk) Hold(ctx context.Context, id string, holds ...Hold) (Due, error) {
	key, err := d.pseudonymKey()
	if err != nil {
		return Due{}, err
	}
	r, err := d.load(id)
	if err != nil {
		return Due{}, err
	}
	var grounds []string
	for _, h := range holds {
		switch {
		case strings.TrimSpace(h.Ground) == "":
			return Due{}, model.Errorf(model.InvalidInput, "gdpr", "a hold needs its ground: which exception of Art. 17(3) applies")
		case !slices.Contains(grounds, h.Ground):
			grounds = append(grounds, h.Ground)
		}
	}
	for _, ground := range grounds {
		if err := d.refuseErased(ctx, &r, "gdpr-hold", "the ground", ground); err != nil && !r.Done() {
			return Due{}, err
		}
	}
	return d.change(ctx, id, "gdpr-hold", func(r *Request) error {
		r.Holds = append(without(key, r.Holds, holds), holds...)
		r.void()
		return nil
	})
}

// without returns holds except those on the items of others.
func without(key suppress.Key, holds, others []Hold) []Hold {
	gone, on := make([]bool, len(holds)), onItem(key, holds)
	for _, o := range others {
		for _, i := range on(o) {
			gone[i] = true
		}
	}
	var out []Hold
	for i, h := range holds {
		if !gone[i] {
			out = append(out, h)
		}
	}
	return out
}

// onItem returns the function that gives the places of those holds that are on the item of another one. A hold has the
// other's id or, by its own place, the hash of it.
func onItem(key suppress.Key, holds []Hold) func(o Hold) []int {
	byID, places := map[string][]int{}, []string{}
	for i, h := range holds {
		if byID[h.ID] = append(byID[h.ID], i); h.hashed() {
			places = including(places, h.place())
		}
	}
	return func(o Hold) (out []int) {
		alike := slices.Clone(byID[o.ID])
		for _, place := range places {
			alike = append(alike, byID[key.Item(place, o.ID)]...)
		}
		return slices.DeleteFunc(alike, func(i int) bool { return !holds[i].is(key, o) })
	}
}

// Unhold lifts holds, given by the store's identity or by its name at that time; NotFound when one does not
// exist, and then none is lifted. An earlier plan becomes void. It works on a complete request too: the next
// sweep finds the released items.
func (d *Desk) Unhold(ctx context.Context, id string, holds ...Hold) (Due, error) {
	const op = "gdpr-unhold"
	r, err := d.load(id)
	if err != nil {
		return Due{}, err
	}
	if r.State == StateWithdrawn {
		return Due{}, r.over(op)
	}
	key, err := suppress.ReadKey(d.dir("keys", "pseudonym"))
	if err != nil {
		return Due{}, model.E(model.Unavailable, op, atomicfile.Pathless(err))
	}
	on := onItem(key, r.Holds)
	holds = slices.Clone(holds)
	for i, h := range holds {
		if len(on(h)) == 0 { // another store may have the name by now
			holds[i].Where = ""
		}
		if len(on(holds[i])) == 0 {
			return Due{}, model.Errorf(model.NotFound, op, "%s is not on hold under request %s", model.Ref{Store: h.Store, ID: h.ID}.String(), id)
		}
	}
	return d.amend(ctx, &r, op, nil, func(r *Request) error {
		r.Holds = without(key, r.Holds, holds)
		if !r.Done() {
			r.void()
		}
		return nil
	})
}

package gdpr

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"memdesk/backends"
	"memdesk/gdpr/suppress"
	"memdesk/model"
)

// Hold keeps an item back, with the ground that permits it (Art. 17(3)). It is on an
// item of a store, by whatever name that store is opened.
type Hold struct {
	Store string `json:"store"` // as it was called
	// Where is the store's identity; empty only in a hold that was written before stores
	// were told apart, until the next plan.
	Where  string `json:"where,omitempty"`
	ID     string `json:"id"`
	Ground string `json:"ground"`
}

// place is the store of a hold: what it is, or what it was called.
func (h Hold) place() string {
	if h.Where != "" {
		return h.Where
	}
	return h.Store
}

// hashed reports whether the item's id is gone from the hold, and only its hash stays.
func (h Hold) hashed() bool { return strings.HasPrefix(h.ID, suppress.HashPrefix) }

// on reports whether the hold is on this item.
func (h Hold) on(key suppress.Key, name, where, id string) bool {
	if h.Where == "" && h.Store != name || h.Where != "" && h.Where != where {
		return false
	}
	return h.ID == id || h.hashed() && h.ID == key.Item(h.place(), id)
}

// is reports whether another hold is on the same item: in the same store, or in one
// that was called the same.
func (h Hold) is(key suppress.Key, o Hold) bool {
	return h.on(key, o.Store, o.Where, o.ID) || h.Store == o.Store && (h.ID == o.ID || h.ID == key.Item(h.place(), o.ID))
}

// holdIndex finds the hold on an item without a look at each hold.
type holdIndex struct {
	key    suppress.Key
	byID   map[string][]Hold
	hashed []Hold
}

func indexHolds(key suppress.Key, holds []Hold) holdIndex {
	x := holdIndex{key: key, byID: map[string][]Hold{}}
	for _, h := range holds {
		if h.hashed() {
			x.hashed = append(x.hashed, h)
		}
		x.byID[h.ID] = append(x.byID[h.ID], h)
	}
	return x
}

// any returns the first hold with this id, or with its hash, that a condition takes.
func (x holdIndex) any(id string, is func(Hold) bool) (Hold, bool) {
	for _, holds := range [][]Hold{x.byID[id], x.hashed} {
		if i := slices.IndexFunc(holds, is); i >= 0 {
			return holds[i], true
		}
	}
	return Hold{}, false
}

// on returns the hold on an item.
func (x holdIndex) on(name, where, id string) (Hold, bool) {
	return x.any(id, func(h Hold) bool { return h.on(x.key, name, where, id) })
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

// found refuses a plan in which a held item is not: nobody could say any more what
// the hold keeps. A store that could not be searched is told by the plan itself.
func (r *Request) found(key suppress.Key, p *Plan) error {
	held := make([]map[string]bool, len(p.Stores))
	for i := range p.Stores {
		held[i] = p.Stores[i].heldIDs()
	}
	for _, h := range r.Holds {
		if err := h.found(key, r.ID, p, held); err != nil {
			return err
		}
	}
	return nil
}

func (h Hold) found(key suppress.Key, request string, p *Plan, held []map[string]bool) error {
	ref := model.Ref{Store: h.Store, ID: h.ID}.String()
	for i, s := range p.Stores {
		switch {
		case s.Error != "" && s.Store == h.Store,
			held[i][h.ID] && h.on(key, s.Store, s.Where, h.ID),
			h.hashed() && slices.ContainsFunc(s.Steps, func(st Step) bool { return st.Action == Held && h.on(key, s.Store, s.Where, st.ID) }):
			return nil
		case s.Where == h.Where || h.Where == "" && s.Store == h.Store:
			return model.Errorf(model.NotFound, "gdpr-plan",
				"%s is on hold and is not among what was found: look whether it is the item that is meant, or lift the hold: `memdesk gdpr unhold %s --item %s`", ref, request, ref)
		}
	}
	return model.Errorf(model.NotFound, "gdpr-plan",
		"%s is on hold and its store is not open: open it too, or lift the hold: `memdesk gdpr unhold %s --item %s`", ref, request, ref)
}

// keepHeld takes holds of the request into the plan that are on items in which the person
// was not found: of one that nobody can open nobody knows, and a hold is honoured all the
// same. One that is not there is told by found.
func (d *Desk) keepHeld(ctx context.Context, r *Request, s model.Store, q *search, sp *StorePlan) error {
	key, err := d.pseudonymKey()
	if err != nil {
		return err
	}
	held := sp.heldIDs()
	for _, h := range r.Holds {
		if s.Browser == nil || h.hashed() || !h.on(key, s.Name, sp.Where, h.ID) || held[h.ID] {
			continue
		}
		st := Step{Store: s.Name, ID: h.ID, Layer: layerItem, Action: Held, Ground: cmp.Or(h.Ground, "on hold"), Reason: "on hold, and nothing that names the subject was found in it"}
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

// Locate completes a hold with what store its item is in. An item that is not there is
// NotFound: a hold on it would keep nothing.
func Locate(ctx context.Context, fleet *backends.Fleet, h Hold) (Hold, error) {
	s, err := fleet.Store(h.Store)
	if err != nil {
		return h, err
	}
	h.Where = s.Identity()
	if s.Browser == nil {
		return h, nil // what cannot be looked at can be held all the same
	}
	if _, err = s.Browser.Read(ctx, h.ID); err != nil && s.Quarantine != nil {
		if _, qerr := s.Quarantine.ReadQuarantined(ctx, h.ID); qerr == nil {
			return h, nil
		}
	}
	if k := model.KindOf(err); err != nil && (k == model.NotFound || k == model.InvalidInput) {
		return h, model.Errorf(model.NotFound, "gdpr-hold", "there is no item %s: nothing was put on hold", model.Ref{Store: h.Store, ID: h.ID}.String())
	}
	return h, nil // an item that cannot be read is there
}

// Hold keeps items back from the erasure. A plan made before is void. Of the ground the
// receipt has the articles alone; one that names an erased person is refused, and then no
// item is held.
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

// without returns holds but those on the items of others.
func without(key suppress.Key, holds, others []Hold) []Hold {
	x := indexHolds(key, others)
	return slices.DeleteFunc(slices.Clone(holds), func(h Hold) bool {
		if h.hashed() { // its item is known by each other's own id
			return slices.ContainsFunc(others, func(o Hold) bool { return h.is(key, o) })
		}
		_, same := x.any(h.ID, func(o Hold) bool { return h.is(key, o) })
		return same
	})
}

// Unhold lifts holds, by the store's name when they were made or by what store it
// is; NotFound when one is not there, and then none is lifted. A plan made before is void. Of
// a complete request too: what it kept is found by the next sweep.
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
		return Due{}, model.E(model.Unavailable, op, pathless(err))
	}
	x := indexHolds(key, r.Holds)
	for _, h := range holds {
		if _, ok := x.any(h.ID, func(o Hold) bool { return o.is(key, h) }); !ok {
			return Due{}, model.Errorf(model.NotFound, op, "%s is not on hold under request %s", model.Ref{Store: h.Store, ID: h.ID}.String(), id)
		}
	}
	err = d.act(ctx, &r, op, nil, func(context.Context) (map[string]int64, error) {
		r.Holds = without(key, r.Holds, holds)
		if !r.Done() {
			r.void()
		}
		return nil, d.save(&r)
	})
	if err != nil {
		return Due{}, err
	}
	return r.due(d.Clock.Now()), nil
}

// grounds gives the grounds on which items of a store are kept from a request: those
// of its own holds, and of another's only which request it is. A hold of the request
// that was written by the store's name learns here what store that is.
func (d *Desk) grounds(r *Request, s model.Store) (func(id string) string, error) {
	key, err := d.pseudonymKey()
	if err != nil {
		return nil, err
	}
	where := s.Identity()
	for i, h := range r.Holds {
		if h.Where == "" && h.Store == s.Name {
			r.Holds[i].Where = where
		}
	}
	if _, err := d.held(&s, "-"); err != nil { // it can be said what is on hold
		return nil, err
	}
	own := indexHolds(key, r.Holds)
	return func(id string) string {
		if h, ok := own.on(s.Name, where, id); ok {
			return cmp.Or(h.Ground, "on hold")
		}
		other, err := d.held(&s, id)
		switch {
		case err != nil:
			return "nobody can say what is on hold" // and nothing of it goes
		case other != "" && other != r.ID:
			return "on hold under request " + other
		}
		return ""
	}, nil
}

// holdCache remembers what is on hold, so that a copy of a hundred thousand items
// does not read every request as often. Each save replaces a file in the
// directory of requests, which changes the directory's own time.
type holdCache struct {
	mu    sync.Mutex
	stamp time.Time // of the directory when it was read; zero: it must be read
	// items are requests by the place of a store and the id, or by the hash of both
	// where the request is done and the id is gone.
	items  map[model.Ref]string
	hashes map[string]string
	stores map[string]string // a request that holds something back in the store
	key    suppress.Key
}

// settled is the age from which a directory's time can be trusted: what is saved
// within one tick of the file system's clock may bear the same time.
const settled = 2 * time.Second

// held is the request that holds an item back; empty for none.
func (d *Desk) held(s *model.Store, id string) (string, error) {
	if id == "" {
		return "", nil
	}
	return d.onHold(func(c *holdCache) string {
		if len(c.stores) == 0 {
			return ""
		}
		for _, place := range []string{s.Identity(), s.Name} {
			if r := c.items[model.Ref{Store: place, ID: id}]; r != "" {
				return r
			}
			if len(c.hashes) > 0 {
				if r := c.hashes[c.key.Item(place, id)]; r != "" {
					return r
				}
			}
		}
		return ""
	})
}

// heldIn is a request that holds something back in a store; empty for none. A
// cascade names no item, so nobody could say that it spares that one.
func (d *Desk) heldIn(s *model.Store) (string, error) {
	return d.onHold(func(c *holdCache) string {
		if len(c.stores) == 0 {
			return ""
		}
		if r := c.stores[s.Identity()]; r != "" {
			return r
		}
		return c.stores[s.Name]
	})
}

// onHold asks what is on hold now.
func (d *Desk) onHold(ask func(*holdCache) string) (string, error) {
	info, err := os.Stat(d.dir("requests"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", pathless(err)
	}
	c := &d.holds
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := info.ModTime(); c.stamp.IsZero() || !c.stamp.Equal(at) {
		c.stamp = time.Time{}
		if err := c.read(d); err != nil {
			return "", err
		}
		if d.Clock.Now().Sub(at) > settled {
			c.stamp = at
		}
	}
	return ask(c), nil
}

func (c *holdCache) read(d *Desk) error {
	all, err := d.List()
	if err != nil {
		return err
	}
	c.items, c.hashes, c.stores = map[model.Ref]string{}, map[string]string{}, map[string]string{}
	for _, r := range all {
		for _, h := range r.Holds {
			c.stores[h.place()] = r.ID
			if h.hashed() {
				c.hashes[h.ID] = r.ID
			} else {
				c.items[model.Ref{Store: h.place(), ID: h.ID}] = r.ID
			}
		}
	}
	if len(c.hashes) > 0 {
		if c.key, err = suppress.ReadKey(d.dir("keys", "pseudonym")); err != nil {
			return pathless(err)
		}
	}
	return nil
}

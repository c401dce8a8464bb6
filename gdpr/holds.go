package gdpr

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

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
	// Dirs are the hashes of the directories above it, with spaces between them: a store of one may have the file too.
	Dirs string `json:"dirs,omitempty"`
}

// locate completes a hold with the identity of its store and the hashes of its file.
func (h *Hold) locate(key suppress.Key, s *model.Store) {
	h.Where, h.File, h.Dirs = s.Identity(), fileHash(key, s, h.ID), ""
	if h.File == "" {
		return
	}
	for dir, last := filepath.Dir(files(s)(h.ID)), ""; dir != last; dir, last = filepath.Dir(dir), dir {
		h.Dirs += dirHash(key, dir) + " "
	}
}

// dirHash is the hash of a directory's path; links in the path are resolved.
func dirHash(key suppress.Key, dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return key.Item("dir", dir)
}

// fileHash is the hash of the path that an item has where its store is a tree of files; empty where the store is
// not on this machine.
func fileHash(key suppress.Key, s *model.Store, id string) string { return fileHashes(key, s)(id) }

// fileHashes is fileHash for many items.
func fileHashes(key suppress.Key, s *model.Store) func(id string) string {
	if !filepath.IsAbs(s.Location) {
		return func(string) string { return "" }
	}
	path := files(s)
	return func(id string) string { return key.Item("file", path(id)) }
}

// files returns the function that gives the path of an item of a store, with the links above it resolved.
func files(s *model.Store) func(id string) string {
	resolved := map[string]string{}
	return func(id string) string {
		dir, file := s.Location, id
		if s.PathOf != nil {
			dir, file = s.PathOf(id)
		}
		real, ok := resolved[dir]
		if !ok {
			var err error
			if real, err = filepath.EvalSymlinks(dir); err != nil {
				real = dir
			}
			resolved[dir] = real
		}
		return filepath.Join(real, filepath.FromSlash(file))
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

// holdIndex finds the hold on an item without a look at every hold.
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

// any returns the first hold with this id, or its hash, that satisfies a condition.
func (x holdIndex) any(id string, is func(Hold) bool) (Hold, bool) {
	for _, holds := range [][]Hold{x.byID[id], x.hashed} {
		if i := slices.IndexFunc(holds, is); i >= 0 {
			return holds[i], true
		}
	}
	return Hold{}, false
}

// on returns the hold on an item.
func (x holdIndex) on(name string, places []string, id string) (Hold, bool) {
	return x.any(id, func(h Hold) bool { return h.on(x.key, name, places, id) })
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

// found refuses a plan that does not list a held item: then nobody knows what the hold keeps. The plan itself
// reports a store that could not be searched.
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
// may still hold the subject, and a hold is honoured all the same. found reports an item that does not exist.
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
	h.locate(key, &s)
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
	x := indexHolds(key, others)
	return slices.DeleteFunc(slices.Clone(holds), func(h Hold) bool {
		if h.hashed() { // compare its hash with each other's id
			return slices.ContainsFunc(others, func(o Hold) bool { return h.is(key, o) })
		}
		_, same := x.any(h.ID, func(o Hold) bool { return h.is(key, o) })
		return same
	})
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
	x := indexHolds(key, r.Holds)
	held := func(h Hold) bool {
		_, ok := x.any(h.ID, func(o Hold) bool { return o.is(key, h) })
		return ok
	}
	holds = slices.Clone(holds)
	for i, h := range holds {
		if !held(h) { // another store may have the name by now
			holds[i].Where = ""
		}
		if !held(holds[i]) {
			return Due{}, model.Errorf(model.NotFound, op, "%s is not on hold under request %s", model.Ref{Store: h.Store, ID: h.ID}.String(), id)
		}
	}
	err = d.act(ctx, &r, op, nil, func(context.Context) (map[string]int64, error) {
		return nil, d.edit(ctx, &r, func(r *Request) error {
			r.Holds = without(key, r.Holds, holds)
			if !r.Done() {
				r.void()
			}
			return nil
		})
	})
	if err != nil {
		return Due{}, err
	}
	return r.due(d.Clock.Now()), nil
}

// grounds returns a function that gives the ground on which an item of a store is kept from a request: the
// request's own ground or, for another request's hold, only that request's id. A hold of the request that
// knows only the store's name or an older identity gets the store's identity here.
func (d *Desk) grounds(r *Request, s model.Store) (func(id string) string, error) {
	key, err := d.pseudonymKey()
	if err != nil {
		return nil, err
	}
	places := remembered(&s)
	for i, h := range r.Holds {
		if h.Where == "" && h.Store == s.Name || slices.Contains(places[1:], h.Where) && !h.hashed() {
			r.Holds[i].Where = places[0]
		}
		if h = r.Holds[i]; h.Where == places[0] && h.Dirs == "" && !h.hashed() {
			r.Holds[i].locate(key, &s)
		}
	}
	if _, err := d.held(&s, "-"); err != nil { // the holds can be read
		return nil, err
	}
	own := indexHolds(key, r.Holds)
	return func(id string) string {
		if h, ok := own.on(s.Name, places, id); ok {
			return cmp.Or(h.Ground, "on hold")
		}
		other, err := d.held(&s, id)
		switch {
		case err != nil:
			return "nobody can say what is on hold" // and so no item goes
		case other == "":
			return ""
		case other != r.ID:
			return "on hold under request " + other
		}
		for _, h := range r.Holds { // another store over the same directory has the item
			if h.File != "" && h.File == fileHash(key, &s, id) {
				return h.Ground + "; on hold as " + model.Ref{Store: h.Store, ID: h.ID}.String()
			}
		}
		return ""
	}, nil
}

// holdCache caches the holds, so that a copy of a hundred thousand items does not read every request each
// time. Each save replaces a file in the directory of requests, which changes the directory's modification
// time.
type holdCache struct {
	mu    sync.Mutex
	stamp time.Time // the directory's time when it was read; zero: it must be read
	// items are requests by the store's place and the item's id, or by the hash of both where the request is
	// done and the id is gone.
	items  map[model.Ref]string
	hashes map[string]string // and by the hash of the item's file
	stores map[string]string // a request with a hold in the store
	dirs   map[string]string // or, by the hash of a directory, with the file of one below it
	key    suppress.Key
}

// settled is the age from which a directory's time can be trusted: two saves within one tick of the file
// system's clock have the same time.
const settled = 2 * time.Second

// remembered are the identities by which a hold may name a store. Versions before took a relatively named
// configuration's paths as relative to the working directory, and such a hold counts there.
func remembered(s *model.Store) []string {
	out := s.Identities()
	if wd, err := os.Getwd(); err == nil && filepath.IsAbs(s.Location) {
		if typed, err := filepath.Rel(wd, s.Location); err == nil {
			out = append(out, model.Store{Kind: s.Kind, Location: typed}.Identity())
		}
	}
	return out
}

// held is the request whose hold an item has; empty for none.
func (d *Desk) held(s *model.Store, id string) (by string, err error) {
	if id == "" {
		return "", nil
	}
	err = d.onHold(func(c *holdCache) {
		if len(c.stores) > 0 {
			by = c.on(fileHashes(c.key, s), append(remembered(s), s.Name), id)
		}
	})
	return by, err
}

// heldBy returns the function that gives the request whose hold an item of a store has, for callers that ask about every
// item: it knows the holds of this moment. nil: nothing in the store is on hold.
func (d *Desk) heldBy(s *model.Store) (func(id string) string, error) {
	some, err := d.heldIn(s)
	if err != nil || some == "" {
		return nil, err
	}
	var now holdCache // its maps are replaced, never changed
	err = d.onHold(func(c *holdCache) { now.items, now.hashes, now.key = c.items, c.hashes, c.key })
	file, places := fileHashes(now.key, s), append(remembered(s), s.Name)
	return func(id string) string { return now.on(file, places, id) }, err
}

// on is the request whose hold an item has; file gives the hash of its file, and places are the names and identities of its store.
func (c *holdCache) on(file func(id string) string, places []string, id string) string {
	for _, place := range places {
		if r := c.items[model.Ref{Store: place, ID: id}]; r != "" {
			return r
		}
		if len(c.hashes) > 0 {
			if r := c.hashes[c.key.Item(place, id)]; r != "" {
				return r
			}
		}
	}
	if len(c.hashes) > 0 {
		return c.hashes[file(id)]
	}
	return ""
}

// heldIn is a request with a hold in a store, or on a file that lies in its directory; empty for none. A cascade
// names no item, so nothing proves that it spares a held one.
func (d *Desk) heldIn(s *model.Store) (by string, err error) {
	err = d.onHold(func(c *holdCache) {
		if len(c.stores) == 0 {
			return
		}
		for _, place := range append(remembered(s), s.Name) {
			by = cmp.Or(by, c.stores[place])
		}
		if by == "" && filepath.IsAbs(s.Location) && len(c.dirs) > 0 {
			by = c.dirs[dirHash(c.key, s.Location)]
		}
	})
	return by, err
}

// onHold shows the cache, which it reads again first if requests have changed.
func (d *Desk) onHold(show func(*holdCache)) error {
	info, err := os.Stat(d.dir("requests"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return atomicfile.Pathless(err)
	}
	c := &d.holds
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := info.ModTime(); c.stamp.IsZero() || !c.stamp.Equal(at) {
		c.stamp = time.Time{}
		if err := c.read(d); err != nil {
			return err
		}
		if d.Clock.Now().Sub(at) > settled {
			c.stamp = at
		}
	}
	show(c)
	return nil
}

func (c *holdCache) read(d *Desk) error {
	all, err := d.List()
	if err != nil {
		return err
	}
	c.items, c.hashes, c.stores, c.dirs = map[model.Ref]string{}, map[string]string{}, map[string]string{}, map[string]string{}
	for _, r := range all {
		for _, h := range r.Holds {
			c.stores[h.place()] = r.ID
			if h.File != "" {
				c.hashes[h.File] = r.ID
			}
			for _, dir := range strings.Fields(h.Dirs) {
				c.dirs[dir] = r.ID
			}
			c.items[model.Ref{Store: h.place(), ID: h.ID}] = r.ID
			if h.hashed() {
				c.hashes[h.ID] = r.ID
			}
		}
	}
	if len(c.hashes) > 0 {
		if c.key, err = suppress.ReadKey(d.dir("keys", "pseudonym")); err != nil {
			return atomicfile.Pathless(err)
		}
	}
	return nil
}

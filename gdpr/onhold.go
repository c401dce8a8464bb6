package gdpr

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"memdesk/gdpr/suppress"
	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// holds are the holds of some requests, each to be found by its item. They do not change.
type holds struct {
	key    suppress.Key
	items  map[model.Ref]heldBy // by the store's place and the item's id
	hashes map[string]heldBy    // by the hash of both where the id is gone, and by the hash of the item's file
	stores map[string]heldBy    // by place: a hold in the store
	dirs   map[string][]heldBy  // by the hash of a directory or a file: the holds on what is in it
}

// heldBy is a hold and its request; empty for none.
type heldBy struct {
	Hold
	request string
}

// exists reports whether there is a hold.
func (h heldBy) exists() bool { return h.request != "" }

func newHolds() *holds {
	return &holds{items: map[model.Ref]heldBy{}, hashes: map[string]heldBy{}, stores: map[string]heldBy{}, dirs: map[string][]heldBy{}}
}

func (x *holds) add(r *Request) {
	for _, h := range r.Holds {
		by := heldBy{h, r.ID}
		x.stores[h.place()], x.items[model.Ref{Store: h.place(), ID: h.ID}] = by, by
		if h.File != "" {
			x.hashes[h.File] = by
		}
		if h.hashed() {
			x.hashes[h.ID] = by
		}
		for _, dir := range strings.Fields(h.Dirs) {
			x.dirs[dir] = append(x.dirs[dir], by)
		}
	}
}

// located reports whether hashes say where something on hold lies.
func (x *holds) located() bool { return len(x.hashes) > 0 || len(x.dirs) > 0 }

// in are the holds in one store.
func (x *holds) in(s *model.Store) storeHolds {
	if x == nil || len(x.stores) == 0 {
		return storeHolds{}
	}
	h := storeHolds{all: x, places: append(remembered(s), s.Name), path: files(s)}
	if x.located() { // else there is no key for the hashes
		for _, file := range further(s) {
			h.every = cmp.Or(h.every, h.file(file))
		}
		if h.added = h.every; filepath.IsAbs(opened(s)) {
			h.added = cmp.Or(h.added, x.hashes[fileHash(x.key, resolved(opened(s)))])
		}
	}
	h.any = h.every
	for _, place := range h.places {
		h.any = cmp.Or(h.any, x.stores[place])
	}
	if !h.any.exists() && len(x.dirs) > 0 && filepath.IsAbs(opened(s)) {
		h.any = h.around(resolved(opened(s)))
	}
	return h
}

// storeHolds is what was on hold in one store when the desk was asked. It is safe for concurrent use.
type storeHolds struct {
	any    heldBy // keeps something in the store or its files: what names no item, such as a cascade, may take that along
	every  heldBy // keeps every item: it is on a file that a write of any item may change (model.Store.Files)
	added  heldBy // keeps new items out: it is on such a file, or on the store's one file
	all    *holds
	places []string // the identities and the name of the store
	path   func(id string) string
}

// on is the hold on an item.
func (h storeHolds) on(id string) heldBy {
	if h.all == nil || id == "" {
		return heldBy{}
	}
	for _, place := range h.places {
		if by, ok := h.all.items[model.Ref{Store: place, ID: id}]; ok {
			return by
		}
		if len(h.all.hashes) > 0 {
			if by, ok := h.all.hashes[h.all.key.Item(place, id)]; ok {
				return by
			}
		}
	}
	if h.every.exists() || !h.all.located() {
		return h.every
	}
	path := h.path(id)
	if path == "" {
		return heldBy{}
	}
	return h.around(path)
}

// around is the hold on a path, on a part of the file there, on the file of which the path is a part, or on an item to which the
// file, or a directory above it, belongs.
func (h storeHolds) around(path string) heldBy {
	if by := h.file(path); by.exists() {
		return by
	}
	for in := range above(path) {
		if by := h.others(besideHash(h.all.key, in)); by.exists() {
			return by
		}
	}
	return h.others(besideHash(h.all.key, path))
}

// others is a hold of another store in what has a hash. The store's own does not count: the store says itself which writes of
// a file spare a part of it (model.Store.Rewrites).
func (h storeHolds) others(hash string) heldBy {
	for _, by := range h.all.dirs[hash] {
		if !slices.Contains(h.places, by.place()) {
			return by
		}
	}
	return heldBy{}
}

// file is the hold on a path, on a part of the file there, or on the file of which the path is a part.
func (h storeHolds) file(path string) heldBy {
	key := h.all.key
	if by, ok := h.all.hashes[fileHash(key, path)]; ok {
		return by
	}
	if by := h.others(dirHash(key, path)); by.exists() {
		return by
	}
	for in := range above(path) {
		if by, ok := h.all.hashes[fileHash(key, in)]; ok {
			return by
		}
	}
	return heldBy{}
}

// attached reports whether a layer belongs to an item without being its bytes: an extended attribute.
func attached(l model.Layer) bool { return l.Kind != model.LayerItem && l.ItemID != "" }

// heldWith is the file whose hold keeps a layer; empty for none.
func heldWith(l model.Layer) string { return cmp.Or(l.HeldWith, l.File) }

// layer is the hold on a layer beside the items: with the item to which it is attached, or as a file that another store shows.
func (h storeHolds) layer(l model.Layer) heldBy {
	var by heldBy
	if attached(l) {
		by = h.on(l.ItemID)
	}
	if file := heldWith(l); !by.exists() && h.all != nil && h.all.located() && l.Kind == model.LayerDerived && filepath.IsAbs(file) {
		by = h.around(resolved(file))
	}
	return by
}

// by is the request whose hold an item has; empty for none.
func (h storeHolds) by(id string) string { return h.on(id).request }

// holdsIn is what is on hold in a store. An error means that nobody can say.
func (d *Desk) holdsIn(s *model.Store) (storeHolds, error) {
	all, err := d.allHolds()
	return all.in(s), err
}

// grounds returns a function that gives the ground on which an item of a store is kept from a request: the
// request's own ground or, for another request's hold, only that request's id. A hold of the request that
// knows only the store's name or an older identity gets the store's identity here.
func (d *Desk) grounds(r *Request, s model.Store, in storeHolds) (func(id string) string, error) {
	key, err := d.pseudonymKey()
	if err != nil {
		return nil, err
	}
	places, path := remembered(&s), files(&s)
	for i, h := range r.Holds {
		if h.Where == "" && h.Store == s.Name || slices.Contains(places[1:], h.Where) && !h.hashed() {
			r.Holds[i].Where = places[0]
		}
		if h = r.Holds[i]; h.Where == places[0] && !h.hashed() { // not yet located, or by an earlier version
			r.Holds[i].locate(key, &s, path)
		}
	}
	own := newHolds()
	own.key = key
	own.add(r)
	mine := own.in(&s)
	return func(id string) string {
		h, other := mine.on(id), in.by(id)
		switch {
		case !h.exists() && other != "" && other != r.ID:
			return "on hold under request " + other
		case !h.exists():
			return ""
		case slices.Contains(mine.places, h.place()) && (h.ID == id || h.hashed()):
			return cmp.Or(h.Ground, "on hold")
		}
		return h.Ground + "; on hold as " + model.Ref{Store: h.Store, ID: h.ID}.String() // in another store, or as another part of the file
	}, nil
}

// holdCache caches the holds, so that a copy of a hundred thousand items does not read every request each
// time. Each save replaces a file in the directory of requests, which changes the directory's modification
// time.
type holdCache struct {
	mu    sync.Mutex
	stamp time.Time // the directory's time when it was read; zero: it must be read
	holds *holds
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

// allHolds are the holds of all requests; nil where there is no request. They are read again if requests have changed.
func (d *Desk) allHolds() (*holds, error) {
	info, err := os.Stat(d.dir("requests"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, atomicfile.Pathless(err)
	}
	c := &d.holds
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := info.ModTime(); c.stamp.IsZero() || !c.stamp.Equal(at) {
		c.stamp = time.Time{}
		if c.holds, err = d.readHolds(); err != nil {
			return nil, err
		}
		if d.Clock.Now().Sub(at) > settled {
			c.stamp = at
		}
	}
	return c.holds, nil
}

func (d *Desk) readHolds() (*holds, error) {
	all, err := d.List()
	if err != nil {
		return nil, err
	}
	out := newHolds()
	for _, r := range all {
		out.add(&r.Request)
	}
	if out.located() {
		if out.key, err = suppress.ReadKey(d.dir("keys", "pseudonym")); err != nil {
			return nil, atomicfile.Pathless(err)
		}
	}
	return out, nil
}

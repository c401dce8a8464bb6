package gdpr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/gdpr/suppress"
	"memdesk/model"
)

// returned collects the identifiers of suppressed persons, as the stores spell them.
type returned struct {
	ix *suppress.Index

	mu    sync.Mutex
	found map[string][]string // pseudonym → identifiers, each in one spelling
	seen  map[[2]string]bool  // pseudonym and spelling, or what is equal for spellings that one search finds
	sure  map[string]bool     // pseudonyms that were found where nothing is on hold
}

func newReturned(ix *suppress.Index) *returned {
	return &returned{ix: ix, found: map[string][]string{}, seen: map[[2]string]bool{}, sure: map[string]bool{}}
}

// look records the persons that texts name; beside says that a text that names one may stay beside what is on hold. It is
// safe for concurrent use.
func (r *returned) look(beside bool, texts ...string) {
	all := r.ix.Find(true, texts...)
	if len(all) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	first := func(of, text string) bool {
		was := r.seen[[2]string{of, text}]
		r.seen[[2]string{of, text}] = true
		return !was
	}
	for _, m := range all {
		of := m.Person.Pseudonym
		r.sure[of] = r.sure[of] || !beside
		if first(of, m.Text) && first(of, fmt.Sprintf("%s\x00%+v", subject.Normal(m.Text), subject.PatternsOf(m.Text)[0])) {
			r.found[of] = append(r.found[of], m.Text)
		}
	}
}

// attestedFor are the hashes of bytes in a store that were attested for every person.
func attestedFor(persons []suppress.Person, all []Due, s model.Store) map[string]bool {
	var out map[string]bool
	places := s.Identities()
	for i, p := range persons {
		looked := map[string]bool{}
		for _, r := range all {
			for _, a := range r.Attested {
				if r.Pseudonym == p.Pseudonym && slices.Contains(places, a.Where) && (i == 0 || out[a.Sum]) {
					looked[a.Sum] = true
				}
			}
		}
		out = looked
	}
	return out
}

// storeSweep searches one store for suppressed persons.
type storeSweep struct {
	*returned
	s        model.Store
	holds    storeHolds
	attested map[string]bool // hashes of bytes that a person has looked at

	mu     sync.Mutex
	closed []string          // parts that could not be looked into, each once
	unread map[string]string // why items could not be read, by id
}

// store collects the texts of a store that name a suppressed person, except items on hold, and returns what could not be
// looked into.
func (r *returned) store(ctx context.Context, d *Desk, s model.Store, attested map[string]bool) (closed []string, err error) {
	if s.Browser == nil {
		return nil, model.Errorf(model.Unsupported, "gdpr-sweep", "the store cannot be browsed")
	}
	holds, err := d.holdsIn(&s)
	if err != nil {
		return nil, err
	}
	w := &storeSweep{returned: r, s: s, holds: holds, attested: attested, unread: map[string]string{}}
	// What cannot be listed keeps nothing else from being searched.
	problems, failed := eachText(ctx, s, func(t model.Text, err error) bool {
		w.item(ctx, t, err)
		return true
	})
	rows, err := eachQuarantined(ctx, s, func(t model.Text, err error) error {
		w.item(ctx, t, err)
		return nil
	})
	failed = errors.Join(failed, err)
	if slices.ContainsFunc(append(problems, rows...), func(p string) bool { return !isLink(s, p) }) {
		w.notSeen("a part of it cannot be listed")
	}
	if err := w.layers(ctx); err != nil {
		return w.closed, err
	}
	for _, why := range w.unread {
		w.notSeen("an item cannot be read: " + why)
	}
	return w.closed, failed
}

func (w *storeSweep) look(texts ...string) { w.returned.look(w.holds.any.exists(), texts...) }

func (w *storeSweep) held(id string) bool { return w.holds.by(id) != "" }

// notSeen adds a part of the store that was not looked into. It is safe for concurrent use.
func (w *storeSweep) notSeen(why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = including(w.closed, why)
}

// item searches one item, or an entry of the quarantine. It is safe for concurrent use.
func (w *storeSweep) item(ctx context.Context, t model.Text, err error) {
	if w.held(t.ID) || model.KindOf(err) == model.NotFound || err != nil && isLink(w.s, err.Error()) {
		return
	}
	texts := []string{t.Body, t.ID}
	for _, f := range t.Meta {
		texts = append(texts, f.Name, f.Value)
	}
	w.look(texts...)
	switch {
	case err != nil:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.unread[t.ID] = string(model.KindOf(err))
	case subject.Opens(t.Body) || suppress.IsDatabase(t.Body):
		// Reading from memory cannot fail, and the caller checks the context.
		_ = w.open(ctx, strings.NewReader(t.Body), false, func() (string, error) { return itemSum(t.Body), nil })
	}
}

// open opens compressed data and archives, as a verification does. own says that the medium is the store's own database;
// sum is the hash of its bytes.
func (w *storeSweep) open(ctx context.Context, medium io.Reader, own bool, sum func() (string, error)) error {
	closed, err := subject.Each(ctx, medium, func(member string, leaf io.Reader) error {
		rows := own && member == ""
		database, err := suppress.Pieces(leaf, rows, w.look)
		if database && !rows {
			w.notSeen("a database in a file: only its whole words were compared; look inside by hand")
		}
		return err
	}, func(name string) { w.look(name) })
	if len(closed) > 0 && len(w.attested) > 0 && err == nil {
		var s string
		if s, err = sum(); w.attested[s] {
			return err
		}
	}
	for _, why := range closed {
		if _, what, in := strings.Cut(why, ": "); in && strings.HasPrefix(why, "in ") {
			why = what // a member's name may be a person's
		}
		w.notSeen(why)
	}
	return err
}

// layers searches copies beside the items: backups, old versions, temporary files, logs; and the bytes of items that
// could not be read. The rows of the store's own database are items; its file is left to a byte scan with known
// identifiers.
func (w *storeSweep) layers(ctx context.Context) error {
	if w.s.Maintainer == nil {
		return nil
	}
	layers, err := w.s.Maintainer.Layers(ctx)
	if err != nil {
		return err
	}
	for _, l := range layers {
		if l.Kind == model.LayerExternal || l.Kind == model.LayerItem && !l.Readable || w.held(l.ItemID) {
			continue // an attribute of an item on hold stays with it
		}
		w.look(l.ID)
		switch {
		case l.Kind == model.LayerItem && w.unread[l.ItemID] == "":
			continue
		case !l.Readable:
			w.notSeen("a layer beside the items: " + l.Reason)
			continue
		}
		f, err := w.s.Maintainer.OpenLayer(ctx, l.ID)
		if model.KindOf(err) == model.NotFound || err != nil && l.Kind == model.LayerItem {
			continue // gone, or told with the item
		}
		if err != nil {
			return err
		}
		sum := func() (string, error) { return layerSum(ctx, w.s, l, receipt.Layer{}) }
		if err := errors.Join(w.open(ctx, f, l.Rows, sum), f.Close()); err != nil {
			return err
		}
		if l.Kind == model.LayerItem {
			delete(w.unread, l.ItemID)
		}
	}
	return nil
}

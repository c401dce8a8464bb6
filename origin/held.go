package origin

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memdesk/internal/atomicfile"
	"memdesk/internal/exactjson"
	"memdesk/model"
	"memdesk/quarantine"
	"memdesk/quarantine/review"
	"memdesk/quarantine/signal"
)

// Held is a write that waits for an operator: its text is poison, or its writer is not trusted where trust is
// needed.
type Held struct {
	ID       string              `json:"id"` // door/…, the handle for Forget and release
	Store    string              `json:"store"`
	Request  model.RetainRequest `json:"request"`
	Item     string              `json:"item,omitempty"` // id of the item that the request addresses, where the store tells it
	Category string              `json:"category"`
	Pattern  string              `json:"pattern"`
	Signals  []signal.Signal     `json:"signals,omitempty"` // why it looks planted, the heaviest first
	Writer   Writer              `json:"writer"`
	At       time.Time           `json:"at"`
}

// maxHeld is how many writes a shelf keeps (AD10). One more is refused: dropping the oldest would let a writer push
// out the evidence against itself.
const maxHeld = 1000

// maxHeldBytes bounds the files of a shelf together, and maxHeldOne each: a list reads them all, and a full disk stops the
// audit log.
const (
	maxHeldBytes = 64 << 20
	maxHeldOne   = 1 << 20
)

// The verdicts of the gate (AD12).
const (
	CategoryOrigin  = review.CategoryOrigin
	PatternOrigin   = "untrusted_origin"
	CategorySignals = review.CategorySignals
)

// Shelf keeps held writes as files of the state directory, for its owner only. It is
// safe for concurrent use.
type Shelf struct {
	dir   string
	ready func() error
}

// OpenShelf keeps held writes in dir, which ready makes; reading makes nothing.
func OpenShelf(dir string, ready func() error) *Shelf { return &Shelf{dir: dir, ready: ready} }

// Put keeps a write and returns it with its id. A repeated write gets the entry of the first, which names the first
// writer: nobody can put a held write on another's name. RateLimited when the shelf is full.
func (s *Shelf) Put(h Held) (Held, error) {
	key, err := exactjson.Marshal([]any{h.Store, exactjson.Form(h.Request), h.Category})
	if err != nil {
		return h, err
	}
	sum := sha256.Sum256(key)
	h.ID = review.HeldPrefix + hex.EncodeToString(sum[:16])
	if first, err := s.Get(h.ID); err == nil {
		return first, nil
	}
	if err := s.ready(); err != nil {
		return h, err
	}
	if err := atomicfile.MakeDirs(atomicfile.OS{}, s.dir); err != nil {
		return h, err
	}
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return h, err
	}
	data, err := exactjson.Marshal(h)
	if err != nil {
		return h, err
	}
	if len(data) > maxHeldOne {
		return h, model.Errorf(model.InvalidInput, "retain", "the text needs a review, and is too large to be kept for it; nothing was written")
	}
	total := int64(len(data))
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			total += info.Size()
		}
	}
	if len(files) >= maxHeld || total > maxHeldBytes {
		return h, model.Errorf(model.RateLimited, "retain", "the text needs a review, and %d writes wait for one already; nothing was written", len(files))
	}
	return h, atomicfile.Write(s.path(h.ID), data, 0o600)
}

func (s *Shelf) path(id string) string {
	return filepath.Join(s.dir, strings.TrimPrefix(id, review.HeldPrefix)+".json")
}

// List returns the entries of one store, or of all for "", oldest first, and the names of unreadable files.
func (s *Shelf) List(store string) (out []Held, damaged []string, err error) {
	files, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok {
			continue
		}
		h, err := s.Get(review.HeldPrefix + id)
		switch {
		case errors.Is(err, model.NotFound):
		case err != nil:
			damaged = append(damaged, f.Name())
		case store == "" || h.Store == store:
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b Held) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	return out, damaged, nil
}

// Get reads one entry, or is NotFound.
func (s *Shelf) Get(id string) (Held, error) {
	if !review.HeldID(id) {
		return Held{}, model.Errorf(model.NotFound, "held", "no held write has this id")
	}
	data, err := atomicfile.ReadFile(s.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return Held{}, model.Errorf(model.NotFound, "held", "no held write has this id")
	}
	if err != nil {
		return Held{}, model.Errorf(model.Unavailable, "held", "a held write cannot be read")
	}
	var h Held
	if err := exactjson.Unmarshal(data, &h); err != nil || h.ID != id {
		return Held{}, model.Errorf(model.Internal, "held", "a held write is damaged: it can only be deleted")
	}
	return h, nil
}

// holds reports whether a Forget of an id means a held write of a store, or a damaged one, whose store nobody knows. An
// item of that id goes first: undo keeps its text, and nothing keeps a held write's.
func (s *Shelf) holds(ctx context.Context, store *model.Store, id string) (bool, error) {
	if s == nil {
		return false, nil
	}
	h, err := s.Get(id)
	switch {
	case errors.Is(err, model.NotFound) || err == nil && h.Store != store.Name:
		return false, nil
	case err != nil && !errors.Is(err, model.Internal):
		return false, err
	}
	item, _, err := before(ctx, store, id)
	return item == nil, err
}

// Drop removes an entry; an absent one is no error.
func (s *Shelf) Drop(id string) error {
	if err := os.Remove(s.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Erase removes the entries that match and reports how many. An entry is matched as its file, as its texts without
// JSON's escapes, and as a row of the ledger for the item that it addresses.
func (s *Shelf) Erase(match func(data []byte) bool) (int, error) {
	files, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	gone := 0
	for _, f := range files {
		path := filepath.Join(s.dir, f.Name())
		data, err := atomicfile.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return gone, err
		}
		forms := [][]byte{data}
		var h Held
		if exactjson.Unmarshal(data, &h) == nil {
			texts := []string{h.Request.Content, h.Request.ID, h.Request.Key, h.Request.DataSubjectID}
			for _, f := range h.Request.Meta {
				texts = append(texts, f.Value)
			}
			for _, g := range h.Signals {
				texts = append(texts, g.Evidence)
			}
			row, err := exactjson.Marshal(Row{Store: h.Store, ID: cmp.Or(h.Item, h.Request.ID, h.Request.Key), Writer: h.Writer})
			if err != nil {
				return gone, err
			}
			forms = append(forms, []byte(strings.Join(texts, "\n")), row)
		}
		if !slices.ContainsFunc(forms, match) {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return gone, err
		}
		gone++
	}
	return gone, nil
}

// Attach shows a store's held writes in its quarantine and lets Forget remove them. It goes below the policy,
// so that the removal is checked and recorded.
func (s *Shelf) Attach(store model.Store) model.Store {
	store.Quarantine = heldQuarantine{s, store.Name, store.Quarantine}
	store.Provider = heldProvider{store.Provider, s, store}
	return store
}

type heldQuarantine struct {
	shelf *Shelf
	store string
	next  model.Quarantine // nil: the store has none of its own
}

func (q heldQuarantine) Quarantined(ctx context.Context) ([]model.Quarantined, error) {
	var out []model.Quarantined
	if q.next != nil {
		var err error
		if out, err = q.next.Quarantined(ctx); err != nil {
			return nil, err
		}
	}
	held, damaged, err := q.shelf.List(q.store)
	if err != nil {
		return nil, model.Errorf(model.Unavailable, "quarantined", "the held writes cannot be read")
	}
	for _, h := range held {
		e := h.entry()
		e.Body = ""
		out = append(out, e)
	}
	for _, name := range damaged {
		out = append(out, unread(review.HeldPrefix+strings.TrimSuffix(name, ".json")))
	}
	return out, nil
}

func (q heldQuarantine) ReadQuarantined(ctx context.Context, id string) (model.Quarantined, error) {
	if review.HeldID(id) {
		h, err := q.shelf.Get(id)
		if errors.Is(err, model.Internal) {
			return unread(id), nil
		}
		if err != nil || h.Store != q.store {
			return model.Quarantined{}, cmp.Or(err, model.Errorf(model.NotFound, "read-quarantined", "no held write has this id"))
		}
		return h.entry(), nil
	}
	if q.next == nil {
		return model.Quarantined{}, model.Errorf(model.NotFound, "read-quarantined", "%q is no entry", id)
	}
	return q.next.ReadQuarantined(ctx, id)
}

// unread stands for a file that cannot be read. Nobody knows its store, so every store shows it.
func unread(id string) model.Quarantined {
	return model.Quarantined{ID: id, Source: review.HeldSource, Unread: true,
		Problem: "the held write cannot be read: delete it with `memdesk quarantine delete`"}
}

func (h Held) entry() model.Quarantined {
	return model.Quarantined{ID: h.ID, Source: review.HeldSource, SourceID: h.Request.ID, Category: h.Category, Pattern: h.Pattern,
		SHA256: quarantine.Sum(h.Request.Content), At: h.At, Bytes: int64(len(h.Request.Content)), Body: h.Request.Content, Fields: h.fields()}
}

// fields say what the write would do, for the one who decides on it.
func (h Held) fields() []model.Field {
	r := h.Request
	out := slices.DeleteFunc([]model.Field{{Name: "writer", Value: h.Writer.Actor}, {Name: "mode", Value: string(r.Mode)}, {Name: "item", Value: cmp.Or(h.Item, r.ID)},
		{Name: "tier", Value: r.Tier}, {Name: "key", Value: r.Key}, {Name: "agent", Value: r.AgentID}, {Name: "crew", Value: r.CrewID}},
		func(f model.Field) bool { return f.Value == "" })
	for _, f := range r.Meta {
		out = append(out, model.Field{Name: "field " + f.Name, Value: f.Value})
	}
	return out
}

type heldProvider struct {
	model.Provider
	shelf *Shelf
	store model.Store
}

// Forget removes a held write; other requests go to the store.
func (p heldProvider) Forget(ctx context.Context, req model.ForgetRequest) (model.ForgetResult, error) {
	switch held, err := p.shelf.holds(ctx, &p.store, req.ID); {
	case err != nil:
		return model.ForgetResult{}, err
	case !held:
		return p.Provider.Forget(ctx, req)
	}
	if err := p.shelf.Drop(req.ID); err != nil {
		return model.ForgetResult{}, model.Errorf(model.Unavailable, "forget", "the held write cannot be removed")
	}
	return model.ForgetResult{Removed: 1}, nil
}

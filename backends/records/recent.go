package records

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"memdesk/backends/internal/litefile"
	"memdesk/backends/internal/vitals"
	"memdesk/internal/clock"
	"memdesk/internal/drafts"
	"memdesk/internal/safetext"
	"memdesk/internal/statedir"
	"memdesk/model"
)

const (
	watchFor  = 30 * time.Second // a write in place for this long is no longer watched
	reportFor = 24 * time.Hour   // how long Health reports an undone write; its text stays among the drafts
	lookEvery = time.Second      // acts check at most this often
)

// Recent watches memdesk's last writes into a store whose owner's program can undo a write silently, because
// it writes back the whole version that it read before (mcpgraph.md MG10). Texts and the hashes of their
// changes are among the drafts in the state directory, where the next memdesk finds them and an erasure
// reaches them.
type Recent struct {
	drafts *drafts.Folder
	where  string // hash of the store's place

	mu     sync.Mutex
	looked time.Time
}

// NewRecent watches the store at a place. Nothing is made before the first write.
func NewRecent(dir, place string, c clock.Clock) *Recent {
	return &Recent{drafts: drafts.New(filepath.Join(dir, "edit"), c, func() error { return statedir.Ensure(dir) }), where: short(place)}
}

// watched is one write. It is the note of its text, so it is a drafts.Purpose too; a removal has no text,
// only the item's hash.
type watched struct {
	drafts.Purpose
	Where string    `json:"where"`
	Of    string    `json:"of"` // hash of the id
	At    time.Time `json:"at"`
	// Was is the item's earlier revision, Is the written one.
	Was model.Revision `json:"was"`
	Is  model.Revision `json:"is"`
	// Came and Went are hashes of the text's added and removed parts.
	Came []string `json:"came,omitempty"`
	Went []string `json:"went,omitempty"`
}

// state is an item before or after a write; the zero value is an absent one.
type state struct {
	item  model.Item
	there bool
}

func (v state) revision() model.Revision {
	if !v.there {
		return model.Absent
	}
	return v.item.Revision
}

// state is the state of a row; exists is false for none.
func (t *Table) state(r Row, exists bool) state {
	if !exists {
		return state{}
	}
	return state{t.item(r), true}
}

// parts are hashes of the parts that an edit can change one by one.
func (t *Table) parts(v state) (out []string) {
	if !v.there {
		return nil
	}
	texts := []string{v.item.Body}
	if t.Parts != nil {
		texts = t.Parts(v.item.Body)
	}
	for _, f := range v.item.Meta {
		if !f.ReadOnly {
			texts = append(texts, f.Name+"\x00"+f.Value)
		}
	}
	for _, s := range texts {
		out = append(out, short(s))
	}
	return out
}

// undone reports whether a write is no longer in place: the item is as before, or all added parts are gone
// and all removed ones are back.
func (w watched) undone(t *Table, now state) bool {
	switch rev := now.revision(); {
	case rev == w.Is:
		return false
	case rev == w.Was:
		return true
	case !now.there || len(w.Came)+len(w.Went) == 0: // somebody has removed it since, or nothing can tell
		return false
	}
	have := t.parts(now)
	in := func(p string) bool { return slices.Contains(have, p) }
	return !slices.ContainsFunc(w.Came, in) && !slices.ContainsFunc(w.Went, func(p string) bool { return !in(p) })
}

func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// wrote records a write in place of the item's earlier ones. The warnings report a failure.
func (a *store) wrote(t *Table, before, after state) (warnings []string) {
	r := a.Recent
	if r == nil || before.revision() == after.revision() {
		return nil
	}
	id := before.item.ID
	if after.there {
		id = after.item.ID
	}
	had, have := t.parts(before), t.parts(after)
	w := watched{Where: r.where, Of: short(r.where + id), At: a.Clock.Now().UTC(), Was: before.revision(), Is: after.revision(),
		Came: without(have, had), Went: without(had, have)}
	text := ""
	if after.there {
		text = after.item.Document().Encode(t.Tier.Document)
		w.Purpose = drafts.Purpose{Store: a.Name, Label: id, Kind: t.Tier.Document, Req: model.RetainRequest{ID: id, Mode: model.Replace, IfMatch: before.revision()}}
	}
	all, err := r.held(w.Of)
	for _, h := range all {
		if old := h.watched; old.Of == w.Of { // both may be undone at once
			if !h.Lost {
				w.Came, w.Went = append(without(old.Came, w.Went), w.Came...), append(without(old.Went, w.Came), without(w.Went, old.Came)...)
			}
			defer func() { _ = r.drafts.Release(h.Held) }() // if it stays, it is only reported once more
		}
	}
	note, jerr := json.Marshal(w)
	if err == nil && jerr == nil {
		err = r.drafts.Hold(w.Of, id+".md", string(note), text)
	}
	if err != nil {
		return []string{"whether the write stands cannot be watched: " + err.Error()}
	}
	return nil
}

// heldWrite is a held write of this store.
type heldWrite struct {
	drafts.Held
	watched watched
}

// held are the held writes of items, by their hashes, in the order of time; for none given, of all. One of an older memdesk
// is always among them.
func (r *Recent) held(of ...string) (out []heldWrite, err error) {
	all, err := r.drafts.Held(of...)
	for _, h := range all {
		var w watched
		if json.Unmarshal([]byte(h.Note), &w) == nil && w.Where == r.where {
			out = append(out, heldWrite{h, w})
		}
	}
	slices.SortFunc(out, func(a, b heldWrite) int { return a.watched.At.Compare(b.watched.At) })
	return out, err
}

// release ends the watch of items that memdesk itself removed with another one, whose removal is watched.
func (r *Recent) release(ids []string) (warnings []string) {
	if r == nil || len(ids) == 0 {
		return nil
	}
	of := make([]string, len(ids))
	for i, id := range ids {
		of[i] = short(r.where + id)
	}
	all, err := r.held(of...)
	for _, h := range all {
		if slices.Contains(of, h.watched.Of) {
			err = cmp.Or(err, r.drafts.Release(h.Held))
		}
	}
	if err != nil {
		return []string{"what fell with it may be told as undone: " + err.Error()}
	}
	return nil
}

// loss is a write that was undone.
type loss struct {
	id, words string
	first     bool // reported for the first time
}

// lost returns the last undone writes, at every call, and stops watching those that are settled.
func (a *store) lost(ctx context.Context) (out []loss, err error) {
	all, err := a.Recent.held()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return out, a.DB.View(ctx, "health", func(tx Tx) error {
		out = nil
		ids, err := a.ofHashes(tx, all)
		if err != nil {
			return err
		}
		for _, h := range all {
			id := ids[h.watched.Of]
			t, now, err := a.now(tx, id)
			if err != nil {
				return err
			}
			age := a.Clock.Now().Sub(h.watched.At)
			undone := t != nil && h.watched.undone(t, now)
			switch {
			case undone && !h.Lost:
				first, err := a.Recent.drafts.Lose(h.Held)
				if err != nil {
					return model.Errorf(model.Unavailable, "health", "a write that was undone cannot be put aside: %v", err)
				}
				out = append(out, loss{id, a.words(h.watched, id), first})
			case undone && age < reportFor:
				out = append(out, loss{id, a.words(h.watched, id), false})
			case undone, h.Lost, age >= watchFor:
				_ = a.Recent.drafts.Release(h.Held) // if it stays, it is checked again
			}
		}
		return nil
	})
}

// ofHashes finds the ids of writes: those of removals among the existing items.
func (a *store) ofHashes(tx Tx, all []heldWrite) (map[string]string, error) {
	out := map[string]string{}
	removals := false
	for _, h := range all {
		if out[h.watched.Of] = h.watched.Req.ID; h.watched.Req.ID == "" {
			removals = true
		}
	}
	for i := 0; removals && i < len(a.Tables); i++ {
		t := &a.Tables[i]
		keys, err := litefile.Texts(tx, `SELECT `+t.Key+` FROM `+t.From+t.where(true))
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			id := t.id(key)
			of := short(a.Recent.where + id)
			if known, wanted := out[of]; wanted && known == "" {
				out[of] = id
			}
		}
	}
	return out, nil
}

// now reads an item; t is nil for an empty id and for one that is not this store's.
func (a *store) now(tx Tx, id string) (t *Table, v state, err error) {
	t, key, err := a.locate("health", id)
	if err != nil {
		return nil, state{}, nil
	}
	row, found, err := t.row(tx, key)
	return t, t.state(row, found), err
}

// words say what happened to a write and how to repeat it.
func (a *store) words(w watched, id string) string {
	what, command, again := "write", "retain %s --mode replace --kept", "writes it"
	if w.Is == model.Absent {
		what, command, again = "removal", "forget %s", "removes it"
	}
	return fmt.Sprintf("the %s of %s was undone: `memdesk "+command+"` %s again. The program that owns the store wrote back what it had read before",
		what, w.At.Format("15:04:05 MST"), safetext.Word(model.Ref{Store: a.Name, ID: id}.String()), again)
}

// recentLosses returns the warnings of an act about undone writes, each once.
func (a *store) recentLosses(ctx context.Context) (warnings []string) {
	r := a.Recent
	if r == nil {
		return nil
	}
	r.mu.Lock()
	due := a.Clock.Now().Sub(r.looked) >= lookEvery
	if due {
		r.looked = a.Clock.Now()
	}
	r.mu.Unlock()
	if !due {
		return nil
	}
	lost, err := a.lost(ctx)
	if err != nil {
		return []string{"whether the last writes stand is not known: " + vitals.Words(err, a.Location)}
	}
	for _, l := range lost {
		if l.first {
			warnings = append(warnings, model.EncodeID(l.id)+": "+l.words)
		}
	}
	return warnings
}

// lossFindings are the findings of Health about them.
func (a *store) lossFindings(ctx context.Context) (out []model.HealthFinding) {
	if a.Recent == nil {
		return nil
	}
	lost, err := a.lost(ctx)
	if err != nil {
		return []model.HealthFinding{Finding(model.FindingUnread, "", "whether the last writes stand is not known: "+vitals.Words(err, a.Location))}
	}
	for _, l := range lost {
		out = append(out, Finding("lost", l.id, l.words))
	}
	return out
}

func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

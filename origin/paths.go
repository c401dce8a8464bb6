package origin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"memdesk/internal/filelock"
	"memdesk/internal/linefile"
	"memdesk/model"
	"memdesk/quarantine"
)

// Paths are the names that the memory face gave to items of stores that make their own ids (agents-door.md
// AD22): a file of the state directory beside the ledger, erased like it. The zero value knows no names and
// accepts none.
type Paths struct {
	file linefile.File // without a path: names cannot be kept

	mu   sync.Mutex
	seen linefile.Follower
	ids  map[string]pathRow // by store and id
	own  map[string]string  // id by store, tier and name

	// Names reports whether texts name an erased person; no item gets such a name. Nil: nobody is erased. On
	// an error no name is given.
	Names func(texts ...string) (bool, error)
	// Record runs a rename between its two records in the audit log. Nil records nothing.
	Record func(ctx context.Context, store, id string, rename func(context.Context) error) error
}

type pathRow struct {
	Store string `json:"store"`
	Tier  string `json:"tier"`
	Name  string `json:"name"`
	ID    string `json:"id"`
}

// OpenPaths keeps names in dir, which ready makes; reading makes nothing.
func OpenPaths(dir string, ready func() error) *Paths {
	return &Paths{file: linefile.File{Path: filepath.Join(dir, "paths.jsonl"), Ready: ready}}
}

// Lock keeps every other session and process from making a name in a store until unlock: from the look whether it is free
// to Set. Locked where another one takes too long.
func (p *Paths) Lock(store string) (unlock func(), err error) {
	if p.file.Path == "" {
		return func() {}, nil // Set refuses
	}
	if err := p.file.Begin(); err != nil {
		return nil, err
	}
	if unlock, err = filelock.Hold(context.Background(), p.file.Path+".make."+store+".lock", true); err != nil {
		err = model.Errorf(model.Locked, "name", "another program makes a name in the store, or the lock cannot be taken: %w", err)
	}
	return unlock, err
}

// Set names an item, in place of its earlier name.
func (p *Paths) Set(store, tier, id, name string) error {
	if err := p.Check(name, id); err != nil {
		return err
	}
	if p.file.Path == "" {
		return model.Refuse("name", "there is no place where names are kept")
	}
	line, err := json.Marshal(pathRow{store, tier, name, id})
	if err != nil {
		return err
	}
	return p.file.Add(append(line, '\n'))
}

// Rename is Set as an act of its own: no write of the item records it.
func (p *Paths) Rename(ctx context.Context, store, tier, id, name string) error {
	rename := func(context.Context) error { return p.Set(store, tier, id, name) }
	if p.Record == nil {
		return rename(ctx)
	}
	return p.Record(ctx, store, id, rename)
}

var errErased = model.Refuse("name", "it names a person whose data was erased; nothing was written")

// IsErased reports whether err refuses a name because it names an erased person.
func IsErased(err error) bool { return errors.Is(err, errErased) }

// Check is PermissionDenied for a name that names an erased person, or that the scanner rejects: agents read
// the names of files.
func (p *Paths) Check(texts ...string) error {
	for _, t := range texts {
		if v, hit := quarantine.Scan(t); hit {
			return model.Refuse("name", fmt.Sprintf("the scanner rejects the name (%s / %s); nothing was written", v.Category, v.Pattern))
		}
	}
	if p.Names == nil {
		return nil
	}
	erased, err := p.Names(texts...)
	switch {
	case err != nil:
		return model.Refuse("name", "nobody can say who is erased: "+err.Error())
	case erased:
		return errErased
	}
	return nil
}

// Name is the name of an item in a tier; false when it has none.
func (p *Paths) Name(store, tier, id string) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.load()
	r, ok := p.ids[store+"\x00"+id]
	return r.Name, ok && r.Tier == tier
}

// ID is the item with a name in a tier; false when there is none.
func (p *Paths) ID(store, tier, name string) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.load()
	id, ok := p.own[store+"\x00"+tier+"\x00"+name]
	return id, ok
}

// load reads the file when it has changed. The caller holds mu. An unreadable file has no names: items are
// then called by their ids.
func (p *Paths) load() {
	if p.file.Path == "" {
		return
	}
	anew := func() { p.ids, p.own = map[string]pathRow{}, map[string]string{} }
	err := p.seen.Look(p.file.Path, anew, func(line []byte) {
		var r pathRow
		if json.Unmarshal(line, &r) != nil {
			return
		}
		name := r.Store + "\x00" + r.Tier + "\x00" + r.Name
		if old, ok := p.ids[r.Store+"\x00"+r.ID]; ok {
			delete(p.own, old.Store+"\x00"+old.Tier+"\x00"+old.Name)
		}
		if other, ok := p.own[name]; ok { // forgotten when the name was given again; an undo may bring it back
			delete(p.ids, r.Store+"\x00"+other)
		}
		p.ids[r.Store+"\x00"+r.ID] = r
		p.own[name] = r.ID
	})
	if err != nil {
		p.seen = linefile.Follower{}
		anew()
	}
}

// Erase removes the names that match and reports how many.
func (p *Paths) Erase(match func(line []byte) bool) (int, error) {
	if p.file.Path == "" {
		return 0, nil
	}
	return p.file.Erase(match)
}

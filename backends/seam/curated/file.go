package curated

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// fileLimit is the largest file that is read, in bytes; a file at its cap has some thousands.
const fileLimit = 4 << 20

// fileMode is the mode that the agent's own writer gives a new file.
const fileMode = 0o600

// fileNames are the files, in the order in which their locks are taken.
var fileNames = []string{"MEMORY.md", "USER.md"}

// file is the content of one of the two.
type file struct {
	name    string
	raw     string
	exists  bool
	entries []entry
	size    int64  // of the entries as they are written
	drift   string // why it must not be changed; empty when it may be
	bad     error  // why it is unreadable; nothing else is known then
}

// root opens the directory of the files.
func (s *store) root() (*rootdir.Dir, error) {
	d, err := rootdir.Open(s.path, s.cfg.Fault)
	if model.KindOf(err) == model.NotFound {
		return nil, model.Errorf(model.Unavailable, "open", "its directory is gone; mount it or correct its path")
	}
	return d, err
}

// load reads one file. An absent one has no entries; an unreadable one is bad, never empty.
func (s *store) load(d *rootdir.Dir, name string) file {
	f := file{name: name}
	data, _, err := d.Read(name, fileLimit)
	switch {
	case errors.Is(err, model.NotFound):
		return f
	case err != nil:
		f.bad = err
		return f
	}
	f.raw, f.exists = string(data), true
	if !utf8.Valid(data) {
		f.bad = model.Errorf(model.InvalidInput, "read", "%s is not UTF-8 text (a § typed as Latin-1, perhaps): convert it first", name)
		return f
	}
	f.entries = parse(f.raw)
	f.size = runes(f.entries)
	f.drift = drift(f.raw, f.entries, s.limit(name))
	return f
}

// both reads the two files.
func (s *store) both(ctx context.Context, op string) ([]file, error) {
	if err := model.FromContext(ctx, op); err != nil {
		return nil, err
	}
	d, err := s.root()
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var out []file
	for _, name := range fileNames {
		out = append(out, s.load(d, name))
	}
	return out, nil
}

// checkChangeable refuses an unreadable file, and one that its own agent would not change.
func (f file) checkChangeable(op, store string) error {
	if f.bad != nil {
		return f.bad
	}
	if f.drift == "" {
		return nil
	}
	return model.Refuse(op, f.remedy(store))
}

// remedy says why a file must not be changed, and how to repair it.
func (f file) remedy(store string) string {
	ref := model.Ref{Store: store, ID: f.name}
	return fmt.Sprintf("%s has drifted and is read-only: %s. To repair it, with a backup: `memdesk show --raw %s | memdesk retain %s --mode replace -`", f.name, f.drift, ref, ref)
}

// change rewrites one file. decide is called twice: on the current file, so that a refusal makes no lock,
// and again under the lock. It returns the new entries, or nil for no change. ahead runs just before the write, and may prevent it;
// nil: nobody waits for it.
func (s *store) change(ctx context.Context, op, name string, decide func(file) ([]entry, error), ahead func() error) error {
	d, err := s.root()
	if err != nil {
		return err
	}
	defer d.Close()
	if next, err := decide(s.load(d, name)); err != nil || next == nil {
		return err
	}
	lock, err := d.Lock(ctx, name+".lock", fileMode)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	now := s.load(d, name)
	next, err := decide(now)
	if err != nil || next == nil {
		return err
	}
	if err := model.FromContext(ctx, op); err != nil {
		return err
	}
	if now.drift != "" {
		if err := s.backup(d, now); err != nil {
			return err
		}
	}
	if ahead != nil {
		if err := ahead(); err != nil {
			return err
		}
	}
	return s.put(d, op, name, join(next))
}

// put writes a file as the agent does and reads it back.
func (s *store) put(d *rootdir.Dir, op, name, text string) error {
	err := d.Write(name, []byte(text), rootdir.New{Mode: fileMode, Inherit: true, Temp: func(r string) string { return ".mem_" + r + ".tmp" }})
	if err != nil {
		return err
	}
	data, _, err := d.Read(name, fileLimit)
	switch {
	case err != nil:
		return model.Errorf(model.Unavailable, op, "written, but it cannot be read back: %w", err)
	case string(data) != text:
		return model.Errorf(model.Unavailable, op, "written, but %s reads otherwise: somebody wrote it without its lock; look at it again", name)
	}
	return nil
}

// backup keeps a drifted file beside itself, as the agent's own guard does.
func (s *store) backup(d *rootdir.Dir, f file) error {
	at := s.clock.Now().Unix()
	for ; ; at++ { // never over an older backup
		name := fmt.Sprintf("%s.bak.%d", f.name, at)
		_, err := d.Stat(name)
		if err == nil {
			continue
		}
		if !errors.Is(err, model.NotFound) {
			return err
		}
		return d.Write(name, []byte(f.raw), rootdir.New{Mode: fileMode, Inherit: true})
	}
}

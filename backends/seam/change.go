package seam

import (
	"context"
	"errors"
	"time"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// Edit is the effect of a decision on a file: new bytes, its removal, or nothing.
type Edit struct {
	Data   []byte
	Remove bool
	Keep   bool
	// Kept has the mode that a file which is made again had before; nil: it gets the store's own.
	Kept *model.Beside
}

// Changed describes the side effects of a change.
type Changed struct {
	// Copies are the new conflict copies beside the file: another writer's unseen content, or, when Overtaken,
	// the content that this change wrote.
	Copies []Locator
	// Overtaken: another writer's bytes are in the file already.
	Overtaken bool
}

// decideTries bounds the new decisions on a change because another writer was faster.
const decideTries = 50

// Change lets decide look at a file's bytes (exists is false for an absent one) and carries out its
// decision, while every writer that honours the store's locks is kept out. decide is called first without
// any lock, so that a refusal makes nothing, and again each time that another writer changed the file
// between the read and the exchange; so it must have no effect of its own. Its error is returned unchanged,
// with nothing changed.
//
// On Linux even a writer that takes no lock loses nothing: its bytes are decided on anew, or are in one of
// Copies. Elsewhere its write between the last read and the rename is lost.
func (d *Dir) Change(ctx context.Context, op string, at Locator, decide func(old []byte, exists bool) (Edit, error)) (Changed, error) {
	if at.IsRoot() {
		return Changed{}, model.Errorf(model.InvalidInput, op, "the root is a directory: name a file below it")
	}
	first, err := d.foresee(ctx, op, at, decide)
	if err != nil || first.Keep {
		return Changed{}, err
	}
	var out Changed
	err = d.writing(ctx, op, func(root *rootdir.Dir, held Held) error {
		for range decideTries {
			if err := model.FromContext(ctx, op); err != nil {
				return err
			}
			done, err := d.attempt(ctx, op, root, held, at, decide)
			out.add(done)
			if !errors.Is(err, rootdir.ErrChanged) {
				return err
			}
		}
		return model.Errorf(model.Conflict, op, "%q: another writer changes it again and again; try later", at.Key())
	})
	return out, err
}

func (c *Changed) add(s rootdir.Swapped) {
	c.Overtaken = c.Overtaken || s.Overtaken
	for _, n := range s.Copies {
		c.Copies = append(c.Copies, Locator{n})
	}
}

// foresee decides on the current bytes without a lock.
func (d *Dir) foresee(ctx context.Context, op string, at Locator, decide func([]byte, bool) (Edit, error)) (Edit, error) {
	var edit Edit
	err := d.reading(ctx, op, func(root *rootdir.Dir) error {
		var seen rootdir.Seen
		var err error
		if root != nil {
			if seen, err = look(root, at); err != nil {
				return err
			}
		}
		edit, err = decided(seen, at, decide)
		return err
	})
	return edit, err
}

// decided is the decision on a file. One that is too large to be looked into can only be removed.
func decided(seen rootdir.Seen, at Locator, decide func([]byte, bool) (Edit, error)) (Edit, error) {
	edit, err := decide(seen.Data, seen.Exists)
	if seen.Large != nil && (err != nil || !edit.Remove && !edit.Keep) {
		return Edit{}, model.Errorf(model.Unsupported, "change", "%q: %w of %d bytes: it can only be removed, without an expected revision", at.Key(), rootdir.ErrTooLarge, rootdir.MaxRead)
	}
	return edit, err
}

func look(root *rootdir.Dir, at Locator) (rootdir.Seen, error) {
	data, m, err := root.Read(at.Key(), 0)
	switch {
	case errors.Is(err, model.NotFound):
		return rootdir.Seen{}, nil
	case errors.Is(err, rootdir.ErrTooLarge):
		return rootdir.Seen{Exists: true, Large: &m}, nil
	}
	return rootdir.Seen{Exists: err == nil, Data: data}, err
}

// attempt decides once under the lock and carries out the decision.
func (d *Dir) attempt(ctx context.Context, op string, root *rootdir.Dir, held Held, at Locator, decide func([]byte, bool) (Edit, error)) (rootdir.Swapped, error) {
	seen, err := look(root, at)
	if err != nil {
		return rootdir.Swapped{}, err
	}
	edit, err := decided(seen, at, decide)
	if err != nil || edit.Keep {
		return rootdir.Swapped{}, err
	}
	guard := func() error {
		if err := model.FromContext(ctx, op); err != nil {
			return err
		}
		return held.Check()
	}
	now := d.opt.Clock.Now().Truncate(time.Second)
	if edit.Remove {
		return root.Take(at.Key(), seen, now, guard)
	}
	if err := root.MkdirAll(name(at.Parent()), d.opt.RootMode); err != nil {
		return rootdir.Swapped{}, err
	}
	return root.Swap(at.Key(), seen, edit.Data, rootdir.New{Mode: rootdir.Again(d.opt.FileMode, edit.Kept), Inherit: true}, now, guard)
}

package undo

import (
	"time"

	"memdesk/model"
)

// Removed returns the items that changes removed from a store, and when, as long as their texts are kept.
// Restored items are not among them.
func (k *Keeper) Removed(s model.Store) (map[string]time.Time, error) {
	entries, _, err := k.List()
	if err != nil {
		return nil, err
	}
	out := map[string]time.Time{}
	note := func(id string, after model.Revision, existed bool, at time.Time) {
		if after == model.Absent && existed && out[id].Before(at) {
			out[id] = at
		}
	}
	place := s.Identity()
	for _, e := range entries {
		switch {
		case e.Store != s.Name || e.Where != place:
		case len(e.Sides) == 0:
			note(e.Item, e.After, e.Existed, e.At)
		case e.After != "": // otherwise it was interrupted, and is reported as that
			for _, side := range e.Sides {
				note(side.Item, side.After, side.Existed, e.At)
			}
		}
	}
	return out, nil
}

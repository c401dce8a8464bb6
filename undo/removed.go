package undo

import (
	"time"

	"memdesk/model"
)

// Removed gives the items that changes took out of a store, and when, as far as
// what they displaced is still kept. What has been put back is not among them.
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
		case e.After != "": // else it was interrupted, and is told as that
			for _, side := range e.Sides {
				note(side.Item, side.After, side.Existed, e.At)
			}
		}
	}
	return out, nil
}

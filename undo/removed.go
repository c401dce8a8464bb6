package undo

import (
	"slices"
	"time"

	"memdesk/model"
)

// Removed returns the items that the changes of entries removed from a store, and when. Restored items are not
// among them.
func Removed(entries []Entry, s model.Store) map[string]time.Time {
	out := map[string]time.Time{}
	places := s.Identities()
	for _, e := range entries {
		if e.Store != s.Name || !slices.Contains(places, e.Where) || e.After == "" { // interrupted, and reported as that
			continue
		}
		for _, side := range e.AllSides() {
			if side.After == model.Absent && side.Existed && out[side.Item].Before(e.At) {
				out[side.Item] = e.At
			}
		}
	}
	return out
}

package model

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
)

// Identity says which store this is, beyond its name: its kind and its place, a file or
// directory by what its path leads to now. Whatever is remembered of a store (undo, holds,
// plans, jobs) is remembered with it, so that a name or a link that comes to mean another
// store is noticed. It asks the disk at each call: a link may be turned while a store is open.
func (s Store) Identity() string {
	location := s.Location
	if filepath.IsAbs(location) {
		if real, err := filepath.EvalSymlinks(location); err == nil {
			location = real
		}
	}
	h := sha256.Sum256([]byte(s.Kind + "\x00" + location))
	return hex.EncodeToString(h[:8])
}

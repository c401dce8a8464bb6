package model

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
)

// Identity identifies a store beyond its name: by its kind and its place, a file or directory by the current
// target of its path. All that is remembered about a store (undo, holds, plans, jobs) is stored with its
// identity, so a name or a link that later means another store is noticed. It asks the disk at each call: a
// link may be changed while a store is open.
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

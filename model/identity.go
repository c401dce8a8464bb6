package model

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
)

const workspacePart = ", workspace "

// InWorkspace is the location of a store that shares its files with the other workspaces of a database.
func InWorkspace(database, workspace string) string { return database + workspacePart + workspace }

// Medium is the place of the files in which the store's items lie: all workspaces of a database have the same.
func (s Store) Medium() string {
	database, _, _ := strings.Cut(s.Location, workspacePart)
	return s.Kind + " " + database
}

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

package model

import (
	"cmp"
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
	database, _, _ := strings.Cut(cmp.Or(s.Place, s.Location), workspacePart)
	return s.Kind + " " + database
}

// Identity identifies a store beyond its name: by its kind and its place, a file or directory by the current
// target of its path. All that is remembered about a store (undo, holds, plans, jobs) is stored with its
// identity, so a name or a link that later means another store is noticed. It asks the disk at each call: a
// link may be changed while a store is open.
func (s Store) Identity() string { return s.identity(cmp.Or(s.Place, s.Location)) }

// Identities returns all identities under which the store may be remembered. The first is Identity; the second,
// where it differs, is that of Location, which earlier versions used. What is stored with an identity belongs to
// the store when it is any of them.
func (s Store) Identities() []string {
	out := []string{s.Identity()}
	if old := s.identity(s.Location); old != out[0] {
		out = append(out, old)
	}
	return out
}

func (s Store) identity(place string) string {
	if filepath.IsAbs(place) {
		if real, err := filepath.EvalSymlinks(place); err == nil {
			place = real
		}
	}
	h := sha256.Sum256([]byte(s.Kind + "\x00" + place))
	return hex.EncodeToString(h[:8])
}

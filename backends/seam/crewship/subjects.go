package crewship

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	"memdesk/model"
)

// Concerning finds the peer cards and user models of a person: their file names
// are a hash of the user's id and the workspace (crewship-disk.md, Tiers). Nothing
// else in the files carries a key of a person.
func (s *store) Concerning(ctx context.Context, subjects []string, yield func(model.SubjectHit) bool) error {
	snap, err := s.look(ctx)
	if err != nil {
		return err
	}
	slugs := map[string]string{} // subject by slug, in every workspace there is
	for _, ws := range snap.workspaces() {
		for _, subject := range subjects {
			slugs[userSlug(subject, ws)] = subject
		}
	}
	for _, e := range snap.entries {
		if dir := path.Base(path.Dir(e.label)); dir != "peers" && dir != "users" {
			continue
		}
		subject, ok := slugs[strings.TrimSuffix(path.Base(e.label), ".md")]
		if ok && !yield(model.SubjectHit{ID: e.id, Subject: subject, Reason: "its name is the hash of this user's id"}) {
			return nil
		}
	}
	return nil
}

// workspaces are the ids that the database and the paths tell.
func (snap *snapshot) workspaces() []string {
	seen := map[string]bool{}
	var out []string
	add := func(id string) {
		if id != "" && !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	for id := range snap.names.workspaces {
		add(id)
	}
	for _, p := range snap.memories {
		add(p.workspace)
	}
	return out
}

// userSlug names a person's files: the first 16 hex digits of SHA-256 over the
// user's id, a NUL and the workspace's id.
func userSlug(user, workspace string) string {
	sum := sha256.Sum256([]byte(user + "\x00" + workspace))
	return hex.EncodeToString(sum[:])[:16]
}

package crewship

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"path"
	"strings"

	"memdesk/model"
)

// Concerning finds the peer cards and user models of a subject: their file names are a hash of the user's
// id and the workspace (crewship-disk.md, Tiers). Nothing else in the files carries a key of the subject.
// Without the workspaces' ids nobody can say whose a card is: Unavailable where one is there. The database also
// has the user's names; an unreadable one costs these, as it costs all others.
func (s *store) Concerning(ctx context.Context, subjects []string, yield func(model.SubjectHit) bool) error {
	snap, err := s.look(ctx)
	if err != nil {
		return err
	}
	slugs, unknown := snap.userSlugs(subjects), s.unknownOwners(snap)
	for p, f := range snap.all() {
		if unknown != nil && inCards(f.Path()) {
			return unknown
		}
		if isCard(slugs, f.Path()) && !yield(model.SubjectHit{ID: p.memory.prefix + f.Path(), Subject: slugs[stem(f.Name())], Reason: "its name is the hash of this user's id"}) {
			return nil
		}
	}
	blocked, err := s.Quarantined(ctx)
	if err != nil {
		return err
	}
	for _, q := range blocked {
		if unknown != nil && inCards(q.Source) {
			return unknown
		}
		if isCard(slugs, q.Source) && !yield(model.SubjectHit{ID: q.ID, Subject: slugs[stem(path.Base(q.Source))], Reason: "it was blocked under a name that is the hash of this user's id"}) {
			return nil
		}
	}
	return s.called(ctx, subjects, yield)
}

// userSlugs are subjects by the names of their files in every workspace there is.
func (snap *snapshot) userSlugs(subjects []string) map[string]string {
	slugs := map[string]string{}
	for _, ws := range snap.workspaces() {
		for _, subject := range subjects {
			slugs[userSlug(subject, ws)] = subject
		}
	}
	return slugs
}

// isCard reports whether a label is that of a peer card or user model of one of the subjects.
func isCard(slugs map[string]string, label string) bool {
	_, ok := slugs[stem(path.Base(label))]
	return ok && inCards(label)
}

// inCards reports whether a label's directory holds peer cards or user models.
func inCards(label string) bool {
	dir := path.Base(path.Dir(label))
	return dir == "peers" || dir == "users"
}

// unknownOwners is the error of a store whose cards nobody can tie to a user, because the database, which has
// the workspaces, cannot be read. Without a database the paths or the configuration tell them, where they do.
func (s *store) unknownOwners(snap *snapshot) error {
	why := snap.names.problem
	switch known := len(snap.workspaces()) > 0; {
	case why == "", known && (s.at.single || s.at.db == ""):
		return nil
	case s.at.single:
		why += ": set workspace in its configuration"
	}
	return model.Errorf(model.Unavailable, "subjects", "whose the peer cards and user models are is told by crewship.db, and %s", why)
}

func stem(base string) string { return strings.TrimSuffix(base, ".md") }

// called returns the database's names of the users.
func (s *store) called(ctx context.Context, users []string, yield func(model.SubjectHit) bool) error {
	var hits []model.SubjectHit
	err := database{s.at.db}.read(ctx, func(q *sql.DB) error {
		hits = nil // it may be read once more
		for _, user := range users {
			var name, mail sql.NullString
			err := q.QueryRowContext(ctx, "SELECT full_name, email FROM users WHERE id = ?", user).Scan(&name, &mail)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return err
			}
			hits = append(hits, model.SubjectHit{Subject: user, Reason: "full_name", Called: name.String}, model.SubjectHit{Subject: user, Reason: "email", Called: mail.String})
		}
		return nil
	})
	if err != nil {
		return model.FromContext(ctx, "subjects")
	}
	for _, h := range hits {
		if h.Called != "" && !yield(h) {
			break
		}
	}
	return nil
}

// workspaces are the ids in the database and in the paths.
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

// userSlug names a subject's files: the first 16 hex digits of SHA-256 over the user's id, a NUL and the
// workspace's id.
func userSlug(user, workspace string) string {
	sum := sha256.Sum256([]byte(user + "\x00" + workspace))
	return hex.EncodeToString(sum[:])[:16]
}

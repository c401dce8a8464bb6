package tracker

import (
	"strings"

	"memdesk/backends/internal/snippet"
	"memdesk/model"
)

// groups are the words of B6 in their order; the first match wins.
var groups = []struct {
	kind  model.Kind
	words []string
}{
	{model.NotFound, []string{"not found", "no such", "does not exist"}},
	{model.AlreadyExists, []string{"already exists", "duplicate"}},
	{model.Locked, []string{"lock"}},
	{model.Timeout, []string{"timed out", "timeout"}},
	{model.PermissionDenied, []string{"permission denied", "unauthorized", "eacces"}},
	{model.Unavailable, []string{"busy", "unavailable", "unable to open"}},
}

// Classify is the published classification of a command's text (B6). Every text that contains "lock" counts
// as a lock, blocked and clock included.
func Classify(text string) model.Kind {
	text = strings.ToLower(text)
	for _, g := range groups {
		for _, w := range g.words {
			if strings.Contains(text, w) {
				return g.kind
			}
		}
	}
	return model.Internal
}

// ClassifyStrictly is Classify with "lock" as a whole word: a text about a blocked item or the clock is no
// reason to retry.
func ClassifyStrictly(text string) model.Kind {
	kind := Classify(text)
	if kind != model.Locked {
		return kind
	}
	text = strings.ToLower(text)
	for _, w := range strings.FieldsFunc(text, snippet.NotWord) {
		switch w {
		case "lock", "locked", "locks", "locking", "deadlock", "lockfile", "flock":
			return model.Locked
		}
	}
	rest := strings.NewReplacer("lock", "").Replace(text)
	return Classify(rest)
}

// refusals are the words with which bd and kno refuse a call, in their order; the first match wins
// (beads-foolery-knots.md, The real bd and kno). A refused call changed nothing.
var refusals = []struct {
	kind  model.Kind
	words []string
}{
	{model.Conflict, []string{"stale profile_etag", "cannot close", "already claimed", "invalid state transition", "terminal_cascade", "may only resume"}},
	{model.NotFound, []string{"no issue found", "no issues found"}},
	{model.InvalidInput, []string{
		"invalid ", "validation failed", "cannot be empty", "is required", "prefix mismatch", "self-dependency", "a cycle", "unknown flag", "unknown command",
		"empty description", "unrecognized subcommand", "unexpected argument",
	}},
}

// Refusal is the kind of a program's sentence.
func Refusal(sentence string) model.Kind {
	low := strings.ToLower(sentence)
	for _, r := range refusals {
		for _, w := range r.words {
			if strings.Contains(low, w) {
				return r.kind
			}
		}
	}
	return ClassifyStrictly(sentence)
}

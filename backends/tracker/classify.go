package tracker

import (
	"slices"
	"strings"

	"memdesk/backends/internal/snippet"
	"memdesk/model"
)

// words are the words of each kind of failure; the first match wins.
type words []struct {
	kind  model.Kind
	words []string
}

// kind is the kind of a text in lower case; false for one without such a word.
func (w words) kind(text string) (model.Kind, bool) {
	for _, g := range w {
		if slices.ContainsFunc(g.words, func(word string) bool { return strings.Contains(text, word) }) {
			return g.kind, true
		}
	}
	return model.Internal, false
}

// groups are the words of B6 in their order.
var groups = words{
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
	kind, _ := groups.kind(strings.ToLower(text))
	return kind
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
	return Classify(strings.ReplaceAll(text, "lock", ""))
}

// refusals are the words with which bd and kno refuse a call, in their order (beads-foolery-knots.md, The real
// bd and kno). A refused call changed nothing.
var refusals = words{
	{model.Conflict, []string{"stale profile_etag", "cannot close", "already claimed", "invalid state transition", "terminal_cascade", "may only resume"}},
	{model.NotFound, []string{"no issue found", "no issues found"}},
	{model.InvalidInput, []string{
		"invalid ", "validation failed", "cannot be empty", "is required", "prefix mismatch", "self-dependency", "a cycle", "unknown flag", "unknown command",
		"empty description", "unrecognized subcommand", "unexpected argument",
	}},
}

// Refusal is the kind of a program's sentence.
func Refusal(sentence string) model.Kind {
	if kind, ok := refusals.kind(strings.ToLower(sentence)); ok {
		return kind
	}
	return ClassifyStrictly(sentence)
}

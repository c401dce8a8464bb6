package gdpr

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"memdesk/gdpr/subject"
	"memdesk/model"
)

// An item is tagged with a person by a field, or by a key of a JSON object in a field, that says whom the
// item concerns. A person in any other role, such as the reviewer, is only named there: the item is not about
// that person.

// subjectKeys say whom an item concerns: crewship-disk.md (data_subject_id, user_id), crewship-http.md
// (data_subject), provider-contract.md R33, and keys that agents write instead.
var subjectKeys = []string{"data_subject_id", "data_subject", "subject_id", "subject", "user_id", "target_user_id", "person", "person_id"}

// ownerKeys name an item's owner (gateway-curated.md: user_key). They tag the item with the subject; another
// owner does not make it another person's. In a tracker the owner is the worker.
var ownerKeys = []string{"user", "user_key", "owner", "owner_id"}

// tagged reports whether a field says that the item concerns the subject.
func tagged(m *subject.Matcher, f model.Field, tracker bool) bool {
	keys := slices.Concat(subjectKeys, ownerKeys)
	if tracker {
		keys = subjectKeys
	}
	return slices.ContainsFunc(taggedIn(f, keys), func(v string) bool { return isIdentifier(m, v) })
}

// taggedIn returns the persons that a field, or a JSON object in it, names under keys.
func taggedIn(f model.Field, keys []string) []string {
	var out []string
	add := func(v any) {
		switch v := v.(type) {
		case string:
			if v != "" {
				out = append(out, v)
			}
		case []any:
			for _, e := range v {
				if s, ok := e.(string); ok && s != "" {
					out = append(out, s)
				}
			}
		}
	}
	var parsed any
	if value := strings.TrimSpace(f.Value); strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[") {
		_ = json.Unmarshal([]byte(value), &parsed) // a value that is no JSON is plain
	}
	own := slices.Contains(keys, strings.ToLower(f.Name))
	switch v := parsed.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if slices.Contains(keys, strings.ToLower(k)) {
				add(v[k])
			}
		}
	case []any:
		if own {
			add(v)
		}
	case nil:
		if own {
			add(f.Value)
		}
	}
	return out
}

// isIdentifier reports whether a value is exactly an identifier of the subject.
func isIdentifier(m *subject.Matcher, value string) bool {
	value = strings.TrimSpace(value)
	hits := m.Text(value)
	return len(hits) == 1 && hits[0].Start == 0 && hits[0].End == len(value)
}

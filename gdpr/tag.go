package gdpr

import (
	"encoding/json"
	"strings"
)

// tagKeys are the names under which agents note in an item's metadata whom it
// concerns.
var tagKeys = []string{"data_subject_id", "data_subject", "subject_id", "subject", "user_id"}

// taggedIn reads the persons that a JSON object names under tagKeys.
func taggedIn(value string) []string {
	if !strings.HasPrefix(value, "{") {
		return nil
	}
	var object map[string]any
	if json.Unmarshal([]byte(value), &object) != nil {
		return nil
	}
	var out []string
	for _, k := range tagKeys {
		switch v := object[k].(type) {
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
	return out
}

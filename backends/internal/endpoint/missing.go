package endpoint

import (
	"encoding/json"
	"strings"
)

// Missing names the first of these fields that a JSON object lacks; "" for none. Without this check {} from a
// proxy, or from a server of another kind, would be an empty store, a search without a hit, and a change that
// nobody made. Names match as in encoding/json: in any case.
func Missing(data []byte, names ...string) string {
	var got map[string]json.RawMessage
	_ = json.Unmarshal(data, &got) // no object has no field
next:
	for _, name := range names {
		if _, ok := got[name]; ok {
			continue
		}
		for key := range got {
			if strings.EqualFold(key, name) {
				continue next
			}
		}
		return name
	}
	return ""
}

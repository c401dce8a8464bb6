package remote

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// missing names a field that every answer of this type has (openapi.json requires it) and data lacks; "" for
// none. Without this check {} from a proxy would be an empty store, and a write that nobody made. A missing
// bool is false, and times are not needed.
func missing(data []byte, answer reflect.Type) string {
	var got map[string]json.RawMessage
	_ = json.Unmarshal(data, &got) // read before as the answer's own type; null has no field
	for _, f := range reflect.VisibleFields(answer) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || options != "" || f.Type.Kind() == reflect.Bool || f.Type == reflect.TypeFor[time.Time]() {
			continue
		}
		if !has(got, name) {
			return name
		}
	}
	return ""
}

// has matches names as encoding/json does: in any case.
func has(object map[string]json.RawMessage, name string) bool {
	if _, ok := object[name]; ok {
		return true
	}
	for key := range object {
		if strings.EqualFold(key, name) {
			return true
		}
	}
	return false
}

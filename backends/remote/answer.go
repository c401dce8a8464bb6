package remote

import (
	"reflect"
	"strings"
	"time"

	"memdesk/backends/internal/endpoint"
)

// missing names a field that every answer of this type has (openapi.json requires it) and data lacks; "" for
// none. A missing bool is false, and times are not needed.
func missing(data []byte, answer reflect.Type) string {
	var names []string
	for _, f := range reflect.VisibleFields(answer) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.Anonymous && options == "" && f.Type.Kind() != reflect.Bool && f.Type != reflect.TypeFor[time.Time]() {
			names = append(names, name)
		}
	}
	return endpoint.Missing(data, names...)
}

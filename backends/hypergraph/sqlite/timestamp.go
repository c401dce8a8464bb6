package sqlite

import (
	"strings"
	"time"
)

// recurseTime reads the formats that one recurse column mixes (recurse.md, "Encodings as stored"); zero
// for any other text. The result is UTC.
func recurseTime(s string) time.Time {
	s = strings.TrimSpace(s)
	for _, shape := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00",
		"2006-01-02T15:04:05.999999999", "2006-01-02"} {
		if t, err := time.Parse(shape, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// moment reads a time column of either schema: integer nanoseconds in the own one, text in recurse. SQL
// must hide a declared TIMESTAMP by a CAST, or the driver parses by its own rules and returns the zero
// time for unknown formats.
func moment(v any) time.Time {
	switch v := v.(type) {
	case int64:
		return time.Unix(0, v).UTC()
	case string:
		return recurseTime(v)
	case []byte:
		return recurseTime(string(v))
	}
	return time.Time{}
}

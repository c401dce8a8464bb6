package postgres

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Formats of values on the wire (the PostgreSQL manual, Formats and Format Codes).
const (
	asText   int16 = 0
	asBinary int16 = 1
)

// Types that are read in their binary form, by their numbers in pg_type.
const (
	oidBool, oidBytea                               = 16, 17
	oidInt8, oidInt2, oidInt4, oidFloat4, oidFloat8 = 20, 21, 23, 700, 701
)

func formatOf(oid uint32) int16 {
	switch oid {
	case oidBool, oidBytea, oidInt8, oidInt2, oidInt4, oidFloat4, oidFloat8:
		return asBinary
	}
	return asText
}

// encode is what an argument looks like on the wire. Text is read by the server as the
// type that it needs. A nil slice or pointer is NULL.
func encode(arg any) (value []byte, format int16, err error) {
	switch v := arg.(type) {
	case nil:
		return nil, asText, nil
	case string:
		return append(make([]byte, 0, len(v)), v...), asText, nil // never nil
	case *string:
		if v == nil {
			return nil, asText, nil
		}
		return encode(*v)
	case int:
		return strconv.AppendInt(nil, int64(v), 10), asText, nil
	case int32:
		return strconv.AppendInt(nil, int64(v), 10), asText, nil
	case int64:
		return strconv.AppendInt(nil, v, 10), asText, nil
	case float64:
		return strconv.AppendFloat(nil, v, 'g', -1, 64), asText, nil
	case bool:
		return strconv.AppendBool(nil, v), asText, nil
	case []byte:
		return v, asBinary, nil
	case tsvector:
		return v.append(nil), asBinary, nil
	case []string:
		return array(v, appendQuoted), asText, nil
	case []int64:
		return array(v, func(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }), asText, nil
	}
	return nil, 0, fmt.Errorf("an argument of type %T cannot be sent", arg)
}

// array is the text of an array (the PostgreSQL manual, Array Input).
func array[T any](list []T, add func([]byte, T) []byte) []byte {
	if list == nil {
		return nil
	}
	b := []byte{'{'}
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = add(b, v)
	}
	return append(b, '}')
}

func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			b = append(b, '\\')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}

// quote makes an identifier of any name.
func quote(name string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(name, "\x00", ""), `"`, `""`) + `"`
}

// lexeme is a word of a text with its places, which count from 1 and grow.
type lexeme struct {
	word   string
	places []uint16
}

// tsvector is a text as the server searches it.
type tsvector []lexeme

// append adds the binary form (tsvectorsend in the server's tsvector.c): words end
// with NUL, places are 14 bits below a weight that is not used here.
func (v tsvector) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
	for _, l := range v {
		b = append(append(b, l.word...), 0)
		b = binary.BigEndian.AppendUint16(b, uint16(len(l.places)))
		for _, at := range l.places {
			b = binary.BigEndian.AppendUint16(b, at)
		}
	}
	return b
}

// borrowed are bytes that are good until the next row.
type borrowed []byte

// row is where a result stands.
type row struct{ rows *pgconn.ResultReader }

// scan reads the row's columns, in order, into *string, **string, *int, *int64,
// **int64, *float64, *bool, *[]byte or *borrowed. NULL is an error for those that have
// no nil.
func (r row) scan(dest ...any) error {
	values, fields := r.rows.Values(), r.rows.FieldDescriptions()
	if len(dest) != len(values) || len(fields) < len(values) {
		return fmt.Errorf("the row has %d columns, %d are read", len(values), len(dest))
	}
	for i, d := range dest {
		if err := decode(d, values[i], fields[i].DataTypeOID, fields[i].Format); err != nil {
			return fmt.Errorf("column %s: %w", fields[i].Name, err)
		}
	}
	return nil
}

func decode(dest any, value []byte, oid uint32, format int16) error {
	if format == asText && formatOf(oid) == asBinary {
		return fmt.Errorf("the server sent type %d as text", oid)
	}
	switch d := dest.(type) {
	case **string:
		if *d = nil; value == nil {
			return nil
		}
		*d = new(string)
		return decode(*d, value, oid, format)
	case **int64:
		if *d = nil; value == nil {
			return nil
		}
		*d = new(int64)
		return decode(*d, value, oid, format)
	case *[]byte:
		*d = slices.Clone(value) // nil stays nil
		return nil
	case *borrowed:
		*d = value
		return nil
	}
	if value == nil {
		return fmt.Errorf("it is NULL, which %T has no room for", dest)
	}
	switch d := dest.(type) {
	case *string:
		if format == asText {
			*d = string(value)
			return nil
		}
	case *int64:
		n, ok := integer(value, oid)
		if *d = n; ok {
			return nil
		}
	case *int:
		n, ok := integer(value, oid)
		if *d = int(n); ok {
			return nil
		}
	case *float64:
		switch {
		case oid == oidFloat8 && len(value) == 8:
			*d = math.Float64frombits(binary.BigEndian.Uint64(value))
			return nil
		case oid == oidFloat4 && len(value) == 4:
			*d = float64(math.Float32frombits(binary.BigEndian.Uint32(value)))
			return nil
		}
	case *bool:
		if oid == oidBool && len(value) == 1 {
			*d = value[0] != 0
			return nil
		}
	}
	return fmt.Errorf("%d bytes of type %d do not fit %T", len(value), oid, dest)
}

func integer(value []byte, oid uint32) (int64, bool) {
	switch {
	case oid == oidInt8 && len(value) == 8:
		return int64(binary.BigEndian.Uint64(value)), true
	case oid == oidInt4 && len(value) == 4:
		return int64(int32(binary.BigEndian.Uint32(value))), true
	case oid == oidInt2 && len(value) == 2:
		return int64(int16(binary.BigEndian.Uint16(value))), true
	}
	return 0, false
}

package safetext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"
	"unicode/utf8"
)

// JSONWriter writes JSON Lines: one object per line, in one Write each. It is
// safe for concurrent use.
type JSONWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// NewJSONWriter returns a writer that owns neither w nor its closing.
func NewJSONWriter(w io.Writer) *JSONWriter { return &JSONWriter{w: w} }

// Write writes v, which must marshal to a JSON object, and a newline.
func (jw *JSONWriter) Write(v any) error {
	line, err := MarshalJSON(v)
	if err != nil {
		return err
	}
	if line[0] != '{' {
		return fmt.Errorf("write json: %T is no object", v)
	}
	jw.mu.Lock()
	defer jw.mu.Unlock()
	_, err = jw.w.Write(append(line, '\n'))
	return err
}

// MarshalJSON is [json.Marshal] with every code point that is escaped on a
// terminal written as \uXXXX (a surrogate pair above U+FFFF), and without
// HTML escaping. The JSON decodes to the same strings. JSON cannot hold
// invalid UTF-8: each such byte becomes U+FFFD, written \ufffd.
func MarshalJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("marshal json: %w", err)
	}
	// Outside strings, JSON is printable ASCII, so one pass over all of it
	// touches strings only.
	c := encoder{json: true}
	return []byte(c.run(string(bytes.TrimSuffix(buf.Bytes(), []byte("\n"))))), nil
}

// escapeJSON writes the code point at i as \uXXXX. encoding/json lets no control through to here; one would
// be escaped too.
func (c *encoder) escapeJSON(s string, i int) int {
	r, n := utf8.DecodeRuneInString(s[i:])
	if r > 0xFFFF {
		v := r - 0x10000
		c.buf = appendU(c.buf, uint16(0xD800+v>>10))
		c.buf = appendU(c.buf, uint16(0xDC00+v&0x3FF))
		return n
	}
	c.buf = appendU(c.buf, uint16(r))
	return n
}

func appendU(dst []byte, v uint16) []byte {
	return append(dst, '\\', 'u', lowerHex[v>>12], lowerHex[v>>8&15], lowerHex[v>>4&15], lowerHex[v&15])
}

var surrogate = regexp.MustCompile(`\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)`)

// HalfPair reports whether a JSON text has half of a surrogate pair, as programs leave it that cut texts by
// UTF-16 units. The decoder of the standard library replaces it, so the text would be another.
func HalfPair(text []byte) bool {
	if !bytes.Contains(text, []byte(`\ud`)) && !bytes.Contains(text, []byte(`\uD`)) {
		return false
	}
	const half = len(`\ud800`)
	return slices.ContainsFunc(surrogate.FindAll(text, -1), func(escape []byte) bool { return len(escape) == half })
}

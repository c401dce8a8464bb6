package model

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Document is an item as text: ordered metadata and a body. For an opaque tier
// Meta is nil and the text is the body.
type Document struct {
	Meta []Field
	Body string
}

const (
	fence = "---\n"
	// readOnlyNote precedes, in front matter, the fields that an editor must not change.
	readOnlyNote = "# read-only: kept by the store, a change here is refused\n"
)

// Encode writes the document as text. An opaque document is its body; a
// structured one is front matter, one `name: value` line per field, and the body
// after it, byte for byte. Names that would be read as something else are written
// as JSON strings, like values.
func (d Document) Encode(kind DocumentKind) string {
	if kind == Opaque {
		return d.Body
	}
	var b strings.Builder
	b.WriteString(fence)
	for _, f := range d.Meta {
		if !f.ReadOnly {
			writeField(&b, f)
		}
	}
	noted := false
	for _, f := range d.Meta {
		if !f.ReadOnly {
			continue
		}
		if !noted {
			b.WriteString(readOnlyNote)
			noted = true
		}
		writeField(&b, f)
	}
	b.WriteString(fence)
	b.WriteString(d.Body)
	return b.String()
}

func writeField(b *strings.Builder, f Field) {
	if f.Name == "" || strings.ContainsAny(f.Name, " \t\":") || f.Name[0] == '#' || !plainValue(f.Name) {
		b.WriteString(quote(f.Name))
	} else {
		b.WriteString(f.Name)
	}
	b.WriteString(":")
	if f.Value != "" {
		b.WriteString(" ")
		b.WriteString(encodeValue(f.Value))
	}
	b.WriteString("\n")
}

// binaryMark begins a value that is no UTF-8, as in YAML.
const binaryMark = "!!binary "

// encodeValue writes a value on one line: bare where that is unambiguous, else as
// a JSON string, or in base64 where it is no UTF-8.
func encodeValue(v string) string {
	switch {
	case !utf8.ValidString(v):
		return binaryMark + base64.StdEncoding.EncodeToString([]byte(v))
	case plainValue(v) && !strings.HasPrefix(v, binaryMark):
		return v
	}
	return quote(v)
}

func quote(v string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // a string always encodes
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func plainValue(v string) bool {
	if v == "" || v[0] == '"' || v != strings.TrimSpace(v) || !utf8.ValidString(v) {
		return false
	}
	for _, r := range v {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return false
		}
	}
	return true
}

// DecodeDocument reads text back. A structured text without front matter is all body and leaves Meta nil,
// which Retain takes as "keep the metadata". Fields below the read-only note are marked ReadOnly. Malformed
// front matter is InvalidInput with its line, also front matter with CRLF line ends: it must not become the body.
func DecodeDocument(kind DocumentKind, text string) (Document, error) {
	if kind != Opaque && strings.HasPrefix(text, "---\r\n") {
		return Document{}, Errorf(InvalidInput, "document", "line 1: the front matter has CRLF line ends: save it with LF")
	}
	if kind == Opaque || !strings.HasPrefix(text, fence) {
		return Document{Body: text}, nil
	}
	doc := Document{Meta: []Field{}}
	rest := text[len(fence):]
	seen := map[string]bool{}
	readOnly := false
	for line := 2; ; line++ {
		row, after, found := strings.Cut(rest, "\n")
		if !found {
			if row == "---" { // a document that ends at its front matter
				return doc, nil
			}
			return Document{}, Errorf(InvalidInput, "document", "line %d: the front matter that line 1 opens is never closed by ---", line)
		}
		rest = after
		switch {
		case row == "---":
			doc.Body = rest
			return doc, nil
		case row+"\n" == readOnlyNote:
			readOnly = true
			continue
		case row == "" || row[0] == '#':
			continue
		}
		f, err := decodeField(row, line)
		if err != nil {
			return Document{}, err
		}
		if seen[f.Name] {
			return Document{}, Errorf(InvalidInput, "document", "line %d: field %q stands twice", line, f.Name)
		}
		seen[f.Name] = true
		f.ReadOnly = readOnly
		doc.Meta = append(doc.Meta, f)
	}
}

func decodeField(row string, line int) (Field, error) {
	name, value, ok := strings.Cut(row, ":")
	ok = ok && name != "" && !strings.ContainsAny(name, " \t\"")
	if row[0] == '"' {
		d := json.NewDecoder(strings.NewReader(row))
		ok = d.Decode(&name) == nil
		if ok {
			value, ok = strings.CutPrefix(row[d.InputOffset():], ":")
		}
	}
	if !ok {
		return Field{}, Errorf(InvalidInput, "document", "line %d: a front matter line reads `name: value`", line)
	}
	value = strings.TrimSpace(value)
	if text, is := strings.CutPrefix(value, binaryMark); is {
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return Field{}, Errorf(InvalidInput, "document", "line %d: the value of %q is not base64", line, name)
		}
		value = string(data)
	} else if strings.HasPrefix(value, `"`) {
		var s string
		if err := json.Unmarshal([]byte(value), &s); err != nil {
			return Field{}, Errorf(InvalidInput, "document", "line %d: the value of %q opens a quote that is not a JSON string", line, name)
		}
		value = s
	}
	return Field{Name: name, Value: value}, nil
}

// MergeMeta applies a caller's fields to the stored ones: nil keeps all, otherwise the result is want, in the
// store's order for the names it knows. A read-only field that differs is InvalidInput; one that is left out
// is kept.
func MergeMeta(op string, have, want []Field) ([]Field, error) {
	if want == nil {
		return have, nil
	}
	asked := make(map[string]string, len(want))
	for _, f := range want {
		if _, twice := asked[f.Name]; twice {
			return nil, Errorf(InvalidInput, op, "field %q stands twice", f.Name)
		}
		asked[f.Name] = f.Value
	}
	out := make([]Field, 0, len(want))
	known := make(map[string]bool, len(have))
	for _, f := range have {
		known[f.Name] = true
		v, there := asked[f.Name]
		switch {
		case f.ReadOnly && there && v != f.Value:
			return nil, Errorf(InvalidInput, op, "field %q is read-only: it holds %q", f.Name, f.Value)
		case f.ReadOnly:
			out = append(out, f)
		case there:
			f.Value = v
			out = append(out, f)
		}
	}
	for _, f := range want {
		if !known[f.Name] {
			out = append(out, Field{Name: f.Name, Value: f.Value})
		}
	}
	return out, nil
}

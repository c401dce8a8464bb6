package model

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Ref names an item across stores as people type it: `store:id`.
type Ref struct {
	Store string
	ID    string // raw, in the Provider's form
}

// ParseRef reads `store:id` and undoes the id's percent-encoding.
func ParseRef(s string) (Ref, error) {
	store, id, ok := strings.Cut(s, ":")
	if !ok || id == "" {
		return Ref{}, Errorf(InvalidInput, "ref", "%q is no reference: write store:id, as lists show it", s)
	}
	if err := CheckStoreName(store); err != nil {
		return Ref{}, err
	}
	raw, err := DecodeID(id)
	if err != nil {
		return Ref{}, err
	}
	return Ref{Store: store, ID: raw}, nil
}

// String writes the reference so that people can copy it from a screen and ParseRef reads it.
func (r Ref) String() string { return r.Store + ":" + TypedID(r.ID) }

// CheckStoreName is InvalidInput for a name outside [a-z0-9-]+.
func CheckStoreName(name string) error {
	if name == "" {
		return Errorf(InvalidInput, "store", "a store needs a name of a-z, 0-9 and -")
	}
	for _, r := range name {
		if r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			return Errorf(InvalidInput, "store", "store name %q: only a-z, 0-9 and - are allowed", name)
		}
	}
	return nil
}

// Inner marks, in a raw id, that the next character is written percent-encoded although it need not be: a
// slash inside a part of an id, which divides nothing, or the first letter of a part that would be read as
// one of the store's own words. It is a noncharacter, which Unicode reserves for use inside a program.
const Inner = "\uFDD0"

// EncodeID percent-encodes controls, line and paragraph separators, invalid UTF-8, the percent sign and what
// Inner marks: the form of an id in JSON (mcpgraph.md MG1, langgraph.md LG1, mastra.md MA3). Format
// characters stay, so that a composed emoji is unchanged.
func EncodeID(id string) string { return encode(id, encodedRune) }

// TypedID is EncodeID with format characters encoded too: a screen shows those escaped, and an id copied from
// it is still the id. DecodeID reverses both.
func TypedID(id string) string {
	return encode(id, func(r rune, n int) bool { return encodedRune(r, n) || unicode.Is(unicode.Cf, r) })
}

// PlainID reports whether a new item may have this name: no control, format or invalid character
// (provider-contract.md R34).
func PlainID(id string) bool { return TypedID(id) == strings.ReplaceAll(id, "%", "%25") }

func encode(id string, encoded func(r rune, n int) bool) string {
	var b strings.Builder
	for i := 0; i < len(id); {
		if strings.HasPrefix(id[i:], Inner) && len(id) > i+len(Inner) && isInner(id[i+len(Inner)]) {
			fmt.Fprintf(&b, "%%%02X", id[i+len(Inner)])
			i += len(Inner) + 1
			continue
		}
		r, n := utf8.DecodeRuneInString(id[i:])
		if encoded(r, n) {
			for _, c := range []byte(id[i : i+n]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteString(id[i : i+n])
		}
		i += n
	}
	return b.String()
}

// isInner reports whether Inner may precede a byte.
func isInner(c byte) bool { return c == '/' || 'a' <= c && c <= 'z' }

func encodedRune(r rune, n int) bool {
	return r == '%' || r == '\uFDD0' || r == utf8.RuneError && n == 1 || unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp)
}

// DecodeID reverses EncodeID and TypedID. A percent sign without two hex digits is InvalidInput.
func DecodeID(s string) (string, error) {
	if !strings.Contains(s, "%") {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		c, err := hex.DecodeString(s[i+1 : min(i+3, len(s))])
		if err != nil || len(c) == 0 {
			return "", Errorf(InvalidInput, "ref", "%q: a %% stands for two hex digits; write %%25 for the sign itself", s)
		}
		if isInner(c[0]) {
			b.WriteString(Inner)
		}
		b.WriteByte(c[0])
		i += 2
	}
	return b.String(), nil
}

// The bounds of an id from outside: bytes, and parts divided by /.
const (
	MaxID       = 4 << 10
	MaxIDLevels = 64
)

// CheckID is InvalidInput for an id that no store can have made: one that is too long or too deep. It does
// not repeat the id.
func CheckID(id string) error {
	if len(id) > MaxID {
		return Errorf(InvalidInput, "id", "an id of %d bytes: %d are the most", len(id), MaxID)
	}
	if n := strings.Count(id, "/") + 1; n > MaxIDLevels {
		return Errorf(InvalidInput, "id", "an id of %d levels: %d are the most", n, MaxIDLevels)
	}
	return nil
}

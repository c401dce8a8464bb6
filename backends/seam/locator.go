package seam

import (
	"strings"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// Locator names a place in a tree. It is an immutable value that can be compared
// and used as a map key; the zero Locator is the root. Keys are bytes: no Unicode
// normalisation and no case folding is applied (provider-contract.md S5).
type Locator struct{ key string }

// Resolve makes a locator from parts, each of which may hold slashes. Empty and
// "." segments are dropped, so a leading slash only makes the key relative (S3).
// Any ".." segment, backslash or NUL is ErrInvalidLocator (S4, S5), and so is a key
// over rootdir.MaxName bytes.
func Resolve(parts ...string) (Locator, error) {
	var kept []string
	length := 0
	for _, p := range parts {
		if length += len(p); length > rootdir.MaxName {
			return Locator{}, model.Errorf(model.InvalidInput, "resolve", "%w: the key is too long, at most %d bytes are taken", ErrInvalidLocator, rootdir.MaxName)
		}
		if strings.ContainsAny(p, "\\\x00") {
			return Locator{}, invalid(p, "a backslash or a NUL cannot be part of a key")
		}
		for s := range strings.SplitSeq(p, "/") {
			switch s {
			case "", ".":
			case "..":
				return Locator{}, invalid(p, "a key cannot climb with ..")
			default:
				kept = append(kept, s)
			}
		}
	}
	return Locator{strings.Join(kept, "/")}, nil
}

// Listed is the locator of a file that a list shows, from its key in normal form: files that other programs made may have
// names that Resolve takes for no new one (S5), and have to be removable all the same.
func Listed(key string) Locator { return Locator{key} }

func invalid(part, why string) error {
	return model.Errorf(model.InvalidInput, "resolve", "%w %q: %s", ErrInvalidLocator, part, why)
}

// Key is the normalised text form; empty for the root.
func (l Locator) Key() string { return l.key }

// String is the key.
func (l Locator) String() string { return l.key }

// IsRoot reports whether the locator is the root.
func (l Locator) IsRoot() bool { return l.key == "" }

// Parts are the segments of the key; none for the root.
func (l Locator) Parts() []string {
	if l.key == "" {
		return nil
	}
	return strings.Split(l.key, "/")
}

// Name is the last segment; empty for the root.
func (l Locator) Name() string { return l.key[strings.LastIndexByte(l.key, '/')+1:] }

// Child is a place below, under the same rules as Resolve.
func (l Locator) Child(parts ...string) (Locator, error) {
	below, err := Resolve(parts...)
	switch {
	case err != nil:
		return Locator{}, err
	case l.key == "":
		return below, nil
	case below.key == "":
		return l, nil
	}
	return Locator{l.key + "/" + below.key}, nil
}

// Parent is the directory that holds the place; the root is its own.
func (l Locator) Parent() Locator {
	if i := strings.LastIndexByte(l.key, '/'); i >= 0 {
		return Locator{l.key[:i]}
	}
	return Locator{}
}

package door

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"

	"memdesk/internal/safetext"
	"memdesk/model"
)

const memoryRoot = "/memories"

// faceError is a failure in the words of the memory tool.
type faceError struct{ text string }

func (e *faceError) Error() string { return e.text }

// Unwrap gives it a kind, for callers that ask.
func (e *faceError) Unwrap() error { return model.InvalidInput }

func say(format string, args ...any) error { return &faceError{fmt.Sprintf(format, args...)} }

func absent(p string) error {
	return say("The path %s does not exist. Please provide a valid path.", p)
}

// notSeen is absent where the tier was listed whole. Beyond maxEntries a file is found by its name, a
// directory is not.
func notSeen(p string, more bool) error {
	if !more {
		return absent(p)
	}
	return say("The path %s is no file, and no directory among the first %d items of its tier. Name a file.", p, maxEntries)
}

// plainMessage is an error as the memory face says it.
func plainMessage(err error) string {
	if f, ok := err.(*faceError); ok { //nolint:errorlint // only the face's own words, never what wraps them
		return f.text
	}
	return snake(model.KindOf(err)) + ": " + message(err)
}

// spot is the target of a path: the root, a store, a tier, or a name in a tier.
type spot struct {
	path  string // as the agent wrote it
	store model.Store
	tier  model.TierSpec
	name  string // empty: the directory above
	depth int    // 0 the root, 1 a store, 2 a tier, 3 a name
}

// segments splits a path and refuses one that would leave the directory (AD25).
func segments(p string) ([]string, error) {
	if p != memoryRoot && !strings.HasPrefix(p, memoryRoot+"/") {
		return nil, say("Path must start with /memories, got: %s", p)
	}
	escape := say("Path %s would escape /memories directory", p)
	low := strings.ToLower(p)
	if strings.ContainsAny(p, "\\\x00") || strings.Contains(low, "%2f") || strings.Contains(low, "%00") {
		return nil, escape
	}
	var out []string
	for seg := range strings.SplitSeq(strings.TrimPrefix(p, memoryRoot), "/") {
		plain := seg
		for range 4 { // encoded more than once
			d, err := url.PathUnescape(plain)
			if err != nil || d == plain {
				break
			}
			plain = d
		}
		switch {
		case slices.Contains(strings.Split(plain, "\\"), ".."): // a backslash in a name is encoded (AD22)
			return nil, escape
		case seg == "" || seg == ".":
		default:
			out = append(out, seg)
		}
	}
	if err := model.CheckID(strings.Join(out, "/")); err != nil {
		return nil, escape
	}
	return out, nil
}

// spotOf finds the store and the tier of a path, without a check that the name exists.
func (c *call) spotOf(p string) (spot, error) {
	parts, err := segments(p)
	if err != nil {
		return spot{}, err
	}
	if c.Mount != "" {
		parts = append(strings.SplitN(c.Mount, "/", 2), parts...)
	}
	at := spot{path: p, depth: min(len(parts), 3)}
	if len(parts) == 0 {
		return at, nil
	}
	if at.store, err = c.Fleet.Store(parts[0]); err != nil {
		return at, absent(p)
	}
	if len(parts) == 1 {
		return at, nil
	}
	var ok bool
	if at.tier, ok = at.store.Tier(parts[1]); !ok || at.store.Browser == nil || poisoned(at.tier.Name) {
		return at, absent(p)
	}
	at.name = strings.Join(parts[2:], "/")
	return at, nil
}

// assigns reports whether the store makes the ids of the tier's items.
func (at spot) assigns() bool { return at.tier.Document == model.Structured }

// file finds the item of a name; false when there is none that an agent may see.
func (c *call) file(ctx context.Context, at spot) (model.Item, bool, error) {
	var ids []string
	if id, ok := c.Names.ID(at.store.Name, at.tier.Name, at.name); ok {
		ids = []string{id}
	}
	for _, raw := range spellings(at.name) { // where the named item is gone, the name is free
		for n := range 2 {
			if d, err := model.DecodeID(raw); err == nil {
				raw = d
			}
			if n == 1 && !encodedTwice(raw) {
				break
			}
			if short, ok := strings.CutSuffix(raw, ".md"); ok {
				ids = append(ids, short)
			}
			ids = append(ids, raw)
		}
	}
	for _, id := range ids {
		it, err := c.read(ctx, at.store, id)
		if err == nil && it.Has(model.FlagBookkeeping) { // the whole of a curated file, whose entries are the files
			if below, _, lerr := c.entries(ctx, at, at.name+"/", 1); lerr != nil || len(below) > 0 {
				return model.Item{}, false, lerr
			}
		}
		switch {
		case err == nil && it.Tier == at.tier.Name && c.called(at, it.ID) == at.name:
			return it, true, nil
		case err == nil, model.KindOf(err) == model.NotFound, model.KindOf(err) == model.InvalidInput, errors.Is(err, model.ErrDirectory):
		default:
			return model.Item{}, false, err
		}
	}
	return model.Item{}, false, nil
}

// called is an item's name in the form that the path of at uses: the given name, else the same form of its
// id.
func (c *call) called(at spot, id string) string {
	if name, ok := c.Names.Name(at.store.Name, at.tier.Name, id); ok {
		return name
	}
	return at.name
}

// entry is one file below a tier.
type entry struct {
	name  string
	id    string
	bytes int64
}

// maxEntries bounds a listing; a line says that there is more.
const maxEntries = 20_000

// entries lists the tier's files whose names begin with prefix, at most limit.
func (c *call) entries(ctx context.Context, at spot, prefix string, limit int) (out []entry, more bool, err error) {
	ids := map[string]bool{}
	var heads []model.Header
	for page, err := range model.Pages(ctx, at.store.Browser, model.PageRequest{Tier: at.tier.Name, Limit: model.MaxPage}) {
		if err != nil {
			return nil, false, err
		}
		for _, h := range page.Items {
			if h.Has(model.FlagBlocked) || h.Has(model.FlagPending) || h.Has(model.FlagBinary) || poisoned(h.ID) || poisoned(h.Title) {
				continue
			}
			ids[h.ID] = true
			heads = append(heads, h)
		}
		if more = page.Next != "" && len(heads) >= maxEntries; more {
			break
		}
	}
	for _, h := range heads {
		name := c.nameOf(at, h.ID, ids)
		if !strings.HasPrefix(name, prefix) || poisoned(name) {
			continue
		}
		if len(out) == limit {
			return out, true, nil
		}
		out = append(out, entry{name, h.ID, h.Bytes})
	}
	return out, more, nil
}

// nameOf is an item's name (AD22); ids are those of the tier.
func (c *call) nameOf(at spot, id string, ids map[string]bool) string {
	if name, ok := c.Names.Name(at.store.Name, at.tier.Name, id); ok {
		return name
	}
	plain, name := encodeName(id), nameByID(id)
	if short, ok := strings.CutSuffix(id, ".md"); ok && ids[short] {
		name = plain + ".md"
	}
	if other, ok := c.Names.ID(at.store.Name, at.tier.Name, name); !ok || other == id || !ids[other] {
		return name
	}
	if name == plain { // the given name of another item
		return plain + ".md"
	}
	return plain
}

// nameByID is the name of an item that has none of its own, where no other item has its id without .md.
func nameByID(id string) string {
	name := encodeName(id)
	if strings.HasSuffix(id, ".md") {
		return name
	}
	return name + ".md"
}

// encodedTwice reports whether an id holds what no path may hold, plain or encoded (AD25): a slash that is a part of a
// name, or a NUL. Such an id is encoded once more.
func encodedTwice(id string) bool { return strings.ContainsAny(id, model.Inner+"\x00") }

// encodeName writes an id as a path below a tier.
func encodeName(id string) string {
	name := model.EncodeID(id)
	if encodedTwice(id) {
		name = strings.ReplaceAll(name, "%", "%25")
	}
	parts := strings.Split(name, "/")
	for i, p := range parts {
		p = strings.ReplaceAll(p, "\\", "%5C")
		if strings.HasPrefix(p, ".") {
			p = "%2E" + p[1:]
		}
		if p == "" && len(parts) > 1 {
			p = "%"
		}
		parts[i] = p
	}
	return strings.Join(parts, "/")
}

// spellings are a name as encodeName writes it, with its empty segments (a `%` each) empty again, and as it stands.
func spellings(name string) []string {
	stem, md := strings.CutSuffix(name, ".md")
	parts := strings.Split(stem, "/")
	for i, p := range parts {
		if p == "%" && len(parts) > 1 {
			parts[i] = ""
		}
	}
	empty := strings.Join(parts, "/")
	if md {
		empty += ".md"
	}
	if empty == name {
		return []string{name}
	}
	return []string{empty, name}
}

// byUTF16 orders as JavaScript does.
func byUTF16(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

// shown keeps a name's control characters out of a listing's lines.
func shown(name string) string {
	if strings.ContainsAny(name, "\n\r\t") {
		return safetext.Line(name).String()
	}
	return name
}

// Package verdicts remembers what the injection scanner says of texts, so that
// lists and searches need not scan the same text again, and applies it to writes.
package verdicts

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"memdesk/model"
	"memdesk/quarantine"
)

// most bounds the verdicts that are remembered. One costs about a hundred
// bytes, so a full cache stays under a few megabytes.
const most = 20_000

// Cache remembers which contents the rules reject. The key is the content's
// hash, so a changed item is scanned again and an unchanged one is not.
type Cache struct {
	mu   sync.Mutex
	seen map[string]bool // by content hash: rejected
}

// New makes an empty cache, safe for concurrent use.
func New() *Cache { return &Cache{seen: map[string]bool{}} }

// Rejects reports whether agents must not see the text.
func (s *Cache) Rejects(text string) bool {
	key := quarantine.Sum(text)
	s.mu.Lock()
	verdict, known := s.seen[key]
	s.mu.Unlock()
	if known {
		return verdict
	}
	_, verdict = quarantine.Scan(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) >= most {
		clear(s.seen)
	}
	s.seen[key] = verdict
	return verdict
}

// Cleans reports whether a request may be an edit that removes something from an item that the caller has seen.
func Cleans(req model.RetainRequest) bool {
	return req.Mode == model.Replace && !req.Unseen && req.IfMatch != "" && req.IfMatch != model.Absent
}

// Admit applies R18 to a write. A text that only cleans passes when the caller
// has shown which revision it cleans (DESIGN.md, Cleaning is always possible).
func (s *Cache) Admit(before, after string, cleaning bool) error {
	if !s.Rejects(after) {
		return nil
	}
	if !cleaning {
		v, _ := quarantine.Scan(after)
		return model.Errorf(model.InvalidInput, "retain", "the scanner rejects this content: %s / %s", v.Category, v.Pattern)
	}
	if added := quarantine.Added(before, after); len(added) > 0 {
		f := added[0]
		return model.Errorf(model.InvalidInput, "retain", "the scanner rejects what this edit adds: %s / %s on line %d", f.Category, f.Pattern, f.Line)
	}
	return nil
}

// AdmitDocument applies Admit to every text of an item that agents may see: its body, and each field that a caller may write.
func (s *Cache) AdmitDocument(before, after model.Document, cleaning bool) error {
	if err := s.Admit(before.Body, after.Body, cleaning); err != nil {
		return err
	}
	have := make(map[string]string, len(before.Meta))
	for _, f := range before.Meta {
		have[f.Name] = f.Value
	}
	for _, f := range after.Meta {
		if was := have[f.Name]; !f.ReadOnly && f.Value != was {
			if err := cmp.Or(s.Admit(was, f.Value, cleaning), s.Admit(decoded(was), decoded(f.Value), cleaning)); err != nil {
				return err
			}
		}
	}
	return nil
}

// decoded is a field's value as a reader of its JSON sees it.
func decoded(value string) string {
	var v any
	if s := strings.TrimSpace(value); !strings.HasPrefix(s, "[") && !strings.HasPrefix(s, "{") || json.Unmarshal([]byte(s), &v) != nil {
		return value
	}
	return strings.Join(Texts(nil, v), "\n")
}

// Texts adds the texts inside a JSON value.
func Texts(out []string, v any) []string {
	switch v := v.(type) {
	case string:
		return append(out, v)
	case []any:
		for _, e := range v {
			out = Texts(out, e)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = Texts(out, v[k])
		}
	}
	return out
}

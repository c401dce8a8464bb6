package tracker

import (
	"sync"

	"memdesk/model"
	"memdesk/quarantine"
)

// verdictCap bounds the verdicts that are remembered. One costs about a hundred
// bytes, so a full cache stays under a few megabytes.
const verdictCap = 20_000

// scanner remembers which contents the rules reject. The key is the content's
// hash, so a changed item is scanned again and an unchanged one is not.
type scanner struct {
	mu   sync.Mutex
	seen map[string]bool // by content hash: rejected
}

func newScanner() *scanner { return &scanner{seen: map[string]bool{}} }

// rejects reports whether agents must not see the text.
func (s *scanner) rejects(text string) bool {
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
	if len(s.seen) >= verdictCap {
		clear(s.seen)
	}
	s.seen[key] = verdict
	return verdict
}

// admit applies R18 to a write. A text that only cleans passes when the caller
// has shown which revision it cleans (DESIGN.md, Cleaning is always possible).
func (s *scanner) admit(before, after string, cleaning bool) error {
	if !s.rejects(after) {
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

package beads

import (
	"crypto/rand"
	"regexp"
	"strconv"
	"strings"

	"memdesk/backends/tracker"
)

const idDigits = "0123456789abcdefghijklmnopqrstuvwxyz"

// The forms of ids: bd's, with the store's prefix, and Foolery's (beads-foolery-knots.md).
var (
	bdForm      = regexp.MustCompile(`^(.+)-[0-9a-z]{3,8}(?:\.[0-9]+)*$`)
	fooleryForm = regexp.MustCompile(`^beads-[0-9a-z]{7,9}-[0-9a-z]{4}$`)
)

// newTail is the length of the random end of an id with a store's prefix; bd's own is 3 or more, depending on
// the store's size.
const newTail = 6

// NewID makes an id like the store's own program: with bd's prefix where bd made the items, else in Foolery's
// form.
func (s *Store) NewID() string {
	if s.prefix == "" {
		return "beads-" + strconv.FormatInt(s.clock.Now().UnixMilli(), 36) + "-" + random(4)
	}
	s.mu.Lock()
	snap := s.cached
	s.mu.Unlock()
	for {
		id := s.prefix + "-" + random(newTail)
		if snap == nil || snap.Find(id) < 0 {
			return id
		}
	}
}

func random(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails: crypto/rand ends the program instead
	for i := range b {
		b[i] = idDigits[int(b[i])%len(idDigits)]
	}
	return string(b)
}

// prefixSample is how many of the newest items decide the store's prefix.
const prefixSample = 200

// prefix returns the prefix of most of the newest ids in bd's form; empty where most are Foolery's, and where
// there are none.
func (s *snapshot) prefix() string {
	counts := map[string]int{}
	best, seen := "", 0
	for i := len(s.entries) - 1; i >= 0 && seen < prefixSample; i-- {
		id := s.entries[i].raw
		if s.entries[i].kind != tracker.Issue {
			continue
		}
		seen++
		prefix := ""
		if m := bdForm.FindStringSubmatch(id); m != nil && !fooleryForm.MatchString(id) {
			prefix = strings.TrimSuffix(m[1], "-wisp")
		}
		if counts[prefix]++; counts[prefix] > counts[best] {
			best = prefix
		}
	}
	return best
}

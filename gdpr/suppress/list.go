package suppress

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"memdesk/gdpr/subject"
	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// List is the file of suppressed persons. It is read again whenever it changes
// and is safe for concurrent use.
type List struct {
	path, keyPath string

	mu   sync.Mutex
	seen fs.FileInfo
	file file
	key  Key
	ix   map[string]int // hash of a term → person
	lens []int
}

type file struct {
	V       int      `json:"v"`
	Persons []Person `json:"persons"`
}

// Person is one suppressed person.
type Person struct {
	Pseudonym string    `json:"pseudonym"`
	Request   string    `json:"request"`
	Since     time.Time `json:"since"`
	Terms     []Term    `json:"terms"`
}

// Term is an identifier that only the key can recognise. Length is of its normal
// form in bytes, which tells what to try.
type Term struct {
	Hash   string `json:"hash"`
	Length int    `json:"length"`
	Strict bool   `json:"strict,omitempty"`
}

// Open names the files; nothing is read or made.
func Open(path, keyPath string) *List { return &List{path: path, keyPath: keyPath} }

// Add suppresses a person, durably, before it returns. One who is there already
// gains the terms that are new.
func (l *List) Add(k Key, pseudonym, request string, since time.Time, terms ...string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return err
	}
	p := Person{Pseudonym: pseudonym, Request: request, Since: since.UTC()}
	at := slices.IndexFunc(l.file.Persons, func(o Person) bool { return o.Pseudonym == p.Pseudonym })
	if at >= 0 {
		p = l.file.Persons[at]
	}
	changed := at < 0
	for _, t := range terms {
		h := hashTerm(k, t)
		if !slices.Contains(p.Terms, h) {
			p.Terms, changed = append(p.Terms, h), true
		}
	}
	if !changed {
		return nil
	}
	next := file{V: 1, Persons: slices.Clone(l.file.Persons)}
	if at >= 0 {
		next.Persons[at] = p
	} else {
		next.Persons = append(next.Persons, p)
	}
	b, err := json.MarshalIndent(next, "", " ")
	if err != nil {
		return model.E(model.Internal, "suppress", err)
	}
	if err := atomicfile.Write(l.path, append(b, '\n'), 0o600); err != nil {
		return model.Errorf(model.Unavailable, "suppress", "the suppression list cannot be written")
	}
	l.seen = nil
	return nil
}

func hashTerm(k Key, t string) Term {
	t = strings.TrimSpace(t)
	if subject.Strict(t) {
		return Term{Hash: hex.EncodeToString(k.sum("term-exact", t)), Length: len(subject.Normal(t)), Strict: true}
	}
	n := subject.Normal(t)
	return Term{Hash: hex.EncodeToString(k.sum("term", n)), Length: len(n)}
}

// Persons are all that are suppressed.
func (l *List) Persons() ([]Person, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return nil, err
	}
	return slices.Clone(l.file.Persons), nil
}

// load reads the file when it has changed; the caller holds the lock.
func (l *List) load() error {
	info, err := os.Stat(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		l.seen, l.file, l.ix, l.lens = nil, file{V: 1}, nil, nil
		return nil
	}
	unreadable := model.Errorf(model.Unavailable, "suppress", "the list of erased persons cannot be read: nobody can say who must not come back")
	if err != nil {
		return unreadable
	}
	if l.seen != nil && os.SameFile(l.seen, info) && l.seen.ModTime().Equal(info.ModTime()) && l.seen.Size() == info.Size() {
		return nil
	}
	b, err := os.ReadFile(l.path)
	var f file
	if err != nil || json.Unmarshal(b, &f) != nil || f.V != 1 {
		return unreadable
	}
	if l.key, err = ReadKey(l.keyPath); err != nil && len(f.Persons) > 0 {
		return unreadable
	}
	l.seen, l.file, l.ix, l.lens = info, f, map[string]int{}, nil
	for i, p := range f.Persons {
		for _, t := range p.Terms {
			l.ix[t.Hash] = i
			if !slices.Contains(l.lens, t.Length) {
				l.lens = append(l.lens, t.Length)
			}
		}
	}
	return nil
}

// Match is a place where a text names a suppressed person.
type Match struct {
	Person     Person
	Text       string // as it stands, in clear: only for who erases it
	Start, End int
}

// Find gives the places; all false stops at the first.
func (l *List) Find(text string, all bool) ([]Match, error) {
	l.mu.Lock()
	if err := l.load(); err != nil {
		l.mu.Unlock()
		return nil, err
	}
	key, ix, lens, persons := l.key, l.ix, l.lens, l.file.Persons
	l.mu.Unlock()
	var out []Match
	if len(ix) == 0 {
		return nil, nil
	}
	subject.Candidates(text, lens, func(normal, exact string, start, end int) bool {
		i, ok := ix[hex.EncodeToString(key.sum("term", normal))]
		if !ok {
			i, ok = ix[hex.EncodeToString(key.sum("term-exact", exact))]
		}
		if ok {
			out = append(out, Match{Person: persons[i], Text: exact, Start: start, End: end})
		}
		return !ok || all
	})
	return out, nil
}

package suppress

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
	ix   *Index
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
	// Slug: the hash is of the form in which ids and file names write the identifier.
	Slug string `json:"slug,omitempty"` // "id" or "name"; "plain" or "letters" of a name without its marks
}

// kinds of slugs.
const (
	slugID   = "id"
	slugName = "name"
	plain    = "plain"   // it has marks
	letters  = "letters" // it has none: the hash is of its normal form
)

// Open names the files; nothing is read or made.
func Open(path, keyPath string) *List { return &List{path: path, keyPath: keyPath} }

// Add suppresses a person, durably, before it returns. One who is there already
// gains the terms that are new.
func (l *List) Add(k Key, pseudonym, request string, since time.Time, terms ...string) error {
	return l.change(func(persons []Person) ([]Person, bool) {
		p := Person{Pseudonym: pseudonym, Request: request, Since: since.UTC()}
		at := slices.IndexFunc(persons, func(o Person) bool { return o.Pseudonym == p.Pseudonym })
		if at >= 0 {
			p = persons[at]
		}
		changed := at < 0
		for _, t := range terms {
			for _, h := range hashTerms(k, t) {
				if !slices.Contains(p.Terms, h) {
					p.Terms, changed = append(p.Terms, h), true
				}
			}
		}
		if at >= 0 {
			persons[at] = p
		} else {
			persons = append(persons, p)
		}
		return persons, changed
	})
}

// change has do edit a copy of the persons, alone with the list, and writes them where
// it says that they have changed.
func (l *List) change(do func(persons []Person) ([]Person, bool)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	unlock, err := l.alone()
	if err != nil {
		return err
	}
	defer unlock()
	l.seen = nil // another process may have written within a tick of the clock
	if err := l.load(); err != nil {
		return err
	}
	persons, changed := do(slices.Clone(l.file.Persons))
	if !changed {
		return nil
	}
	return l.write(file{V: 1, Persons: persons})
}

// write replaces the file; the caller holds both locks.
func (l *List) write(next file) error {
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

// Lift ends the suppression of a person that one of these requests began; of one whom
// another request began to suppress, or nobody, it changes nothing.
func (l *List) Lift(pseudonym string, requests ...string) error {
	if _, err := os.Stat(l.path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return l.change(func(persons []Person) ([]Person, bool) {
		left := slices.DeleteFunc(persons, func(p Person) bool { return p.Pseudonym == pseudonym && slices.Contains(requests, p.Request) })
		return left, len(left) < len(persons)
	})
}

// alone keeps other processes from adding at the same time: the list is read,
// changed and written. What an interrupted one left goes.
func (l *List) alone() (unlock func(), err error) {
	busy := model.Errorf(model.Unavailable, "suppress", "the suppression list cannot be locked")
	f, err := atomicfile.OS{}.OpenFile(l.path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, busy
	}
	for end := time.Now().Add(lockWait); ; time.Sleep(5 * time.Millisecond) {
		got, err := f.TryLock(true)
		if err == nil && got {
			break
		}
		if err != nil || time.Now().After(end) {
			_ = f.Close()
			return nil, busy
		}
	}
	temps, err := filepath.Glob(filepath.Join(filepath.Dir(l.path), "."+filepath.Base(l.path)+".tmp.*"))
	if err == nil {
		for _, t := range temps {
			_ = os.Remove(t)
		}
	}
	return func() { _ = f.Close() }, nil
}

// lockWait is for how long another process may write the list.
const lockWait = 10 * time.Second

func hashTerms(k Key, t string) []Term {
	t = strings.TrimSpace(t)
	if subject.Strict(t) {
		return []Term{{Hash: k.sum("term-exact", t).String(), Length: len(subject.Normal(t)), Strict: true}}
	}
	n := subject.Normal(t)
	out := []Term{{Hash: k.sum("term", n).String(), Length: len(n)}}
	slugs, name := subject.SlugsOf(t)
	for _, slug := range slugs {
		h := Term{Hash: k.sum("term-slug", slug).String(), Length: len(slug), Slug: slugID}
		if name {
			h.Slug = slugName
		}
		out = append(out, h)
	}
	for _, p := range subject.PlainsOf(t) {
		h := Term{Hash: k.sum("term-plain", p).String(), Length: len(p), Slug: plain}
		if p == n {
			h.Slug = letters
		}
		out = append(out, h)
	}
	return out
}

// Has reports whether an identifier is one of the person's.
func (p Person) Has(k Key, id string) bool {
	for _, h := range hashTerms(k, id) {
		if h.Slug == "" && slices.Contains(p.Terms, h) {
			return true
		}
	}
	return false
}

// Identifiers is how many identifiers the person was known by.
func (p Person) Identifiers() (n int) {
	for _, t := range p.Terms {
		if t.Slug == "" {
			n++
		}
	}
	return n
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
		l.seen, l.file, l.ix = nil, file{V: 1}, &Index{}
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
	l.seen, l.file, l.ix = info, f, newIndex(l.key, f.Persons)
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
	ix, err := l.Now()
	if err != nil {
		return nil, err
	}
	return ix.Find(all, text), nil
}

// Now is what the list knows at this moment, for who looks through many texts.
func (l *List) Now() (*Index, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return nil, err
	}
	return l.ix, nil
}

// Index is what a list knows at one moment. It is not changed and safe for
// concurrent use.
type Index struct {
	key     Key
	persons []Person
	normal  terms // by the normal form
	exact   terms // by the exact text, under the length of the normal form
	lens    []int // of both
	slugs   terms
	plains  terms // names without their marks
	lost    []int // lengths of those that have some
	// shortest is the length of the shortest of all.
	shortest int
	names    map[hash]bool // slugs of names, which may stand in a longer slug
}

// terms are persons by the hash of an identifier.
type terms struct {
	persons map[hash]int
	lens    []int
}

func (t *terms) add(h hash, length, person int) {
	if t.persons == nil {
		t.persons = map[hash]int{}
	}
	t.persons[h] = person
	if !slices.Contains(t.lens, length) {
		t.lens = append(t.lens, length)
	}
}

func newIndex(k Key, persons []Person) *Index {
	x := &Index{key: k, persons: persons, names: map[hash]bool{}}
	for i, p := range persons {
		for _, t := range p.Terms {
			h, ok := parseHash(t.Hash)
			switch {
			case !ok:
			case t.Slug == plain || t.Slug == letters:
				x.plains.add(h, t.Length, i)
				if t.Slug == plain && !slices.Contains(x.lost, t.Length) {
					x.lost = append(x.lost, t.Length)
				}
			case t.Slug != "":
				x.slugs.add(h, t.Length, i)
				x.names[h] = t.Slug == slugName
			case t.Strict:
				x.exact.add(h, t.Length, i)
			default:
				x.normal.add(h, t.Length, i)
			}
		}
	}
	if all := slices.Concat(x.normal.lens, x.exact.lens, x.slugs.lens, x.plains.lens); len(all) > 0 {
		x.shortest = slices.Min(all)
	}
	x.lens = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(x.normal.lens), x.exact.lens...))))
	return x
}

// Find gives the places in which the texts name suppressed persons; all false stops
// at the first.
func (x *Index) Find(all bool, texts ...string) []Match {
	var out []Match
	for _, t := range texts {
		if len(x.lens) == 0 || len(t) < x.shortest && ascii(t) { // folding makes no ASCII longer
			continue
		}
		if out = append(out, x.find(t, all)...); len(out) > 0 && !all {
			break
		}
		for _, inner := range subject.Unwrap(t) {
			for _, m := range x.find(inner.Text, all) {
				m.Start, m.End = inner.Start, inner.End
				out = append(out, m)
			}
		}
		if len(out) > 0 && !all {
			break
		}
	}
	return out
}

func (x *Index) find(text string, all bool) []Match {
	var out []Match
	subject.Candidates(text, x.lens, func(normal, exact string, start, end int) bool {
		i, ok := 0, false
		if slices.Contains(x.normal.lens, len(normal)) {
			i, ok = x.normal.persons[x.key.sum("term", normal)]
		}
		if !ok && slices.Contains(x.exact.lens, len(normal)) {
			i, ok = x.exact.persons[x.key.sum("term-exact", exact)]
		}
		if ok {
			out = append(out, Match{Person: x.persons[i], Text: exact, Start: start, End: end})
		}
		return !ok || all
	})
	if len(out) > 0 && !all {
		return out
	}
	subject.Slugs(text, x.slugs.lens, func(slug string, whole bool, exact string, start, end int) bool {
		h := x.key.sum("term-slug", slug)
		i, ok := x.slugs.persons[h]
		if ok = ok && (whole || x.names[h]); ok && !covered(out, start, end) {
			out = append(out, Match{Person: x.persons[i], Text: exact, Start: start, End: end})
		}
		return !ok || all
	})
	lens := x.plains.lens
	if ascii(text) && !strings.ContainsAny(text, `\%&=`) { // no marks are in it
		lens = x.lost
	}
	if len(out) > 0 && !all || len(lens) == 0 {
		return out
	}
	subject.Plains(text, lens, func(name, exact string, start, end int) bool {
		i, ok := x.plains.persons[x.key.sum("term-plain", name)]
		if ok && !covered(out, start, end) {
			out = append(out, Match{Person: x.persons[i], Text: exact, Start: start, End: end})
		}
		return !ok || all
	})
	return out
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// covered reports whether a place is known already by the identifier itself.
func covered(found []Match, start, end int) bool {
	return slices.ContainsFunc(found, func(m Match) bool { return m.Start < end && start < m.End })
}

package suppress

import (
	"cmp"
	"context"
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
	"memdesk/internal/filelock"
	"memdesk/internal/statedir"
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

// Term is one spelling of an identifier, which only the key can recognise.
type Term struct {
	Hash string `json:"hash"`          // of its letters; in a list of the first version, of its normal form
	Key  string `json:"key,omitempty"` // hash of an exact identifier's full form
	subject.Pattern
	Slug string `json:"slug,omitempty"` // first version: a second form of the identifier
}

func (t Term) is(o Term) bool {
	return t.Hash == o.Hash && t.Key == o.Key && t.Comma == o.Comma && t.Kind == o.Kind && t.Slug == o.Slug
}

// Open names the files; it reads and makes nothing.
func Open(path, keyPath string) *List { return &List{path: path, keyPath: keyPath} }

// Add suppresses a person, durably, before it returns. A person who is on the list already gains new terms.
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
				if !slices.ContainsFunc(p.Terms, h.is) {
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

// change passes do a copy of the persons, under the list's lock, and writes them if do says that they
// changed.
func (l *List) change(do func(persons []Person) ([]Person, bool)) error {
	if err := l.begin(); err != nil {
		return err
	}
	unlock, err := l.alone()
	if err != nil {
		return err
	}
	defer unlock()
	l.mu.Lock() // only now: whoever reads the list need not wait for another process
	defer l.mu.Unlock()
	l.seen = nil // another process may have written within one clock tick
	if err := l.load(); err != nil {
		return err
	}
	persons, changed := do(slices.Clone(l.file.Persons))
	if !changed {
		return nil
	}
	return l.write(file{V: 2, Persons: persons})
}

// write replaces the file; the caller holds both locks.
func (l *List) write(next file) error {
	b, err := json.MarshalIndent(next, "", " ")
	if err != nil {
		return model.E(model.Internal, "suppress", err)
	}
	if err := atomicfile.Write(l.path, append(b, '\n'), 0o600); err != nil {
		return model.Errorf(model.Unavailable, "suppress", "the suppression list cannot be written: %w", statedir.Cause(err))
	}
	l.seen = nil
	return nil
}

// Lift ends a suppression that one of these requests began; it does not change one that another request
// began, or a person who is not suppressed.
func (l *List) Lift(pseudonym string, requests ...string) error {
	if _, err := os.Stat(l.path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return l.change(func(persons []Person) ([]Person, bool) {
		left := slices.DeleteFunc(persons, func(p Person) bool { return p.Pseudonym == pseudonym && slices.Contains(requests, p.Request) })
		return left, len(left) < len(persons)
	})
}

// begin makes an empty list before its lock file: a lock file without a list means that the list was lost.
func (l *List) begin() error {
	if l.begun() {
		return nil
	}
	b, err := json.Marshal(file{V: 2, Persons: []Person{}})
	if err == nil {
		_, _, err = atomicfile.Swap(l.path, nil, b)
	}
	if _, missing := os.Stat(l.path); err != nil && missing != nil { // another process may have been first
		return model.Errorf(model.Unavailable, "suppress", "the suppression list cannot be written: %w", statedir.Cause(err))
	}
	return nil
}

// begun reports whether the list has a lock file.
func (l *List) begun() bool {
	_, err := os.Stat(l.path + ".lock")
	return !errors.Is(err, fs.ErrNotExist)
}

// alone locks the list against other processes while it is read, changed and written. Files of an interrupted
// write are removed.
func (l *List) alone() (unlock func(), err error) {
	unlock, err = filelock.Hold(context.Background(), l.path+".lock", true)
	if err != nil {
		return nil, model.Errorf(model.Unavailable, "suppress", "the suppression list cannot be locked")
	}
	_ = atomicfile.Sweep(atomicfile.OS{}, filepath.Dir(l.path), filepath.Base(l.path)) // tried again at the next change
	return unlock, nil
}

func hashTerms(k Key, t string) []Term {
	var out []Term
	for _, s := range subject.Sealed(strings.TrimSpace(t), k.sum) {
		h := Term{Hash: hexSum(s.Letters), Pattern: s.Pattern}
		if s.Key != (subject.Sum{}) {
			h.Key = hexSum(s.Key)
		}
		out = append(out, h)
	}
	return out
}

// known is a term in the form of the index; false for a term that no key has hashed.
func (t Term) known() (subject.Known, bool) {
	h, ok := parseHash(t.Hash)
	out := subject.Known{Pattern: t.Pattern, Letters: h}
	if t.Kind == "" {
		out.Letters, out.Normal = subject.Sum{}, h
	}
	if t.Key != "" {
		out.Key, _ = parseHash(t.Key)
	}
	return out, ok && t.Slug == ""
}

// Has reports whether an identifier is one of the person's.
func (p Person) Has(k Key, id string) bool {
	n, own := subject.Normal(id), hashTerms(k, id)
	return slices.ContainsFunc(p.Terms, func(t Term) bool {
		if t.Kind == "" {
			return t.Slug == "" && (t.Hash == hexSum(k.sum("term", n)) || t.Hash == hexSum(k.sum("term-exact", strings.TrimSpace(id))))
		}
		return slices.ContainsFunc(own, t.is)
	})
}

// Identifiers counts the person's identifiers. Two spellings in the same letters are one, as of a UUID.
func (p Person) Identifiers() (n int) {
	for i, t := range p.Terms {
		again := i > 0 && t.Kind == p.Terms[i-1].Kind && t.Hash == p.Terms[i-1].Hash
		if t.Slug == "" && t.Comma == 0 && !again {
			n++
		}
	}
	return n
}

// Persons are all suppressed persons.
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
	switch {
	case errors.Is(err, fs.ErrNotExist) && l.begun():
		return model.Errorf(model.Unavailable, "suppress", "the list of erased persons is lost: put gdpr/suppressed.json back from a backup; without one, removing suppressed.json.lock begins a new list, which knows nobody")
	case errors.Is(err, fs.ErrNotExist):
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
	b, err := atomicfile.ReadFile(l.path)
	var f file
	if err != nil || json.Unmarshal(b, &f) != nil || f.V != 1 && f.V != 2 {
		return unreadable
	}
	if l.key, err = ReadKey(l.keyPath); err != nil && len(f.Persons) > 0 {
		return unreadable
	}
	for _, p := range f.Persons {
		if !l.key.made(p.Pseudonym) {
			return model.Errorf(model.Unavailable, "suppress", "the pseudonym key is not the one that the list of erased persons was written with: put gdpr/keys/pseudonym back from a backup")
		}
		if slices.ContainsFunc(p.Terms, func(t Term) bool { _, ok := t.known(); return !ok && t.Slug == "" }) {
			return unreadable
		}
	}
	l.seen, l.file, l.ix = info, f, newIndex(l.key, f.Persons)
	return nil
}

// Match is a place where a text names a suppressed person.
type Match struct {
	Person     Person
	Text       string // in clear: only for the erasure
	Start, End int
}

// Names reports whether one of the texts names a suppressed person.
func (l *List) Names(texts ...string) (bool, error) {
	ix, err := l.Now()
	if err != nil {
		return false, err
	}
	return len(ix.Find(false, texts...)) > 0, nil
}

// Now returns the current list, for a search of many texts.
func (l *List) Now() (*Index, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return nil, err
	}
	return l.ix, nil
}

// Index is a snapshot of the list. It is immutable and safe for concurrent use.
type Index struct {
	*subject.Index
	key     Key
	known   []subject.Known
	persons []Person
	owner   []int // the person of each identifier
}

func newIndex(k Key, persons []Person) *Index {
	x := &Index{key: k, persons: persons}
	for i, p := range persons {
		for _, t := range p.Terms {
			if known, ok := t.known(); ok {
				x.known, x.owner = append(x.known, known), append(x.owner, i)
			}
		}
	}
	x.Index = subject.NewIndex(x.known, k.sum)
	return x
}

// Find returns where the texts name suppressed persons, in the order of each text; without all, it stops at the first.
func (x *Index) Find(all bool, texts ...string) []Match {
	out, _ := x.find(context.Background(), all, texts...) // which does not end
	return out
}

// longest drops the matches inside another one of the same person, and orders the rest by their beginnings.
func longest(all []Match) []Match {
	slices.SortStableFunc(all, func(a, b Match) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
	ends := map[string]int{}
	return slices.DeleteFunc(all, func(m Match) bool {
		end, seen := ends[m.Person.Pseudonym]
		ends[m.Person.Pseudonym] = max(end, m.End)
		return seen && m.End <= end
	})
}

// find is Find within a context, whose end is its only error.
func (x *Index) find(ctx context.Context, all bool, texts ...string) ([]Match, error) {
	var out []Match
	if x.Empty() {
		return nil, nil
	}
	for _, t := range texts {
		from, ix := len(out), x.Index
		if len(t) > longText {
			ix = subject.NewIndex(x.known, x.key.remembering())
		}
		err := ix.Find(ctx, t, func(known int, clear string, start, end int) bool {
			out = append(out, Match{Person: x.persons[x.owner[known]], Text: clear, Start: start, End: end})
			return all
		})
		out = append(out[:from], longest(out[from:])...)
		if err != nil || len(out) > 0 && !all {
			return out, err
		}
	}
	return out, nil
}

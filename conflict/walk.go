package conflict

import (
	"context"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"memdesk/conflict/names"
	"memdesk/internal/recalled"
	"memdesk/model"
)

// tree remembers one walk over a store's names: hashes of all names, so that a million cost megabytes, and in
// clear only possible copies.
type tree struct {
	seed   maphash.Seed
	exact  []uint64 // hashes of ids; sorted once the first walk is over, like folded
	folded []uint64 // hashes of folded forms that differ from their ids
	found  []candidate
	dumped []string // ids in a lost-and-found folder
	hosts  names.Known
	clear  map[string][]string // folded id → ids, for those asked for
	byName map[string][]string // basename → ids, likewise
	n      int64
	notes  []string
}

type candidate struct {
	id      string
	matches []names.Match
	target  string // set when a parent folder is the copy: the id in the other folder
}

func newTree(hosts []string) *tree {
	t := &tree{seed: maphash.MakeSeed(), hosts: names.Known{}}
	for _, h := range hosts {
		if len(h) > 1 {
			t.hosts[strings.ToLower(h)] = true
		}
	}
	return t
}

// markWords find conflict copies by their names in a store that has only recall (conflict-names.md).
var markWords = []string{"conflict", "conflicted copy", "sync-conflict", "case conflict", "copy"}

// stream yields every id of a store: from its names facet, else page by page. A store whose ids are no names
// yields none.
func stream(ctx context.Context, s model.Store, yield func(id string) bool) (notes []string, err error) {
	if !textual(s) {
		return nil, nil
	}
	if s.Names != nil {
		return s.Names.Names(ctx, yield)
	}
	if recalled.Only(s) {
		ids, err := recalled.Labels(ctx, s, markWords...)
		for _, id := range ids {
			if !yield(id) {
				break
			}
		}
		return []string{"the store cannot be listed: only copies that its recall returns by their names are shown"}, err
	}
	if s.Browser == nil {
		return nil, model.Errorf(model.Unsupported, "conflicts", "store %s cannot list its items", s.Name)
	}
	for page, err := range model.Pages(ctx, s.Browser, model.PageRequest{Hidden: true, Limit: model.MaxPage}) {
		if err != nil {
			return notes, err
		}
		notes = append(notes, page.Problems...)
		for _, h := range page.Items {
			if !yield(h.ID) {
				return notes, nil
			}
		}
	}
	return notes, nil
}

// namesAtATime is the size of the batches that the walk hands to the reader.
const namesAtATime = 512

// streamAside is stream with the names read in another goroutine, because the walk waits for the system most
// of the time.
func streamAside(ctx context.Context, s model.Store, take func(id string)) ([]string, error) {
	batches := make(chan []string, 4)
	var wg sync.WaitGroup
	wg.Go(func() {
		for batch := range batches {
			for _, id := range batch {
				take(id)
			}
		}
	})
	batch := make([]string, 0, namesAtATime)
	notes, err := stream(ctx, s, func(id string) bool {
		if batch = append(batch, id); len(batch) == namesAtATime {
			batches <- batch
			batch = make([]string, 0, namesAtATime)
		}
		return true
	})
	batches <- batch
	close(batches)
	wg.Wait()
	return notes, err
}

func (t *tree) hash(s string) uint64 { return maphash.String(t.seed, s) }

// fold maps names that a file system may treat as equal to one form.
func fold(id string) string {
	if !strings.ContainsFunc(id, func(r rune) bool { return r >= utf8.RuneSelf || 'A' <= r && r <= 'Z' }) {
		return id
	}
	return norm.NFC.String(strings.ToLower(norm.NFC.String(id)))
}

// walk reads all names once, and a second time only when that is needed: for bases in another spelling, or files that a
// tool has set aside.
func (t *tree) walk(ctx context.Context, s model.Store) error {
	var err error
	t.notes, err = streamAside(ctx, s, t.add)
	if err != nil {
		return err
	}
	slices.Sort(t.exact)
	slices.Sort(t.folded)
	want, byName := t.wanted(), t.dumpNames()
	if len(want) == 0 && len(byName) == 0 {
		return nil
	}
	t.clear, t.byName = map[string][]string{}, map[string][]string{}
	_, err = stream(ctx, s, func(id string) bool {
		t.again(id, want, byName)
		return true
	})
	return err
}

// again handles one id in the second walk.
func (t *tree) again(id string, want, byName map[string]bool) {
	if inVersions(id) {
		return
	}
	_, name := folder(id)
	if len(want) > 0 {
		if f := fold(id); want[f] {
			t.clear[f] = append(t.clear[f], id)
		}
	}
	if byName[name] && !dumpedID(id) {
		t.byName[name] = append(t.byName[name], id)
	}
}

// add adds one id of the first walk.
func (t *tree) add(id string) {
	if inVersions(id) {
		return
	}
	t.n++
	t.exact = append(t.exact, t.hash(id))
	if f := fold(id); f != id {
		t.folded = append(t.folded, t.hash(f))
	}
	_, name := folder(id)
	if dumpedID(id) {
		t.dumped = append(t.dumped, id)
	}
	if m := names.Classify(name, t.hosts); len(m) > 0 {
		t.found = append(t.found, candidate{id: id, matches: m})
		return
	}
	if c, ok := byFolder(id); ok {
		t.found = append(t.found, c)
	}
}

func (t *tree) has(id string) bool { return t.among(t.exact, id) }

func (t *tree) among(sorted []uint64, id string) bool {
	_, found := slices.BinarySearch(sorted, t.hash(id))
	return found
}

// wanted are folded ids whose spelling the second walk must find.
func (t *tree) wanted() map[string]bool {
	out := map[string]bool{}
	for _, c := range t.found {
		dir, _ := folder(c.id)
		for _, b := range deepBases(c.matches) {
			if f := fold(dir + b); !t.has(dir+b) && t.among(t.folded, f) {
				out[f] = true
			}
		}
	}
	return out
}

// deepBases are all bases that a name can have, nested ones included.
func deepBases(matches []names.Match) []string {
	var out []string
	for depth := 0; depth < maxChain && len(matches) > 0; depth++ {
		var next []names.Match
		for _, m := range matches {
			for _, b := range m.Bases {
				out = append(out, b)
				next = append(next, names.Classify(b, nil)...)
			}
		}
		matches = next[:min(len(next), 16)]
	}
	return out
}

func (t *tree) dumpNames() map[string]bool {
	out := map[string]bool{}
	for _, id := range t.dumped {
		_, name := folder(id)
		out[name] = true
	}
	return out
}

// dump is Google Drive's lost-and-found; its name may begin with a dot.
const dump = "lost_and_found/"

// dumpedID reports whether an id lies in Google Drive's lost-and-found.
func dumpedID(id string) bool {
	i := strings.Index(id, dump)
	return i == 0 || i > 0 && (id[i-1] == '/' || id[i-1] == '.')
}

// inVersions reports whether an id lies in a folder of old versions.
func inVersions(id string) bool {
	i := strings.Index(id, ".stversions/")
	return i == 0 || i > 0 && id[i-1] == '/'
}

// lookup finds the id for folder and base: exactly, or in another spelling. Of several spellings in another case nobody
// knows which is meant.
func (t *tree) lookup(id string) []string {
	if t.has(id) {
		return []string{id}
	}
	// A difference of the normal form comes before one of case.
	nfc, f := norm.NFC.String(id), fold(id)
	if nfc != id && t.has(nfc) {
		return []string{nfc}
	}
	for _, c := range t.clear[f] {
		if norm.NFC.String(c) == nfc {
			return []string{c}
		}
	}
	if all := t.clear[f]; len(all) > 0 || f == id || !t.has(f) {
		return all
	}
	return []string{f}
}

package signal

// entry is the scorer's data about a word or phrase.
type entry struct {
	says   class
	weight float32 // of the wording model
	begins bool    // longer phrases begin with it
}

// table maps hashes of words and phrases to entries. A score looks up every word and pair, so this is no Go
// map: it takes a third of the time.
type table struct {
	keys    []uint64
	entries []entry
}

// compile puts a lexicon and a wording into one table.
func compile(l *lexicon, w *Wording) *table {
	size := 1024
	for size < 3*(len(l.says)+len(l.begins)+len(w.weights)) {
		size *= 2
	}
	t := &table{keys: make([]uint64, size), entries: make([]entry, size)}
	for h, c := range l.says {
		t.slot(h).says = c
	}
	for h := range l.begins {
		t.slot(h).begins = true
	}
	for h, v := range w.weights {
		t.slot(h).weight = v
	}
	return t
}

// slot is the entry of a hash, added when it is new.
func (t *table) slot(h uint64) *entry {
	at := t.find(h)
	t.keys[at] = h
	return &t.entries[at]
}

// get is the entry of a hash, empty when there is none.
func (t *table) get(h uint64) entry { return t.entries[t.find(h)] }

// find is the index of a hash, or of the free slot for it.
func (t *table) find(h uint64) int {
	mask := uint64(len(t.keys) - 1)
	at := (h ^ h>>29) & mask
	for t.keys[at] != h && t.keys[at] != 0 {
		at = (at + 1) & mask
	}
	return int(at)
}

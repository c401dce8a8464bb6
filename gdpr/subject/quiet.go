package subject

import (
	"hash/maphash"
	"sync/atomic"
)

// quiet remembers runs of digits whose decodings hold nothing of the subject: to decode the words of a text again and
// again costs more than the rest of a search. It is bounded: a run takes the place of another one with the same hash.
// It is safe for concurrent use.
type quiet struct {
	seed maphash.Seed
	runs [1 << 14]atomic.Pointer[quietRun]
}

type quietRun struct {
	text   string
	method Method
	depth  int // of nested encodings at which it was decoded: deeper in, less is
}

// maxQuiet is the longest run that is remembered: a longer one is hardly a word.
const maxQuiet = 64

func newQuiet() *quiet { return &quiet{seed: maphash.MakeSeed()} }

func (q *quiet) place(run []byte, m Method) *atomic.Pointer[quietRun] {
	return &q.runs[(maphash.Bytes(q.seed, run)+uint64(m[len(m)-1]))%uint64(len(q.runs))]
}

// has reports whether the run is known to hold nothing.
func (q *quiet) has(run []byte, m Method, depth int) bool {
	if q == nil || len(run) > maxQuiet {
		return false
	}
	known := q.place(run, m).Load()
	return known != nil && known.method == m && known.depth <= depth && known.text == string(run)
}

// add remembers a run.
func (q *quiet) add(run []byte, m Method, depth int) {
	if q != nil && len(run) <= maxQuiet {
		q.place(run, m).Store(&quietRun{string(run), m, depth})
	}
}

package conflict

// hashes is a set of hashes that only grows. A tree of a million names makes as many, and a map to empty
// values costs several times as much.
type hashes struct {
	slots []uint64 // a power of two; 0 is free
	n     int
}

// add takes a hash in.
func (s *hashes) add(h uint64) {
	if 2*(s.n+1) > len(s.slots) {
		old := s.slots
		s.slots, s.n = make([]uint64, max(1024, 2*len(old))), 0
		for _, o := range old {
			if o != 0 {
				s.put(o)
			}
		}
	}
	s.put(some(h))
}

// some maps a hash to one that no free slot has.
func some(h uint64) uint64 {
	if h == 0 {
		return 1
	}
	return h
}

func (s *hashes) put(h uint64) {
	if i, there := s.find(h); !there {
		s.slots[i] = h
		s.n++
	}
}

func (s *hashes) has(h uint64) bool {
	if s.n == 0 {
		return false
	}
	_, there := s.find(some(h))
	return there
}

// find returns the slot of a hash, or the free one for it.
func (s *hashes) find(h uint64) (int, bool) {
	mask := uint64(len(s.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case h:
			return int(i), true
		case 0:
			return int(i), false
		}
	}
}

package conflict

import "testing"

func TestHashesHoldWhatWasAddedAndNothingElse(t *testing.T) {
	var s hashes
	if s.has(0) || s.has(7) {
		t.Error("an empty set holds something")
	}
	s.add(0) // the mark of a free slot must be a hash like any other
	for i := range uint64(5000) {
		s.add(i * 1024) // all in the same slot
		s.add(i * 1024)
	}
	for i := range uint64(5000) {
		if !s.has(i*1024) || i > 1 && s.has(i*1024+3) {
			t.Fatalf("%d: %v %v", i, s.has(i*1024), s.has(i*1024+3))
		}
	}
	if !s.has(0) || s.n != 5000 {
		t.Errorf("%d hashes, want 5000", s.n)
	}
}

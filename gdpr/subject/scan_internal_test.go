package subject

import (
	"bytes"
	"fmt"
	"testing"
)

// TestManyBystanders: ids that count up must be looked up, not tried one after the other. Without that, this
// test takes an hour.
func TestManyBystanders(t *testing.T) {
	m, err := New("customer1")
	if err != nil {
		t.Fatal(err)
	}
	var beside Bystanders
	record := []byte("\x00\x01")
	for i := range 100_000 {
		after := fmt.Sprintf("%07d", i)
		beside.add("", "customer1", after)
		record = fmt.Appendf(record, "Customer1%s\x00", after)
	}
	if rep, err := m.Scan(t.Context(), bytes.NewReader(append(record, "customer1x"...)), &beside); err != nil || rep.Hits != 1 {
		t.Errorf("%d hits, %v; want that of the unknown word", rep.Hits, err)
	}
	if n := len(beside.Joined()); n != 0 {
		t.Errorf("%d words are joined, want none", n)
	}
}

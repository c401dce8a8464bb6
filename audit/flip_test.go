package audit

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestOneFlippedBitIsFound flips one bit anywhere in a log of 20,000 records, 1,000,000 with MEMDESK_SOAK.
func TestOneFlippedBitIsFound(t *testing.T) {
	records := 20_000
	if os.Getenv("MEMDESK_SOAK") != "" {
		records = 1_000_000
	}
	dir := filepath.Join(t.TempDir(), "audit")
	if err := generate(dir, records); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, segment(1)), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	flip := func(at int64, bit int) {
		var b [1]byte
		if _, err := f.ReadAt(b[:], at); err != nil {
			t.Fatal(err)
		}
		b[0] ^= 1 << bit
		if _, err := f.WriteAt(b[:], at); err != nil {
			t.Fatal(err)
		}
	}
	if rep, err := Verify(t.Context(), dir); err != nil || !rep.OK || rep.Events < uint64(records) {
		t.Fatalf("as it was written: %+v %v", rep, err)
	}
	rng := rand.New(rand.NewPCG(10, 6))
	at := []int64{0, info.Size() - 1}
	for range 30 {
		at = append(at, rng.Int64N(info.Size()))
	}
	for _, at := range at {
		bit := rng.IntN(8)
		flip(at, bit)
		if rep, err := Verify(t.Context(), dir); err == nil && rep.OK {
			t.Errorf("bit %d of byte %d of %d is flipped and not found", bit, at, info.Size())
		}
		flip(at, bit)
	}
}

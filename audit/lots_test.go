package audit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLotsGiveEveryLine: lines that end at, before and after a chunk's end must be returned once, in
// order and complete.
func TestLotsGiveEveryLine(t *testing.T) {
	for _, length := range []int{0, 1, chunk - 2, chunk - 1} {
		for _, tail := range []string{"", "torn"} {
			t.Run(fmt.Sprint(length, tail), func(t *testing.T) {
				text := strings.Repeat(strings.Repeat("x", length)+"\nabc\n", 5) + tail
				s := newLots(strings.NewReader(text), int64(len(text)), false)
				var got bytes.Buffer
				cut := false
				for s.at < s.limit {
					l, err := s.read()
					if err != nil || l.at != int64(got.Len()) || cut {
						t.Fatalf("a lot at %d behind %d bytes, cut %v: %v", l.at, got.Len(), cut, err)
					}
					got.Write(l.buf)
					cut = l.cut
					s.spare = l
				}
				if got.String()+tail != text || cut != (tail != "") {
					t.Errorf("%d of %d bytes came, cut %v", got.Len(), len(text), cut)
				}
			})
		}
	}
}

// TestVerifyOverLots: a change anywhere in a log of many lots must be found at its record.
func TestVerifyOverLots(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	const records = 2000
	if err := generate(dir, records); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, segment(1))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(whole) < 3*chunk {
		t.Fatalf("%d bytes are too few for this test", len(whole))
	}
	if rep, err := Verify(t.Context(), dir); err != nil || !rep.OK || rep.Events < records {
		t.Fatalf("%+v, %v", rep, err)
	}
	for name, damage := range map[string]func(b []byte, at int) []byte{
		"changed": func(b []byte, at int) []byte { b[at+12] ^= 1; return b },
		"joined":  func(b []byte, at int) []byte { b[at-1] = ' '; return b },
		"too long": func(b []byte, at int) []byte {
			return append(append(b[:at:at], bytes.Repeat([]byte("y"), 2*chunk)...), whole[at:]...)
		},
		"gone": func(b []byte, at int) []byte {
			return append(b[:at:at], whole[at+bytes.IndexByte(whole[at:], '\n')+1:]...)
		},
	} {
		for _, near := range []int{chunk, 2*chunk + 100, len(whole) - 3000} {
			t.Run(fmt.Sprint(name, near), func(t *testing.T) {
				at := near + bytes.IndexByte(whole[near:], '\n') + 1
				want := uint64(bytes.Count(whole[:at], []byte("\n"))) + 1
				if name == "joined" {
					want-- // the record before is part of the line
				}
				if err := os.WriteFile(path, damage(bytes.Clone(whole), at), 0o600); err != nil {
					t.Fatal(err)
				}
				rep, err := Verify(t.Context(), dir)
				if err != nil || rep.OK || rep.FirstBad != want {
					t.Errorf("first bad is %d, want %d: %s, %v", rep.FirstBad, want, rep.Reason, err)
				}
			})
		}
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
}

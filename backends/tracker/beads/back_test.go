package beads

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"memdesk/model"
)

// TestPairsComeBackAsLines: a pair kept from a last line without a line end, or put back behind one, must not join
// another; a file that did not change meanwhile is as it was.
func TestPairsComeBackAsLines(t *testing.T) {
	const one, two = `{"id":"p-aaa"}` + "\n" + `{"id":"p-bbb"}` + "\n", `{"id":"p-ccc"}` + "\n"
	const ab, ac, ad = `{"blockerId":"p-aaa","blockedId":"p-bbb"}`, `{"blockerId":"p-aaa","blockedId":"p-ccc"}`, `{"blockerId":"p-aaa","blockedId":"p-ddd"}`
	for name, c := range map[string]struct{ before, meanwhile, want string }{
		"as it was":           {ab + "\n" + ac, ab + "\n", ab + "\n" + ac},
		"before a new line":   {ab + "\n" + ac, ab + "\n" + ad + "\n", ab + "\n" + ac + "\n" + ad + "\n"},
		"behind an open line": {ab + "\n" + ac + "\n", ab, ab + "\n" + ac + "\n"},
	} {
		dir := t.TempDir()
		look := func(issues, deps string) *snapshot {
			for file, text := range map[string]string{"issues.jsonl": issues, "deps.jsonl": deps} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			snap, err := NewStore(dir, Config{}).view(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return snap
		}
		was := look(one+two, c.before)
		kept, err := NewStore(dir, Config{}).Keep(t.Context(), "p-ccc")
		if err != nil {
			t.Fatal(err)
		}
		rec := was.Record(was.Find("p-ccc"))
		rec.Back = &kept
		if _, deps, place, err := look(one, c.meanwhile).putBack(rec, "2026-01-01T00:00:00Z"); err != nil || place < 0 || string(deps) != c.want {
			t.Errorf("%s: %d, %v, %q; want %q", name, place, err, deps, c.want)
		}
	}
}

// TestManyPairsComeBack: an item in many pairs must come back within the time of one write.
func TestManyPairsComeBack(t *testing.T) {
	const n = 8000
	var was, left []byte
	var pairs []model.BesideLine
	for i := range n {
		line := fmt.Appendf(nil, `{"blockerId":"p-%d","blockedId":"p-%d"}`+"\n", i%4, i)
		if was = append(was, line...); i%4 != 0 {
			left = append(left, line...)
			continue
		}
		pairs = append(pairs, model.BesideLine{At: i, Text: string(line)})
	}
	s := parse(nil, left)
	if got := s.withPairs(pairs); !bytes.Equal(got, was) {
		t.Error("the pairs are not in their old places")
	}
	if n := testing.AllocsPerRun(1, func() { s.withPairs(pairs) }); n > 2*float64(len(pairs)) { // a parse of the file for each pair makes thousands
		t.Errorf("%v allocations", n)
	}
}

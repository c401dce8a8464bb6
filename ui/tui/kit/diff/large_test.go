package diff_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"memdesk/internal/safetext"
	"memdesk/internal/testcpu"
	"memdesk/ui/tui/kit/diff"
)

// TestLargeIsNoSameness: texts that are too large to be compared must not count as equal.
func TestLargeIsNoSameness(t *testing.T) {
	long := strings.Repeat("a line\n", 200_000)
	var c, all diff.Comparison
	c.Compare(safetext.Escaper{}, "old", "new", long, long+"one more\n")
	part := all.Section(safetext.Escaper{}, "theirs", "old", "new", long, long+"one more\n")
	if !c.Large || !part.Large || !all.Large {
		t.Errorf("not marked: %+v, %+v, %+v", c.Change, part, all.Change)
	}
	for _, words := range []string{c.Signs(), c.Counts(), c.Words(safetext.Escaper{}).String(), c.CopyWords(safetext.Escaper{}).String()} {
		if strings.Contains(words, "0") {
			t.Errorf("it counts: %q", words)
		}
	}
}

// TestWordsHaveABound: a comparison runs for each conflict under the cursor, and its texts may be made to be slow.
func TestWordsHaveABound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range 400 {
			for range 950 {
				b.WriteByte(byte('a' + r.IntN(26)))
				b.WriteByte(' ')
			}
			b.WriteByte('\n')
		}
		return b.String()
	}
	old, new := text(), text()
	var c diff.Comparison
	if took := testcpu.Spent(func() { c.Compare(safetext.Escaper{}, "old", "new", old, new) }); took > 3*time.Second {
		t.Errorf("it took %s", took)
	}
	if c.Added != 400 || c.Removed != 400 {
		t.Errorf("%+v", c.Change)
	}
}

package signal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/quarantine/signal"
)

// contradictions are the pairs of testdata/contradictions.txt.
func contradictions(t testing.TB) (pairs [][2]string, says []bool) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "contradictions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if line[0] == '#' {
			continue
		}
		older, newer, ok := strings.Cut(strings.TrimSpace(line[2:]), " | ")
		if !ok {
			t.Fatalf("no pair: %q", line)
		}
		pairs, says = append(pairs, [2]string{older, newer}), append(says, line[0] == '+')
	}
	return pairs, says
}

// Another value of the same attribute, or a denial, contradicts; merely shared words do not. Two of the
// pairs use different words, so that a comparison of words cannot find them.
func TestContradicts(t *testing.T) {
	const most = 2 // missed pairs
	pairs, says := contradictions(t)
	missed := 0
	for i, p := range pairs {
		_, _, got := signal.StatementsOf(p[1]).Contradicts(signal.StatementsOf(p[0]))
		switch {
		case got && !says[i]:
			t.Errorf("%q contradicts %q", p[1], p[0])
		case !got && says[i]:
			t.Logf("missed: %q after %q", p[1], p[0])
			missed++
		}
	}
	if missed > most {
		t.Errorf("%d contradictions are missed, %d were", missed, most)
	}
}

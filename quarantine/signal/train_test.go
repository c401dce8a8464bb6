package signal

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write weights.txt anew, as `make poison-model` does")

// languages are the sets of testdata/memories, which were written for the training.
var languages = []string{"de", "en", "es", "fr", "zh"}

// memories are the texts of one language.
func memories(t testing.TB, language string) []Example {
	t.Helper()
	var out []Example
	for _, kind := range []string{"clean", "poisoned"} {
		b, err := os.ReadFile(filepath.Join("testdata", "memories", language+"-"+kind+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			out = append(out, Example{Text: strings.TrimSpace(line), Planted: kind == "poisoned"})
		}
	}
	return out
}

func allMemories(t testing.TB) []Example {
	var out []Example
	for _, l := range languages {
		out = append(out, memories(t, l)...)
	}
	return out
}

func trained(t testing.TB, examples []Example) *Wording {
	t.Helper()
	var b bytes.Buffer
	if err := Train(&b, examples); err != nil {
		t.Fatal(err)
	}
	w, err := ReadWording(&b)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// The shipped weights must be those trained on testdata, and small.
func TestWeightsAreTrainedOnTestdata(t *testing.T) {
	examples := allMemories(t)
	if len(examples) < 800 {
		t.Errorf("%d texts to train on, want 800", len(examples))
	}
	var b bytes.Buffer
	if err := Train(&b, examples); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("weights.txt", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if b.String() != weightsText {
		t.Error("weights.txt is not what the texts in testdata give: run `make poison-model`")
	}
	if len(weightsText) > 1<<20 {
		t.Errorf("the weights take %d bytes", len(weightsText))
	}
}

// Each fifth of the texts is scored by a model trained without it. The figures are printed; the bounds
// are far below them and only catch a broken model.
func TestTextsThatTheModelHasNotSeen(t *testing.T) {
	examples := allMemories(t)
	var hits, planted, wrong, clean int
	for fold := range 5 {
		var train, held []Example
		for i, e := range examples {
			if i%5 == fold {
				held = append(held, e)
			} else {
				train = append(train, e)
			}
		}
		c := NewScorer(trained(t, train))
		for _, e := range held {
			flagged := c.Of(e.Text).Sum >= Default
			switch {
			case e.Planted:
				planted++
				if flagged {
					hits++
				}
			default:
				clean++
				if flagged {
					wrong++
				}
			}
		}
	}
	t.Logf("flagged %d of %d planted and %d of %d clean texts", hits, planted, wrong, clean)
	if 100*hits < 40*planted || 100*wrong > 2*clean {
		t.Errorf("flagged %d of %d planted and %d of %d clean texts", hits, planted, wrong, clean)
	}
}

// No signal may be specific to the words of one set.
func TestEverySignalIsFoundInSeveralSets(t *testing.T) {
	found := map[string]map[string]int{}
	for _, l := range languages {
		for _, e := range memories(t, l) {
			if !e.Planted {
				continue
			}
			for _, name := range (Scorer{}).Of(e.Text).Names() {
				if found[name] == nil {
					found[name] = map[string]int{}
				}
				found[name][l]++
			}
		}
	}
	english := map[string]bool{"disparages": true} // needs product names with capitals inside
	for _, r := range append(append([]rule{}, ofSentence...), ofPassage...) {
		t.Logf("%-18s %v", r.name, found[r.name])
		if n := len(found[r.name]); n < 2 && !english[r.name] {
			t.Errorf("%s is found in %d of %d sets", r.name, n, len(languages))
		}
	}
}

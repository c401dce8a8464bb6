package signal

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// wordingMost is the most that wording adds to a score: less than Default, so it is never enough alone.
const wordingMost = 3.0

// Wording is a linear model over words and word pairs.
type Wording struct {
	bias    float64
	weights map[uint64]float32
}

//go:embed weights.txt
var weightsText string

var shippedWording = sync.OnceValue(func() *Wording {
	w, err := ReadWording(strings.NewReader(weightsText))
	if err != nil {
		panic(err) // the embedded file is tested
	}
	return w
})

// wordingWeight is what the wording of n words adds to a score, given the sum of their weights; 0 when it is
// closer to clean memories.
func wordingWeight(bias, sum float64, n int) float64 {
	x := bias + sum/norm(n)
	if x <= 0 {
		return 0
	}
	return wordingMost * (2/(1+math.Exp(-x)) - 1)
}

// norm makes long passages comparable with short ones.
func norm(n int) float64 { return math.Sqrt(float64(2*n - 1)) }

// ReadWording reads a model in the form of WriteTo: a line with the bias, then lines of weight, tab and
// words.
func ReadWording(r io.Reader) (*Wording, error) {
	w := &Wording{weights: map[uint64]float32{}}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		value, feature, ok := strings.Cut(lines.Text(), "\t")
		v, err := strconv.ParseFloat(value, 32)
		if !ok || err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("line %d of the model is no weight, tab and words", n)
		}
		if feature == "" {
			w.bias = v
			continue
		}
		a, b, pair := strings.Cut(feature, " ")
		h := hashOf(a)
		if pair {
			h = join(h, hashOf(b))
		}
		w.weights[h] = float32(v)
	}
	return w, lines.Err()
}

// Example is one text with its label.
type Example struct {
	Text    string
	Planted bool
}

const (
	trainRounds = 60   // passes over the examples
	trainRate   = 2.0  // of the first pass; it falls with each
	trainDecay  = 2e-4 // of all weights, so that rare words count less
	keepFrom    = 0.04 // smaller weights are not worth their bytes
)

// Train writes the model of some examples. The same examples in the same order
// give the same bytes.
func Train(out io.Writer, examples []Example) error {
	type sample struct {
		features []string
		norm     float64
		target   float64
	}
	samples := make([]sample, 0, len(examples))
	for _, e := range examples {
		words := split(e.Text, nil)
		if len(words) == 0 {
			continue
		}
		s := sample{norm: norm(len(words))}
		if e.Planted {
			s.target = 1
		}
		for i, w := range words {
			a := stem(e.Text[w.start:w.end])
			s.features = append(s.features, a)
			if i+1 < len(words) {
				s.features = append(s.features, a+" "+stem(e.Text[words[i+1].start:words[i+1].end]))
			}
		}
		samples = append(samples, s)
	}
	weights, bias := map[string]float64{}, 0.0
	for round := range trainRounds {
		rate := trainRate / (1 + float64(round)/10)
		// A fixed stride over the examples mixes the labels without a random source.
		const stride = 7919
		for k := range samples {
			s := &samples[k*stride%len(samples)]
			sum := bias
			for _, f := range s.features {
				sum += weights[f] / s.norm
			}
			step := rate * (s.target - 1/(1+math.Exp(-sum)))
			bias += step * 0.1
			for _, f := range s.features {
				weights[f] += step/s.norm - rate*trainDecay*weights[f]
			}
		}
	}
	buf := bufio.NewWriter(out)
	fmt.Fprintf(buf, "%.4f\t\n", bias)
	for _, f := range slices.Sorted(maps.Keys(weights)) {
		if v := weights[f]; math.Abs(v) >= keepFrom {
			fmt.Fprintf(buf, "%.3f\t%s\n", v, f)
		}
	}
	return buf.Flush()
}

// stem is the compared part of a word.
func stem(s string) string {
	s = strings.ToLower(s)
	n := 0
	for i := range s {
		if n == stemLength {
			return s[:i]
		}
		n++
	}
	return s
}

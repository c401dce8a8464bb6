package signal

// alikeFrom is the part of words that two texts of one family share.
const alikeFrom = 0.5

// Alike reports whether two texts are of one family: half of their words or more
// are the same, numbers and addresses left out.
func Alike(a, b string) bool {
	x, y := bag(a), bag(b)
	if len(x) == 0 || len(y) == 0 {
		return a == b
	}
	both := 0
	for h := range x {
		if y[h] {
			both++
		}
	}
	return float64(both) >= alikeFrom*float64(len(x)+len(y)-both)
}

func bag(text string) map[uint64]bool {
	words := map[uint64]bool{}
	for _, w := range split(text, nil) {
		if w.shape&(number|address) == 0 {
			words[w.hash] = true
		}
	}
	return words
}

// Package meant suggests the known word that a misspelt one was meant to be.
package meant

// longest is the most characters of a word that is compared.
const longest = 32

// Nearest is the known word with the fewest slips, two at most; empty when none is near.
func Nearest(word string, known []string) string {
	best, least := "", 3 // beyond two slips it is another word
	for _, k := range known {
		if n := slips(word, k); n < least && n < max(len(k), len(word)) {
			best, least = k, n
		}
	}
	return best
}

// slips is the edit distance of two words: letters inserted, left out, changed or swapped.
func slips(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > longest || len(y) > longest {
		return longest
	}
	var d [longest + 1][longest + 1]int
	for i := range len(x) + 1 {
		for j := range len(y) + 1 {
			if i == 0 || j == 0 {
				d[i][j] = i + j
				continue
			}
			change := 1
			if x[i-1] == y[j-1] {
				change = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+change)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(x)][len(y)]
}

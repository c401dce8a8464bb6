package quarantine

import (
	"encoding/base64"
	"iter"
)

const (
	// minRun is the shortest base64 run upstream decodes, padding not counted.
	minRun = 60
	// maxRuns is how many runs upstream scans.
	maxRuns = 256
)

func isBase64(c byte) bool {
	return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '+' || c == '/'
}

// base64Runs yields the runs of at least shortest characters of the alphabet, each with up to two padding
// signs, as upstream's expression finds them. It tests one character in every shortest, because a run cannot
// lie between two of them.
func base64Runs(text string, shortest int) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for floor, probe := 0, shortest-1; probe < len(text); {
			if !isBase64(text[probe]) {
				floor = probe + 1
				probe += shortest
				continue
			}
			start, end := probe, probe+1
			for start > floor && isBase64(text[start-1]) {
				start--
			}
			for end < len(text) && isBase64(text[end]) {
				end++
			}
			long := end-start >= shortest
			for pad := 0; long && pad < 2 && end < len(text) && text[end] == '='; pad++ {
				end++
			}
			if long && !yield(start, end) {
				return
			}
			floor, probe = end, end+shortest-1
		}
	}
}

// decodeRun decodes with the padded alphabet. False: the run does not decode, or less than half of it is
// readable.
func decodeRun(run string) (string, bool) {
	decoded, err := base64.StdEncoding.DecodeString(run)
	if err != nil {
		return "", false
	}
	return string(decoded), 2*readable(decoded) >= len(decoded)
}

// readable counts printable ASCII, tabs and line ends.
func readable(decoded []byte) int {
	n := 0
	for _, c := range decoded {
		if 0x20 <= c && c <= 0x7E || c == '\t' || c == '\n' || c == '\r' {
			n++
		}
	}
	return n
}

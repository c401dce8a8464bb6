package subject

import (
	"strings"
	"testing"
)

// TestARepeatedDigitIsDecodedOnce: the decodings at every offset of one digit, or of two in turn, are the same. A
// hostile text of them took minutes.
func TestARepeatedDigitIsDecodedOnce(t *testing.T) {
	for _, c := range []struct {
		in   *alphabet
		text string
		most int
	}{{base32Code, "x", 1}, {base32Code, "xz", 2}, {base64Code, "xX", 2}, {hexCode, "6", 1}} {
		text := strings.Repeat(c.text, 400/len(c.text))
		if n := len(decodings([]byte(text), []line{{0, len(text), len(text)}}, c.in, true, nil, nil)); n < 1 || n > c.most {
			t.Errorf("%s repeated: %d decodings, want 1 to %d", c.text, n, c.most)
		}
	}
}

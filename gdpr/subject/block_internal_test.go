package subject

import (
	"strings"
	"testing"
)

// TestARepeatedDigitIsDecodedOnce: the decodings at every offset of one digit, or of two in turn, are the same. A
// hostile text of them took minutes.
func TestARepeatedDigitIsDecodedOnce(t *testing.T) {
	for _, c := range []struct {
		in   *[256]bool
		text string
		most int
	}{{&base32Digits, "x", 1}, {&base32Digits, "xz", 2}, {&base64Digits, "xX", 2}, {&hexDigits, "6", 1}} {
		text := strings.Repeat(c.text, 400/len(c.text))
		if n := len(decodings([]byte(text), []line{{0, len(text), len(text)}}, c.in, true, nil)); n < 1 || n > c.most {
			t.Errorf("%s repeated: %d decodings, want 1 to %d", c.text, n, c.most)
		}
	}
}

package suppress

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"strings"
	"testing"
)

// TestSumIsHMAC: the sum without allocation must equal the library's, which files of earlier versions
// contain.
func TestSumIsHMAC(t *testing.T) {
	for _, secret := range [][]byte{bytes.Repeat([]byte{7}, 32), bytes.Repeat([]byte{9}, 64), bytes.Repeat([]byte{1}, 100)} {
		for _, n := range []int{0, 1, 54, 55, 56, 120, 183, 184, 185, 186, 187, 188, 5000} {
			text := strings.Repeat("x", n)
			m := hmac.New(sha256.New, secret)
			m.Write([]byte("term\x00" + text))
			k := newKey(secret)
			if got := k.sum("term", text); !bytes.Equal(got[:], m.Sum(nil)[:16]) {
				t.Errorf("key of %d bytes, text of %d: another sum", len(secret), n)
			}
		}
	}
	h := newKey([]byte("k")).sum("a", "b")
	for in, ok := range map[string]bool{hexSum(h): true, hexSum(h)[2:]: false, hexSum(h) + "00": false, "": false, strings.Repeat("z", 32): false} {
		if got, is := parseHash(in); is != ok || ok && got != h {
			t.Errorf("parseHash(%q) = %v, %v", in, got, is)
		}
	}
}

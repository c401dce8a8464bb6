package langgraph

import (
	"strings"
	"testing"
)

// TestReadable: neither a length nor a number beside a text joins it, and bytes that are no msgpack stay
// findable.
func TestReadable(t *testing.T) {
	long := "Ada Holt" + strings.Repeat(".", 61) // 69 bytes: the length is an E
	for blob, want := range map[string]string{
		"\x91\xd9E" + long:                            long,
		"\x92\xa8Ada HoltA":                           "Ada Holt", // and the number 65
		"\x81\xa8Ada HoltA":                           "Ada Holt",
		"\x81\xa1k\xda\x00\x03Ada":                    "k\nAda",
		"\xc7\x07\x05\x92\xa1m\xa3Ada":                "m\nAda", // an extension around a value
		"\xc4\x03Ada":                                 "Ada",
		"\xdd\x00\x00\x00\x02\xc0\xcb12345678":        "",
		"\x82\xa1a\xd2AAAA\xa1b\xdb\x00\x00\x00\x01Z": "a\nb\nZ",
		`[{"content":"Ada"}]`:                         `[{"content":"Ada"}]`,
		"told Ada\xdc":                                `told Ada\334`,
		"\xdd\xff\xff\xff\xff":                        `\335\377\377\377\377`,
	} {
		if got := readable([]byte(blob)); got != want {
			t.Errorf("%q is %q; want %q", blob, got, want)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte("\x82\xa1a\x92\xd9\x01b\xc7\x02\x05\xa1c\xa1d\xc0"))
	f.Fuzz(func(t *testing.T, b []byte) {
		texts, ok := unpack(b)
		if n := len(strings.Join(texts, "")); ok && n > len(b) {
			t.Errorf("%d bytes of text in %d", n, len(b))
		}
	})
}

//go:build unix

package subject_test

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/gdpr/subject"
	"memdesk/internal/testcpu"
)

// spent is the less of the times that f takes twice.
func spent(f func()) time.Duration { return min(testcpu.Spent(f), testcpu.Spent(f)) }

// TestTheTimeOfASearchIsLinear: a text of four times the length must take about four times as long: a write waits for the
// search, and a plan reads every item.
func TestTheTimeOfASearchIsLinear(t *testing.T) {
	hash := func(label, text string) (s subject.Sum) {
		sum := sha256.Sum256([]byte(label + "\x00" + text))
		copy(s[:], sum[:])
		return s
	}
	index := subject.NewIndex(subject.Sealed("Maren Holt", hash), hash)
	find := func(text string) {
		if err := index.Find(t.Context(), text, func(int, string, int, int) bool { return true }); err != nil {
			t.Fatal(err)
		}
	}
	latin, han := matcher(t, "Maren Holt"), matcher(t, "王小明")
	for name, tt := range map[string]struct {
		size   int
		text   func(n int) string
		search func(text string)
	}{
		"runs of HZ in one line":        {100 << 10, func(n int) string { return strings.Repeat("~{!!~}", n/6) }, func(s string) { han.Text(s) }},
		"runs of HZ without an end":     {200 << 10, func(n int) string { return strings.Repeat("~{!!", n/4) }, func(s string) { han.Text(s) }},
		"runs of ISO-2022 in an index":  {50 << 10, func(n int) string { return strings.Repeat("\x0e!!\x0f", n/4) }, find},
		"a picture in a mail":           {40 << 10, mailOf, func(s string) { latin.Text(s) }},
		"a picture in a mail, scanned":  {40 << 10, mailOf, func(s string) { _, _ = latin.Scan(t.Context(), strings.NewReader(s), nil) }},
		"a picture in a mail, an index": {20 << 10, mailOf, find},
		"a picture in a string of JSON": {40 << 10, func(n int) string { return strings.ReplaceAll(mailOf(n), "\n", `\n`) }, func(s string) { latin.Text(s) }},
	} {
		t.Run(name, func(t *testing.T) {
			tt.search(tt.text(1000))
			short, long := spent(func() { tt.search(tt.text(tt.size)) }), spent(func() { tt.search(tt.text(4 * tt.size)) })
			t.Log(short, long)
			if long > 8*short+20*time.Millisecond {
				t.Errorf("%d KB take %v, four times as much %v", tt.size>>10, short, long)
			}
		})
	}
}

// mailOf is a mail with an attachment of random bytes in base64, in lines as mail programs break them.
func mailOf(n int) string {
	b := strings.Builder{}
	b.WriteString("From: a@b.test\n\n")
	for line := range slices.Chunk(noise(n), 57) {
		b.WriteString(base64.StdEncoding.EncodeToString(line) + "\n")
	}
	return b.String()
}

package subject_test

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mholt/archives"
)

func zlibbed(t testing.TB, level int, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zlib.NewWriterLevel(&out, level)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// letters are words that do not compress well.
func letters(n int) string {
	r := rand.New(rand.NewPCG(5, 5))
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz0123456789 ABCDEFGHIJKLMNOPQRSTUVWXYZ\n.,"[r.IntN(66)]
	}
	return string(b)
}

// TestCompressedInRecords: compressed data inside a binary medium must be opened at any offset and of
// any length, in each format of docs/found.md; data not opened to its end must be reported.
func TestCompressedInRecords(t *testing.T) {
	m := matcher(t, "Zoë Ångström", "zx9canary77q")
	const said = "asked Zoë Ångström for keys\n"
	bz2 := bzipped(t, said)
	record := bytes.Repeat([]byte{0, 1, 2, 0, 'a', 0, 0, 0}, 25_000)
	head := record[:41]
	long := letters(3<<19) + said
	tests := []struct {
		name   string
		data   []byte
		hits   bool
		closed string
	}{
		{"gzip", zipped(t, "", []byte(said)), true, ""},
		{"zstd", packed(t, archives.Zstd{}, said), true, ""},
		{"xz", packed(t, archives.Xz{}, said), true, ""},
		{"bzip2", bz2, true, ""},
		{"zip, its list far away", zipFile(t, zip.Deflate, "a.md", said), true, ""},
		{"zip, the second member", zipFile(t, zip.Deflate, "a.md", "quiet", "b.md", said), true, ""},
		{"zlib, stored", zlibbed(t, 0, []byte(said)), true, ""},
		{"zlib, fast", zlibbed(t, 1, []byte(said)), true, ""},
		{"zlib", zlibbed(t, 6, []byte(said)), true, ""},
		{"zlib, best", zlibbed(t, 9, []byte(said)), true, ""},
		{"zlib, three letters and the end", zlibbed(t, 6, []byte("zx9canary77q")), true, ""},
		{"zlib of a record", zlibbed(t, 6, []byte("\x00\x03xzx9canary77q2026\x00")), true, ""},
		{"zlib of UTF-16", zlibbed(t, 6, wide(said, false)), true, ""},
		{"zlib, somebody else's", zlibbed(t, 6, []byte("asked zx9canary77q2 and Zoë Ångströms-Berg")), false, ""},
		{"zlib, beside words of RTF", append(zlibbed(t, 6, []byte(said)), `\rtf1`...), true, ""},
		{"zlib, its header alone", []byte("\x78\x9c\x78\x9c\x78\xda zx9 \x78\x01"), false, ""},
		{"gzip of 1.5 MB", zipped(t, "", []byte(long)), true, ""},
		{"zlib of 1.5 MB", zlibbed(t, 6, []byte(long)), true, ""},
		{"zstd of 1.5 MB", packed(t, archives.Zstd{}, long), true, ""},
		{"zip of 1.5 MB", zipFile(t, zip.Deflate, "a.md", long), true, ""},
		{"gzip of 17 MB", zipped(t, "", make([]byte, 17<<20)), false, "more comes out of what is compressed inside than is looked at"},
		{"gzip, five of 1 MB", bytes.Repeat(append(zipped(t, "", make([]byte, 1<<20)), 0), 5), false, ""},
		{"gzip, six of 15 MB", bytes.Repeat(append(zipped(t, "", make([]byte, 15<<20)), 0), 6), false, "more comes out of what is compressed inside than is looked at"},
	}
	for _, tt := range tests {
		for where, before := range map[string]int{"behind a byte": 1, "behind a header": len(head), "over the end of a chunk": 1<<20 - 20} {
			if len(tt.data) > 4096 { // or its first bytes look encrypted
				before = max(before, 5000)
			}
			t.Run(fmt.Sprintf("%s %s", tt.name, where), func(t *testing.T) {
				front := bytes.Repeat(head, before/len(head)+1)[:before]
				front[0] = 0
				data := slices.Concat(front, tt.data, record)
				for i, r := range []io.Reader{bytes.NewReader(data), io.MultiReader(bytes.NewReader(data))} {
					rep, err := m.Scan(t.Context(), r, nil)
					closed := strings.Join(rep.Closed, "; ")
					if err != nil || rep.Hits > 0 != tt.hits || closed != tt.closed && (tt.closed == "" || !strings.Contains(closed, tt.closed)) {
						t.Errorf("%d: %+v, %v; closed %q, want %q", i, rep, err, closed, tt.closed)
					}
				}
			})
		}
	}
}

// TestTooMuchInWideText: a block in UTF-16 text that could not be read to its end must not pass as searched.
func TestTooMuchInWideText(t *testing.T) {
	m := matcher(t, "Zoë Ångström")
	block := base64.StdEncoding.EncodeToString(zipped(t, "", make([]byte, 17<<20)))
	for name, text := range map[string][]byte{"plain": []byte("see " + block), "UTF-16": slices.Concat([]byte("\xfe\xff"), wide("see "+block, true))} {
		rep, err := m.Scan(t.Context(), bytes.NewReader(text), nil)
		if err != nil || !strings.Contains(strings.Join(rep.Closed, "; "), "more comes out of what is compressed inside") {
			t.Errorf("%s: %+v, %v", name, rep, err)
		}
	}
}

// TestPackedInABlockBehindAFoldedLine: only the block that holds compressed data may be redacted, not its neighbours.
func TestPackedInABlockBehindAFoldedLine(t *testing.T) {
	m := matcher(t, "Zoë Ångström")
	block := base64.RawURLEncoding.EncodeToString(slices.Concat([]byte("W\x00d"), zlibbed(t, 6, []byte("Zoë Ångström"))))
	const before, after = "to.\n\t\"", "\" at five"
	for _, end := range []string{"", "\n\t"} { // the block may be folded too
		if got, want := m.Redact(before+block[:20]+end+block[20:]+after, "x"), before+"x"+after; got != want {
			t.Errorf("redacted to %q, want %q", got, want)
		}
	}
}

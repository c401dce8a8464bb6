package subject_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mholt/archives"
)

// inMail is an attachment of a mail, in lines of 76 digits.
func inMail(b []byte) string {
	s := "From: a@b.test\r\nContent-Transfer-Encoding: base64\r\n\r\n"
	for line := range slices.Chunk(b, 57) {
		s += base64.StdEncoding.EncodeToString(line) + "\r\n"
	}
	return s
}

// TestWhatIsClosedInside: a part of a mail or of a binary file that cannot be opened must be named, and one that is opened
// must not be.
func TestWhatIsClosedInside(t *testing.T) {
	m := matcher(t, "Zoë Ångström", "zx9canary77q")
	const said = "asked Zoë Ångström for keys\n"
	record := bytes.Repeat([]byte{0, 1, 2, 0, 'a', 0, 0, 0}, 1000)
	whole := zipFile(t, zip.Deflate, "a.md", said, "b.md", strings.Repeat("quiet ", 99))
	secret := encrypted(zipFile(t, zip.Deflate, "a.md", said))
	lzma := bytes.Clone(whole)
	lzma[8] = 14 // the method of the first member
	older := strings.Repeat("a line of an older mail\r\n", 36<<10)
	picture := append([]byte("\x89PNG\r\n\x1a\n"), noise(300<<10)...)
	long := zipFile(t, zip.Deflate, "a.png", string(picture), "b.md", said)
	wrapped := strings.ReplaceAll(strings.TrimPrefix(inMail(whole), "From"), "\r\n", `\r\n`)
	tests := map[string]struct {
		data   string
		hits   bool
		closed string
	}{
		"a zip":                      {inMail(whole), true, ""},
		"a zip in JSON":              {`{"content":"` + wrapped + `"}`, true, ""},
		"a zip in a line of text":    {"see:\n" + base64.StdEncoding.EncodeToString(whole) + "\nBest regards", true, ""},
		"a zip in hex":               {"x " + hex.EncodeToString(whole), true, ""},
		"a zip, encrypted":           {inMail(secret), false, "in a.md: encrypted"},
		"a zip, encrypted, in JSON":  {`{"content":"` + base64.StdEncoding.EncodeToString(secret) + `"}`, false, "in a.md: encrypted"},
		"a zip, encrypted, in a zip": {inMail(zipFile(t, zip.Deflate, "b.zip", string(secret))), false, "in b.zip → a.md: encrypted"},
		"a zip, cut off":             {inMail(whole[:60]), false, "a zip archive that cannot be read"},
		"gzip, cut off":              {inMail(zipped(t, "", noise(1000))[:500]), false, "could not be read to the end"},
		"lz4":                        {inMail(packed(t, archives.Lz4{}, said)), true, ""},
		"lzip":                       {inMail(packed(t, archives.Lzip{}, said)), true, ""},
		"lzma":                       {inMail([]byte("\x5d\x00\x00\x80\x00\xff\xff\xff\xff\xff\xff\xff\xff\x00")), false, "lzma archive"},
		"openssl":                    {inMail(append([]byte("Salted__"), noise(100)...)), false, "encrypted file"},
		"a PDF":                      {inMail(pdfFile(t, "/Filter /FlateDecode", "asked zx9canary77q")), true, "PDF"},
		"random bytes":               {inMail(noise(100_000)), false, ""},
		"a picture":                  {inMail(picture), false, ""},
		"a record with gzip":         {inMail(slices.Concat(record, zipped(t, "", []byte(said)), record)), true, ""},
		"a program with a zip":       {string(slices.Concat([]byte("MZ\x00"), record, secret)), false, "a member of a zip archive is encrypted"},
		"a program with lzma":        {string(slices.Concat([]byte("MZ\x00"), record, lzma)), false, "a member of a zip archive is encrypted"},
		"a long mail":                {older + inMail(long), true, ""},
		"a long mail in one line":    {older + base64.StdEncoding.EncodeToString(long), true, ""},
		"a long mail, encrypted":     {older + inMail(encrypted(long)), true, "in a.png: encrypted"},
		"two long mails":             {strings.Repeat(older+inMail(long), 2), true, ""},
		"gzip of 6 MB in a record":   {string(slices.Concat(record, zipped(t, "", slices.Concat(picture, noise(6<<20), []byte(said))), record)), true, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rep, err := m.Scan(t.Context(), strings.NewReader(tt.data), nil)
			closed := strings.Join(rep.Closed, "; ")
			if err != nil || rep.Hits > 0 != tt.hits || closed != tt.closed && (tt.closed == "" || !strings.Contains(closed, tt.closed)) {
				t.Errorf("%s, %v; closed %q, want %q", fmt.Sprint(rep.Hits, rep.By), err, closed, tt.closed)
			}
		})
	}
}

// TestABlockThatReadsLikeUTF7: the digits after a plus may read like UTF-7, which ends the block there. The archive is
// opened as it stands, and nothing of it was left unread.
func TestABlockThatReadsLikeUTF7(t *testing.T) {
	const text = "by 40\n\nH4sIAAAAAAAA/yrJSFVIyk8sUchJTSxLLVYgxE8szk5NUQjJL0vNU/A+vLI4Mzk/\n> NVs3sDT78MrixAo9hZCM1DyFnNS0Ei5AAAAA//9GFfjSWgAAAA==\n\nby\n"
	rep, err := matcher(t, "usr_bolo_1783", "Toven Késicøk-Qukésax").Scan(t.Context(), strings.NewReader(text), nil)
	if err != nil || rep.Hits != 1 || len(rep.Closed) > 0 {
		t.Errorf("%+v, %v; want it found, and nothing closed", rep, err)
	}
}

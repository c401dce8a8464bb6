package subject_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"compress/zlib"
	"context"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mholt/archives"

	"memdesk/gdpr/subject"
)

func zipFile(t testing.TB, method uint16, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.CreateHeader(&zip.FileHeader{Name: files[i], Method: method})
		if err == nil {
			_, err = f.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarFile(t testing.TB, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o600})
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pdfFile(t testing.TB, dict, page string) []byte {
	t.Helper()
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	if _, err := w.Write([]byte(page)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return []byte("%PDF-1.5\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<" + dict + ">>\nstream\r\n" + z.String() + "\r\nendstream\nendobj\n%%EOF\n")
}

// packed is a compressed text.
func packed(t testing.TB, c archives.Compressor, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := c.OpenWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bzipped is "asked Zoë Ångström for keys", compressed by bzip2, which no library here writes.
func bzipped(t testing.TB, said string) []byte {
	t.Helper()
	b, err := hex.DecodeString("425a6839314159265359d072b66900000353dc001040000010278b9c2002000008010008002000314c269a034c42801936a1e902ca0dee8d0a049bbec74b9751e8b64fc5dc914e1424341cad9a40")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(bzip2.NewReader(bytes.NewReader(b))); err != nil || string(got) != said {
		t.Fatalf("%q, %v; want %q", got, err, said)
	}
	return b
}

// encrypted marks a zip's members as encrypted.
func encrypted(b []byte) []byte {
	b = bytes.Clone(b)
	for _, head := range []struct {
		magic string
		flags int
	}{{"PK\x03\x04", 6}, {"PK\x01\x02", 8}} {
		if i := bytes.Index(b, []byte(head.magic)); i >= 0 {
			b[i+head.flags] |= 1
		}
	}
	return b
}

func noise(n int) []byte {
	r := rand.New(rand.NewPCG(7, 7))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestScanOpens: formats that can be opened must be searched, others must be named, and an unsearched
// one must never count as clean.
func TestScanOpens(t *testing.T) {
	const she = "Zoë Ångström"
	m := matcher(t, she, "zx9canary77q")
	said := "asked " + she + " for keys\n"
	bz2 := bzipped(t, said)
	nested := []byte(said)
	for range 6 {
		nested = zipFile(t, zip.Deflate, "a.zip", string(nested))
	}
	deleted := append(append([]byte("MZ"), said...), zipFile(t, zip.Deflate, "b.md", "quiet")...)
	broken := zipFile(t, zip.Deflate, "a.md", strings.Repeat(said, 40))
	broken[60] ^= 0x55
	utf16 := "\xfe\xff" + string(wide(she, true))
	tests := []struct {
		name    string
		data    []byte
		hits    bool
		members string
		closed  string
	}{
		{"zip", zipFile(t, zip.Deflate, "n/a.md", said, "b.md", "quiet"), true, "n/a.md", ""},
		{"zip, stored", zipFile(t, zip.Store, "n/a.md", said), true, "n/a.md", ""},
		{"zip, another's", zipFile(t, zip.Store, "zx9canary77q2.md", "asked zx9canary77q2 and xzx9canary77q"), false, "", ""},
		{"zip, a name", zipFile(t, zip.Deflate, "zoe-angstrom.md", "quiet"), true, "", ""},
		{"zip, markup", zipFile(t, zip.Deflate, "word/document.xml", "<w:t>Zo&#235; Ångström</w:t>"), true, "word/document.xml", ""},
		{"zip, UTF-16", zipFile(t, zip.Deflate, "a.txt", string(wide("\ufeff"+said, false))), true, "a.txt", ""},
		{"zip, empty", zipFile(t, zip.Deflate), false, "", ""},
		{"zip, encrypted", encrypted(zipFile(t, zip.Deflate, "a.md", said)), false, "", "in a.md: encrypted: not opened"},
		{"zip, broken", broken, false, "", "could not be read to the end"},
		{"zip, too deep", nested, false, "", "more than 4 compressed files"},
		{"zip, no directory", zipFile(t, zip.Deflate, "a.md", said)[:40], false, "", "a zip archive that cannot be read"},
		{"zip, a program in front", append([]byte("PK\x03\x04"), deleted...), true, "(between its members)", ""},
		{"tar", tarFile(t, "n/a.md", said), true, "n/a.md", ""},
		{"tar, a name", tarFile(t, she+".md", "quiet"), true, "", ""},
		{"tar, cut off", tarFile(t, "a.md", strings.Repeat("quiet\n", 2000))[:4000], false, "", "could not be read to the end"},
		{"tar in gzip", zipped(t, "", tarFile(t, "n/a.md", said)), true, "n/a.md", ""},
		{"gzip in zip", zipFile(t, zip.Store, "a.gz", string(zipped(t, "", []byte(said)))), true, "a.gz", ""},
		{"gzip, a later name", append(zipped(t, "", []byte("quiet")), zipped(t, she, []byte("quiet"))...), true, "", ""},
		{"xz in zip", zipFile(t, zip.Store, "a.xz", "\xfd7zXZ\x00\x00\x04"), false, "", "in a.xz: xz archive that cannot be read"},
		{"bzip2", bz2, true, "", ""},
		{"bzip2, broken", bz2[:len(bz2)-6], true, "", "could not be read to the end"},
		{"pdf that is none", pdfFile(t, "/Filter /FlateDecode", "asked Zo\xeb \xc5ngstr\xf6m"), true, "", "PDF"},
		{"pdf, the author", []byte("%PDF-1.4\n1 0 obj << /Author <" + hex.EncodeToString([]byte(utf16)) + "> >> endobj"), true, "", "PDF"},
		{"xz", []byte("\xfd7zXZ\x00\x00\x04zx9canary77q"), true, "", "xz archive"},
		{"zstd, cut off", []byte("\x28\xb5\x2f\xfd\x04\x58"), false, "", "could not be read to the end"},
		{"7z that is none", []byte("7z\xbc\xaf\x27\x1c\x00\x04"), false, "", "7z archive that cannot be read"},
		{"rar that is none", []byte("Rar!\x1a\x07\x01\x00"), false, "", "rar archive that cannot be read"},
		{"xz, a text", packed(t, archives.Xz{}, said), true, "", ""},
		{"zstd, a text", packed(t, archives.Zstd{}, said), true, "", ""},
		{"lz4, a text", packed(t, archives.Lz4{}, said), true, "", ""},
		{"lzip, a text", packed(t, archives.Lzip{}, said), true, "", ""},
		{"snappy, a text", packed(t, archives.Sz{}, said), true, "", ""},
		{"tar in zstd in zip", zipFile(t, zip.Store, "a.tzst", string(packed(t, archives.Zstd{}, string(tarFile(t, "n/a.md", said))))), true, "a.tzst → n/a.md", ""},
		{"lzma", []byte("\x5d\x00\x00\x80\x00\xff\xff"), false, "", "lzma archive"},
		{"encrypted database", noise(8192), false, "", "encrypted, or compressed"},
		{"behind a header", append(make([]byte, 84), noise(1800)...), false, "", "encrypted, or compressed"},
		{"a long one behind a header", append(make([]byte, 2000), noise(8192)...), false, "", "encrypted, or compressed"},
		{"gpg, a passphrase", append([]byte("\x8c\x0d\x04\x09\x03\x0a"), noise(100)...), false, "", "encrypted file"},
		{"gpg, a key", append([]byte("\x85\x01\x0c\x0312345678\x01"), noise(300)...), false, "", "encrypted file"},
		{"gpg, a short key", append([]byte("\x84\x5e\x0312345678\x12"), noise(200)...), false, "", "encrypted file"},
		{"gpg, no key", append([]byte("\xa3\x01"), zlibbed(t, 6, []byte(said))[2:]...), false, "", "message of OpenPGP"},
		{"gpg, no key, zlib", append([]byte("\xa3\x02"), zlibbed(t, 6, []byte(said))...), true, "", "message of OpenPGP"},
		{"a signature", append([]byte("\xa3\x01\x5b"), noise(61)...), false, "", ""},
		{"another", append([]byte("\x60\xea\xf1\x03\x5b"), noise(59)...), false, "", ""},
		{"compress", append([]byte("\x1f\x9d\x90"), noise(61)...), false, "", "compress archive"},
		{"arj", append([]byte("\x60\xea\x2b\x00\x22\x0b"), noise(61)...), false, "", "arj archive"},
		{"git-crypt", append([]byte("\x00GITCRYPT\x00"), noise(500)...), false, "", "encrypted file"},
		{"KeePass", append([]byte("\x03\xd9\xa2\x9a\x67\xfb\x4b\xb5"), make([]byte, 250)...), false, "", "encrypted file"},
		{"Latin-1", []byte("\x84ndert zx9canary77q und mehr"), true, "", ""},
		{"picture", append([]byte("\x89PNG\r\n\x1a\n"), noise(8192)...), false, "", ""},
		{"database", append([]byte("SQLite format 3\x00\x10\x00"), bytes.Repeat([]byte{0, 1, 2, 0, 'a', 0, 0, 0}, 2000)...), false, "", ""},
		{"a text about orcs", []byte("ORC\nPAR1 MSCF and %PDF- are words, BZh9 too"), false, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i, r := range []io.Reader{bytes.NewReader(tt.data), io.MultiReader(bytes.NewReader(tt.data))} {
				rep, err := m.Scan(t.Context(), r, nil)
				closed := strings.Join(rep.Closed, "; ")
				if err != nil || rep.Hits > 0 != tt.hits || strings.Join(rep.Members, ", ") != tt.members {
					t.Errorf("%d: Scan = %+v, %v", i, rep, err)
				}
				if closed != tt.closed && (tt.closed == "" || !strings.Contains(closed, tt.closed)) {
					t.Errorf("%d: closed = %q; want %q", i, closed, tt.closed)
				}
			}
			if m.NamesBytes(tt.data) != tt.hits {
				t.Error("NamesBytes disagrees")
			}
			if _, ok := m.RedactBytes(tt.data, "[x]"); ok && subject.IsContainer(tt.data) {
				t.Error("a container was edited")
			}
		})
	}
}

// TestTarMembersOfEveryType: the rest of a file in a second volume ('M'), a directory's list of names ('D') and the other
// types with a body must be searched as files are.
func TestTarMembersOfEveryType(t *testing.T) {
	m := matcher(t, "Zoë Ångström")
	const said = "asked Zoë Ångström for keys\n"
	for _, kind := range "07MDVA" {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		if err := w.WriteHeader(&tar.Header{Name: "a.md", Typeflag: byte(kind), Size: int64(len(said)), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, said); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		if rep, err := m.Scan(t.Context(), &b, nil); err != nil || rep.Hits == 0 {
			t.Errorf("type %c: %+v, %v", kind, rep, err)
		}
	}
}

func FuzzEach(f *testing.F) {
	f.Add(zipFile(f, zip.Deflate, "a.md", "quiet"))
	f.Add(encrypted(zipFile(f, zip.Store, "a.md", "quiet")))
	f.Add(tarFile(f, "a.md", "quiet"))
	f.Add(zipped(f, "a", []byte("quiet")))
	f.Add(pdfFile(f, "/Filter /FlateDecode", "BT [(a)-300(\\305) <41>] TJ ET"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := subject.Each(context.Background(), bytes.NewReader(data), func(_ string, r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			if err != nil {
				return nil
			}
			return nil
		}, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
	})
}

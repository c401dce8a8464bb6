package subject

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
)

// kind is a container format or compression. It is detected by magic bytes, never by a name.
type kind uint8

const (
	plainly kind = iota // the bytes are the text
	gzipFile
	bzip2File
	zlibFile
	zipFile // office documents and packed programs too
	tarFile
	pdfFile
	libraryFile // opened by a library (library.go)
	closedFile  // cannot be opened here
)

// headSize is how many first bytes are needed to detect a kind: the magic of a tar is at 257, and encrypted
// data is detected by all of them.
const headSize = 4096

// encryptedFile describes encrypted data, which may be written in letters, and unknownFile what scattered detects.
const (
	encryptedFile = "encrypted file"
	unknownFile   = "encrypted, or compressed in a way that is not known"
)

// closedKinds are the magic bytes of formats that this program cannot open, with their names. scattered
// detects encrypted or unknown compressed data, which has no magic bytes.
var closedKinds = []struct{ magic, what string }{
	{"\x5d\x00\x00", "lzma archive"},
	{"\x02\x21\x4c\x18", "lz4 archive"},
	{"MSCF\x00\x00\x00\x00", "cabinet archive"},
	{"hsqs", "squashfs image"},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old or encrypted office document"},
	{"PAR1", "parquet file"},
	{"ORC\x0a", "orc file"},
	{"Obj\x01", "avro file"},
	{"PACK\x00\x00\x00", "pack of git"},
	{"# v2 git bundle", "bundle of git"},
	{"# v3 git bundle", "bundle of git"},
	{"Salted__", encryptedFile},
	{"age-encryption.org/", encryptedFile},
	{"-----BEGIN AGE ENCRYPTED FILE", encryptedFile},
	{"-----BEGIN PGP MESSAGE", encryptedFile},
	{"$ANSIBLE_VAULT;", encryptedFile},
	{"LUKS\xba\xbe", encryptedFile},
	{"\x03\xd9\xa2\x9a", encryptedFile}, // of KeePass
	{"\x00GITCRYPT\x00", encryptedFile},
	{"encrcdsa", encryptedFile}, // a disk image of macOS
	{"\xa3\x03BZh", openPGP},
	{"!BDN", "mailbox of Outlook"},
}

const openPGP = "compressed message of OpenPGP"

// shortMagic names a format whose magic bytes are two: a key or a signature begins with them by chance, so more of the
// head has to fit. Empty for none.
func shortMagic(head []byte) string {
	if len(head) < 16 {
		return ""
	}
	switch string(head[:2]) {
	case "\x1f\x9d": // 9 to 16 bits a code, and no unknown flag
		if bits := head[2] & 0x1f; bits >= 9 && bits <= 16 && head[2]&0x60 == 0 {
			return "compress archive"
		}
	case "\x60\xea": // the size of the header and of its first part
		if size := int(head[2]) | int(head[3])<<8; size <= 2600 && head[4] >= 30 && head[4] < 64 && int(head[4]) <= size {
			return "arj archive"
		}
	case "\xa3\x01": // of deflate, which is zlib without its header
		if inflates(slices.Concat([]byte("\x78\x9c"), head[2:])) {
			return openPGP
		}
	case "\xa3\x02":
		if inflates(head[2:]) {
			return openPGP
		}
	}
	return ""
}

// isSealed reports whether a medium begins with the key of an OpenPGP message (RFC 9580, 4.2, 5.1 and 5.3), as programs
// write one without armour.
func isSealed(head []byte) bool {
	if len(head) < 16 {
		return false
	}
	body, secret := head[2:], false
	switch c := head[0]; {
	case c == 0x8c, c == 0xc3: // of a passphrase
		secret = true
	case c == 0x85, c == 0xc1 && head[1] >= 192: // the length has two bytes
		body = head[3:]
	case c != 0x84 && c != 0xc1:
		return false
	}
	if secret {
		return body[0] >= 4 && body[0] <= 6 && body[1] > 0 && body[1] < 32
	}
	return body[0] == 3 && body[9] > 0 && body[9] < 32 || body[0] == 6
}

// recognise detects the kind of a medium by its magic bytes, and names its format where it cannot be opened.
func recognise(head []byte) (kind, string) {
	has := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	text := isTextual(head)
	switch {
	case len(head) >= 10 && has("\x1f\x8b\x08") && head[3]&0xe0 == 0: // RFC 1952, 2.3
		return gzipFile, ""
	case len(head) >= 10 && has("BZh") && head[3] >= '1' && head[3] <= '9' && (has(string(head[:4])+"1AY&SY") || has(string(head[:4])+"\x17rE8P\x90")):
		return bzip2File, ""
	case has("PK\x03\x04"), has("PK\x05\x06"), has("PK\x07\x08"):
		return zipFile, ""
	case isTar(head):
		return tarFile, ""
	case inflates(head):
		return zlibFile, ""
	case bytes.HasPrefix(bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n"), []byte("%PDF-")), !text && bytes.Contains(head[:min(len(head), 1024)], []byte("%PDF-")):
		return pdfFile, ""
	case isZlib(head):
		return zlibFile, ""
	}
	for _, l := range libraries {
		if has(l.magic) && !text {
			return libraryFile, l.what
		}
	}
	for _, c := range closedKinds {
		if has(c.magic) && (!text || c.what == encryptedFile) {
			return closedFile, c.what
		}
	}
	if text {
		return plainly, ""
	}
	if what := shortMagic(head); what != "" {
		return closedFile, what
	}
	if len(head) >= 8 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte("\x2a\x4d\x18")) { // RFC 8878, 3.1.2
		return libraryFile, "zstd archive"
	}
	if isSealed(head) {
		return closedFile, encryptedFile
	}
	if len(head) >= 12 && string(head[8:12]) == "DUCK" {
		return closedFile, "duckdb database"
	}
	// Pictures, sound and fonts look random, and hold no text except in their plain bytes.
	mime := mimetype.Detect(head)
	switch kind, _, _ := strings.Cut(mime.String(), "/"); kind {
	case "image", "audio", "video", "font":
		return plainly, ""
	}
	if scattered(head) || mime.Parent() == nil && scattered(head[max(0, min(len(head)/2, len(head)-minScattered)):]) { // behind a header
		return closedFile, unknownFile
	}
	return plainly, ""
}

// isTextual reports whether the first bytes are UTF-8 without zero bytes, up to the last whole character.
func isTextual(head []byte) bool {
	return bytes.IndexByte(head, 0) < 0 && utf8.Valid(uncut(head))
}

// isTar checks the checksum of the first header (POSIX pax, ustar): old tars have no other sign.
func isTar(head []byte) bool {
	if len(head) < 512 || head[0] == 0 {
		return false
	}
	want, err := strconv.ParseUint(strings.Trim(string(head[148:156]), " \x00"), 8, 32)
	sum := uint64(0)
	for i, c := range head[:512] {
		if i >= 148 && i < 156 {
			c = ' '
		}
		sum += uint64(c)
	}
	return err == nil && sum == want
}

// isZlib detects bytes that begin like a zlib stream and cannot be expanded, such as a truncated one: no text
// has such bytes after the header.
func isZlib(head []byte) bool { return zlibHeader(head) && !isASCII(string(head[2:8])) }

// zlibHeader reports whether b begins with the header of a zlib stream (RFC 1950, 2.2) that
// needs no dictionary.
func zlibHeader(b []byte) bool {
	return len(b) >= 8 && b[0] == 0x78 && binary.BigEndian.Uint16(b)%31 == 0 && b[1]&0x20 == 0
}

// inflaters are idle zlib readers: making one costs more than using it.
var inflaters sync.Pool

// inflates reports whether b begins with a zlib stream: 64 bytes come out of it, or all that it has, with a
// correct checksum or up to the end of b. Other bytes fail after about five symbols.
func inflates(b []byte) bool {
	if !zlibHeader(b) {
		return false
	}
	r := bytes.NewReader(b)
	z, ok := inflaters.Get().(io.Reader)
	if ok {
		ok = z.(zlib.Resetter).Reset(r, nil) == nil
	} else {
		fresh, err := zlib.NewReader(r)
		z, ok = fresh, err == nil
	}
	if !ok {
		return false
	}
	defer inflaters.Put(z)
	var out [64]byte
	n, err := io.ReadFull(z, out[:])
	return n > 0 && (err == nil || errors.Is(err, io.ErrUnexpectedEOF))
}

// minScattered is the fewest bytes whose frequencies are significant.
const minScattered = 1024

// scattered reports whether all byte values are about equally frequent, as only in encrypted data: text,
// records, vectors and machine code are far off. The bound is six standard deviations of chi squared above
// its mean.
func scattered(head []byte) bool {
	if len(head) < minScattered {
		return false
	}
	var count [256]int
	for _, c := range head {
		count[c]++
	}
	mean := float64(len(head)) / 256
	chi := 0.0
	for _, n := range count {
		d := float64(n) - mean
		chi += d * d / mean
	}
	return chi < 390
}

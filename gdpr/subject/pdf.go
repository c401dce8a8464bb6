package subject

import (
	"bytes"
	"compress/zlib"
	"encoding/ascii85"
	"encoding/hex"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// A PDF (ISO 32000-1) is looked at as it lies, each of its streams expanded, and the
// text that its pages show, where that is written in characters. Most programs write
// it in numbers that only a font of the file gives a meaning: such a file counts as
// not opened.

// ownNumbers are how a PDF says that its text is in the numbers of a font.
var ownNumbers = regexp.MustCompile(`/(ToUnicode|Type0|Type3|Differences|Identity-[HV])\b`)

var (
	pdfStream = regexp.MustCompile(`\bstream\r?\n`)
	pdfFilter = regexp.MustCompile(`/Filter\s*(\[[^\]]*\]|/\w+)`)
	pdfName   = regexp.MustCompile(`/\w+`)
	pdfImage  = regexp.MustCompile(`/Subtype\s*/Image\b`)
)

// pictureFilters hold pixels.
var pictureFilters = map[string]bool{"/DCTDecode": true, "/DCT": true, "/JPXDecode": true, "/CCITTFaxDecode": true, "/CCF": true, "/JBIG2Decode": true}

// pdf opens a PDF.
func (o *opening) pdf(member string, at io.ReaderAt, size int64) error {
	if size > o.bounds.memory {
		o.not(member, "a PDF that is too large to be opened"+byHand)
		return o.hand(member, io.NewSectionReader(at, 0, size))
	}
	b := make([]byte, size)
	if _, err := at.ReadAt(b, 0); err != nil && err != io.EOF {
		return unread()
	}
	if err := o.hand(member, bytes.NewReader(b)); err != nil {
		return err
	}
	if bytes.Contains(b, []byte("/Encrypt")) {
		o.not(member, "an encrypted PDF: not opened"+byHand)
		return nil
	}
	foreign := ownNumbers.Match(b)
	done := 0
	for done < len(b) {
		loc := pdfStream.FindIndex(b[done:])
		if loc == nil {
			break
		}
		head, from := b[done:done+loc[0]], done+loc[1]
		n := bytes.Index(b[from:], []byte("endstream"))
		if n < 0 {
			o.not(member, "a PDF that is cut off"+byHand)
			break
		}
		done = from + n
		if i := bytes.LastIndex(head, []byte(" obj")); i >= 0 {
			head = head[i:]
		}
		data, ok, err := o.stream(head, b[from:done])
		switch {
		case errors.Is(err, errTooMuch):
			return o.broken(member, err)
		case err != nil || !ok:
			o.not(member, "a PDF with a stream that is compressed in another way, or broken"+byHand)
			continue
		case data == nil:
			continue
		}
		foreign = foreign || ownNumbers.Match(data)
		if err := o.hand(member, bytes.NewReader(data)); err != nil {
			return err
		}
		if text := pdfText(data); text != "" {
			if err := o.hand(member, strings.NewReader(text)); err != nil {
				return err
			}
		}
	}
	if foreign {
		o.not(member, "a PDF whose text is in the numbers of its own fonts: only what stands in it as text was looked at"+byHand)
	}
	return nil
}

// stream expands a stream by its dictionary; false where it cannot, nothing where it
// holds pixels.
func (o *opening) stream(dict, data []byte) ([]byte, bool, error) {
	var filters []string
	if f := pdfFilter.FindSubmatch(dict); f != nil {
		filters = pdfName.FindAllString(string(f[1]), -1)
	}
	if pdfImage.Match(dict) {
		return nil, true, nil
	}
	for _, f := range filters {
		var r io.Reader
		switch {
		case pictureFilters[f]:
			return nil, true, nil
		case f == "/FlateDecode" || f == "/Fl":
			z, err := zlib.NewReader(bytes.NewReader(data))
			if err != nil {
				return nil, false, err
			}
			r = z
		case f == "/ASCII85Decode" || f == "/A85":
			end := bytes.Index(data, []byte("~>"))
			if end < 0 {
				end = len(data)
			}
			r = ascii85.NewDecoder(bytes.NewReader(data[:end]))
		case f == "/ASCIIHexDecode" || f == "/AHx":
			data = hexBytes(data)
			continue
		default:
			return nil, false, nil
		}
		out, err := io.ReadAll(io.LimitReader(metered{r, o}, o.bounds.memory+1))
		if err != nil || int64(len(out)) > o.bounds.memory {
			return nil, false, err
		}
		data = out
	}
	return data, true, nil
}

// hexBytes reads hexadecimal digits up to the end mark, without what stands between.
func hexBytes(data []byte) []byte {
	digits := make([]byte, 0, len(data))
	for _, c := range data {
		if c == '>' {
			break
		}
		if hexDigit(c) >= 0 {
			digits = append(digits, c)
		}
	}
	if len(digits)%2 == 1 {
		digits = append(digits, '0')
	}
	out := make([]byte, len(digits)/2)
	_, _ = hex.Decode(out, digits) // they are digits, and of an even number
	return out
}

// wordGap is from where on a step back between two pieces of a text, in thousandths
// of its size, is a space.
const wordGap = -180

// pdfText is the text that the operators of a page show, in the order they do.
func pdfText(page []byte) string {
	if !bytes.Contains(page, []byte("Tj")) && !bytes.Contains(page, []byte("TJ")) && !bytes.Contains(page, []byte(")'")) {
		return ""
	}
	var out strings.Builder
	array := false
	for i := 0; i < len(page); {
		switch c := page[i]; {
		case c == '(':
			text, n := pdfString(page[i:])
			out.WriteString(pdfDecode(text))
			i += n
			continue
		case c == '<' && i+1 < len(page) && page[i+1] != '<':
			n := bytes.IndexByte(page[i:], '>')
			if n < 0 {
				return out.String()
			}
			out.WriteString(pdfDecode(hexBytes(page[i+1 : i+n])))
			i += n
		case c == '[':
			array = true
		case c == ']':
			array = false
		case array && (c == '-' || c >= '0' && c <= '9'):
			end := i + 1
			for end < len(page) && (page[end] == '.' || page[end] >= '0' && page[end] <= '9') {
				end++
			}
			if n, err := strconv.ParseFloat(string(page[i:end]), 64); err == nil && n < wordGap {
				out.WriteByte(' ')
			}
			i = end
			continue
		case !array && c == 'T' && i+1 < len(page) && strings.IndexByte("dDm*", page[i+1]) >= 0, !array && (c == '\'' || c == '"'):
			out.WriteByte('\n')
		case c == 'E' && bytes.HasPrefix(page[i:], []byte("ET")):
			out.WriteByte('\n')
		}
		i++
	}
	return out.String()
}

// pdfString reads a string in brackets, and how long it is.
func pdfString(s []byte) ([]byte, int) {
	var out []byte
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '(':
			if depth++; depth > 1 {
				out = append(out, c)
			}
		case ')':
			if depth--; depth == 0 {
				return out, i + 1
			}
			out = append(out, c)
		case '\\':
			if i++; i >= len(s) {
				return out, len(s)
			}
			switch e := s[i]; {
			case e >= '0' && e <= '7':
				v := 0
				for k := 0; k < 3 && i < len(s) && s[i] >= '0' && s[i] <= '7'; k++ {
					v, i = v<<3|int(s[i]-'0'), i+1
				}
				i--
				out = append(out, byte(v))
			case e == '\n':
			case strings.IndexByte("nrtbf", e) >= 0:
				out = append(out, ' ')
			default:
				out = append(out, e)
			}
		default:
			out = append(out, c)
		}
	}
	return out, len(s)
}

// pdfDecode reads the bytes of a string: UTF-16 by its mark, UTF-8 by its own, else
// the characters of Windows, from which those of PDF differ in signs only.
func pdfDecode(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		return decode16(b[2:], UTF16BE)
	case bytes.HasPrefix(b, []byte{0xef, 0xbb, 0xbf}):
		return string(b[3:])
	}
	return fromWindows(b)
}

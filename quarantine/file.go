package quarantine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Errors for a quarantine file that differs from upstream's format. Both may apply.
var (
	// ErrMalformed: the header is not in upstream's format.
	ErrMalformed = errors.New("malformed quarantine file")
	// ErrHashMismatch: the header is readable, but body, recorded hash or file name disagree: somebody
	// changed one of them.
	ErrHashMismatch = errors.New("quarantine file hash mismatch")
)

// File is a quarantine file (scanner.md Quarantine file). All strings are
// hostile text.
type File struct {
	QuarantinedAt     time.Time // UTC, whole seconds
	Category, Pattern string    // upstream's verdict
	Source            string    // the label of the live file, never a path outside the store
	SHA256            string    // 64 hex digits over Body
	Body              string    // the original, byte for byte
}

const (
	headerLine = "---\n"
	fileSuffix = ".md"
	tempInfix  = fileSuffix + ".tmp."
	hashDigits = 2 * sha256.Size
	tempDigits = 16
)

// Sum is the hash of a body: 64 lower-case hex digits.
func Sum(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

// FileName is the name of the file that keeps the body with this hash.
func FileName(sha string) string { return sha + fileSuffix }

// HashOfName returns the hash in a quarantine file's name. False: it is not the name of a quarantine file.
func HashOfName(name string) (sha string, ok bool) {
	sha, ok = strings.CutSuffix(name, fileSuffix)
	return sha, ok && isHex(sha, hashDigits)
}

// IsTempName reports whether a name is a leftover of an interrupted write.
func IsTempName(name string) bool {
	sha, tail, ok := strings.Cut(name, tempInfix)
	return ok && isHex(sha, hashDigits) && isHex(tail, tempDigits)
}

func isHex(s string, digits int) bool {
	return len(s) == digits && strings.Trim(s, "0123456789abcdef") == ""
}

// Encode writes the file byte for byte as upstream does. An empty SHA256 is
// filled in from the body.
func (f File) Encode() []byte {
	if f.SHA256 == "" {
		f.SHA256 = Sum(f.Body)
	}
	var b strings.Builder
	b.WriteString(headerLine)
	for _, field := range f.fields() {
		value := *field.value
		if field.key == keyTime {
			value = f.QuarantinedAt.UTC().Format(time.RFC3339)
		}
		b.WriteString(field.key + ": " + strconv.Quote(value) + "\n")
	}
	b.WriteString(headerLine + "\n")
	b.WriteString(f.Body)
	return []byte(b.String())
}

const keyTime = "quarantined_at"

type headerField struct {
	key   string
	value *string
}

// fields are the header in upstream's order. The time is text here; it is parsed and formatted elsewhere.
func (f *File) fields() []headerField {
	return []headerField{
		{keyTime, new(string)},
		{"category", &f.Category},
		{"pattern", &f.Pattern},
		{"source", &f.Source},
		{"sha256", &f.SHA256},
	}
}

// ParseFile reads a quarantine file. The error wraps ErrMalformed or ErrHashMismatch or both; the File then
// holds the readable parts, and a file without a header is all body.
func ParseFile(data []byte) (File, error) {
	header, body, err := splitHeader(string(data))
	f := File{Body: body}
	if err == nil || header != "" {
		err = errors.Join(err, f.parseHeader(header))
	}
	if f.SHA256 != "" && f.SHA256 != Sum(f.Body) {
		err = errors.Join(err, fmt.Errorf("%w: the body does not have the recorded hash", ErrHashMismatch))
	}
	return f, err
}

// ParseNamed is ParseFile for a file whose name is known: the name must state the
// hash of the body too.
func ParseNamed(name string, data []byte) (File, error) {
	f, err := ParseFile(data)
	sha, ok := HashOfName(name)
	switch {
	case !ok:
		err = errors.Join(err, fmt.Errorf("%w: the name is not a hash and .md", ErrMalformed))
	case sha != Sum(f.Body):
		err = errors.Join(err, fmt.Errorf("%w: the body does not have the hash in the name", ErrHashMismatch))
	}
	return f, err
}

// splitHeader cuts at the second "---" line; later ones belong to the body.
func splitHeader(text string) (header, body string, err error) {
	rest, ok := strings.CutPrefix(text, headerLine)
	if !ok {
		return "", text, fmt.Errorf("%w: line 1 is not ---", ErrMalformed)
	}
	header, body, ok = strings.Cut("\n"+rest, "\n"+headerLine)
	if !ok {
		return "", text, fmt.Errorf("%w: the header has no end", ErrMalformed)
	}
	header = strings.TrimPrefix(header, "\n")
	body, ok = strings.CutPrefix(body, "\n")
	if !ok {
		err = fmt.Errorf("%w: no empty line after the header", ErrMalformed)
	}
	return header, body, err
}

// parseHeader reads every line it can and reports the first error.
func (f *File) parseHeader(header string) error {
	var first error
	note := func(line int, what string) {
		if first == nil {
			first = fmt.Errorf("%w: line %d: %s", ErrMalformed, line, what)
		}
	}
	fields := f.fields()
	lines := strings.Split(header, "\n")
	for i, field := range fields {
		if i >= len(lines) || lines[i] == "" {
			note(i+2, field.key+" is missing")
			break
		}
		quoted, ok := strings.CutPrefix(lines[i], field.key+": ")
		if !ok {
			note(i+2, field.key+" expected")
			continue
		}
		value, err := unquote(quoted)
		if err != nil {
			note(i+2, field.key+" is not a quoted value")
			continue
		}
		*field.value = value
	}
	if len(lines) > len(fields) {
		note(len(fields)+2, "more lines than expected")
	}
	at, err := time.Parse(time.RFC3339, *fields[0].value)
	if err != nil {
		note(2, keyTime+" is not a time")
	}
	if f.QuarantinedAt = at.UTC(); !isHex(f.SHA256, hashDigits) {
		note(len(fields)+1, "sha256 is not 64 hex digits")
	}
	return first
}

// unquote accepts only the output of strconv.Quote: no backquotes, no runes.
func unquote(quoted string) (string, error) {
	if !strings.HasPrefix(quoted, `"`) {
		return "", strconv.ErrSyntax
	}
	return strconv.Unquote(quoted)
}

package safetext

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxFileName keeps exported names below the 255 bytes of common file systems,
// with room for a suffix such as ".json.tmp".
const maxFileName = 200

// FileName turns any string into one safe file name (terminal-safety.md, policy 7). Forbidden characters are
// percent-encoded, so different strings get different names; a name over 200 bytes is cut and ends in "%~"
// and 16 hex digits of the SHA-256 of s. The empty string becomes "%empty".
func FileName(s string) string {
	if s == "" {
		return "%empty"
	}
	var buf []byte
	c := encoder{}
	reserved := reservedName(s)
	for i := 0; i < len(s); {
		n := c.keep(s, i)
		if n > 0 && !(i == 0 && reserved) && !reservedAt(s, i) {
			buf = append(buf, s[i:i+n]...)
			i += n
			continue
		}
		c.start(0)
		_, n = utf8.DecodeRuneInString(s[i:])
		for _, b := range []byte(s[i : i+n]) {
			buf = append(buf, '%', upperHex[b>>4], upperHex[b&15])
		}
		i += n
	}
	if len(buf) <= maxFileName {
		return string(buf)
	}
	suffix := fmt.Sprintf("%%~%x", sha256.Sum256([]byte(s)))[:18]
	return string(buf[:nameCut(string(buf), maxFileName-len(suffix))]) + suffix
}

// nameCut avoids cutting through a character or a percent escape.
func nameCut(s string, limit int) int {
	n := RuneStart(s, limit)
	if i := strings.LastIndexByte(s[:n], '%'); i >= 0 && i > n-3 {
		return i
	}
	return n
}

// reservedAt reports whether the printable character at i is forbidden there.
func reservedAt(s string, i int) bool {
	switch b := s[i]; b {
	case '/', '\\', '<', '>', ':', '"', '|', '?', '*', '%':
		return true
	case '.':
		return i == 0 || i == len(s)-1 || s[i-1] == '.'
	case ' ':
		return i == 0 || i == len(s)-1
	case '-', '~':
		return i == 0
	}
	return false
}

// reservedName reports whether Windows takes s for a device, with or without
// an extension.
func reservedName(s string) bool {
	stem, _, _ := strings.Cut(s, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	for _, port := range []string{"COM", "LPT"} {
		if n, ok := strings.CutPrefix(stem, port); ok {
			return len(n) == 1 && n[0] >= '0' && n[0] <= '9' || n == "¹" || n == "²" || n == "³"
		}
	}
	return false
}

// Cell escapes s as a line for a spreadsheet or CSV field. A field that a
// spreadsheet could take for a formula gets a leading apostrophe; quoting for
// CSV is the CSV writer's.
func Cell(s string) string {
	escaped := Line(s).s
	if strings.HasPrefix(s, "\t") || strings.HasPrefix(s, "\r") || strings.HasPrefix(s, "\n") {
		return "'" + escaped
	}
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(escaped, " \u00A0\u3000"))
	if strings.ContainsRune("=+-@＝＋－＠", r) {
		return "'" + escaped
	}
	return escaped
}

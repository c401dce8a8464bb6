package safetext

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// errCut is returned for text that was shortened: the rest is missing.
var errCut = errors.New("text was cut and cannot be restored")

// Unescape returns the original bytes: the tests prove with it that no form is ambiguous. It fails on a form that this package does not write and on a text that
// a limit cut. Expanded tabs come back as spaces.
func Unescape(s string) (string, error) {
	buf := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		n, kind := form(s, i)
		if n == 0 {
			if strings.HasPrefix(s[i:], "⟦") {
				return "", fmt.Errorf("unescape: byte %d: unknown escape", i)
			}
			buf = append(buf, s[i])
			i++
			continue
		}
		var err error
		if buf, err = appendOriginal(buf, s[i:i+n], kind); err != nil {
			return "", fmt.Errorf("unescape: byte %d: %w", i, err)
		}
		i += n
	}
	return string(buf), nil
}

// appendOriginal appends the original of one form.
func appendOriginal(buf []byte, form string, kind Kind) ([]byte, error) {
	switch {
	case kind == Notice:
		return nil, errCut
	case form == "⏎":
		return append(buf, '\n'), nil
	case form[0] == '^':
		return append(buf, form[1]^0x40), nil
	case kind == Byte:
		b, err := strconv.ParseUint(form[2:], 16, 8)
		return append(buf, byte(b)), err
	case form[0] == '<':
		return appendRunes(buf, form[3:len(form)-1])
	}
	content := form[len("⟦") : len(form)-len("⟧")]
	switch kind {
	case Tag:
		for _, b := range []byte(content[len("tag:"):]) {
			buf = utf8.AppendRune(buf, tagOffset+rune(b))
		}
		return buf, nil
	case Rune:
		return appendRunes(buf, content[len("U+"):])
	}
	if utf8.RuneCountInString(content) != 1 {
		return nil, errors.New("unknown escape")
	}
	return append(buf, content...), nil
}

// appendRunes appends a code point given as HEX or HEX×COUNT.
func appendRunes(buf []byte, digits string) ([]byte, error) {
	digits, times, repeated := strings.Cut(digits, "×")
	v, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || !utf8.ValidRune(rune(v)) {
		return nil, fmt.Errorf("%q is no code point", digits)
	}
	count := 1
	if repeated {
		count, err = strconv.Atoi(times)
		if err != nil || count < 2 || count > maxRun {
			return nil, fmt.Errorf("%q is no count", times)
		}
	}
	for range count {
		buf = utf8.AppendRune(buf, rune(v))
	}
	return buf, nil
}

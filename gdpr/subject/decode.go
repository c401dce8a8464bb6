package subject

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// shortEscapes are the escapes of JSON that are one letter (RFC 8259, 7).
var shortEscapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", 'b': "\b", 'f': "\f", '"': `"`, '/': "/", '\\': `\`}

// unescapeJSON resolves the escapes of JSON strings, surrogate pairs joined;
// everything else stays.
func unescapeJSON(s string) decoded {
	return resolveAt(s, func(i int) (string, int) {
		if s[i] != '\\' {
			return "", 0
		}
		return jsonEscape(s[i:])
	})
}

// jsonEscape resolves the escape at the beginning of s; 0 where there is none.
func jsonEscape(s string) (string, int) {
	if len(s) > 1 && shortEscapes[s[1]] != "" {
		return shortEscapes[s[1]], 2
	}
	r, n := escape(s)
	if n == 0 {
		return "", 0
	}
	if utf16.IsSurrogate(r) {
		low, m := escape(s[n:])
		if joined := utf16.DecodeRune(r, low); m > 0 && joined != utf8.RuneError {
			return string(joined), n + m
		}
		return "", 0
	}
	return string(r), n
}

func escape(s string) (rune, int) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, 0
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil {
		return 0, 0
	}
	return rune(n), 6
}

// unescapePercent resolves %XX and takes + as a space, as query strings do.
func unescapePercent(s string) decoded {
	return resolveAt(s, func(i int) (string, int) {
		switch s[i] {
		case '+':
			return " ", 1
		case '%':
			return hexByte(s[i:])
		}
		return "", 0
	})
}

// resolveAt copies s, replacing what fn resolves; fn gives the text and the length
// that it stands for, 0 for none. It is called for every byte that is not passed
// over, in order.
func resolveAt(s string, fn func(i int) (string, int)) decoded {
	d := decoded{src: s, at: make([]int32, 0, len(s)+1)}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		text, n := "", 0
		if c := s[i]; c >= utf8.RuneSelf || special[c] {
			text, n = fn(i)
		}
		if n == 0 {
			out, d.at = append(out, s[i]), append(d.at, int32(i))
			i++
			continue
		}
		out = append(out, text...)
		for range len(text) {
			d.at = append(d.at, int32(i))
		}
		i += n
	}
	d.at = append(d.at, int32(len(s)))
	d.text = string(out)
	return d
}

// special are the characters with which something encoded begins.
var special = [utf8.RuneSelf]bool{'\\': true, '%': true, '+': true, '&': true, '=': true, '\n': true}

package subject

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A name may have markup between its words or around one of them: **José** Núñez,
// [José](x) Núñez, <b>José</b> Núñez. The marks of emphasis, of links and tags are
// taken off; a tag that begins a line or a field parts words. Only names are looked
// for in what is left: x_u1_ says nothing of u1.

// mayHoldMarkup is a cheap no for most texts.
func mayHoldMarkup(s string) bool { return strings.ContainsAny(s, "*_~`<[") }

// maxMark bounds, in bytes, a tag and what a link leads to.
const maxMark = 1 << 10

// takeOff is a text without its markup.
func takeOff(s string) decoded {
	d := decoded{src: s, at: make([]int32, 0, len(s)+1)}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		n, space := markup(s, i)
		if space {
			out, d.at = append(out, ' '), append(d.at, int32(i))
		}
		if n > 0 {
			i += n
			continue
		}
		out, d.at = append(out, s[i]), append(d.at, int32(i))
		i++
	}
	d.at = append(d.at, int32(len(s)))
	d.text = string(out)
	return d
}

// markup is how many bytes of markup stand at s[i], and whether they part words.
func markup(s string, i int) (n int, space bool) {
	rest := s[i:min(len(s), i+maxMark)]
	switch c := s[i]; c {
	case '*', '~', '`', '_':
		n := 1
		for i+n < len(s) && s[i+n] == c {
			n++
		}
		before, after := besideWord(s[:i], true), besideWord(s[i+n:], false)
		if !before && !after || c == '_' && before && after {
			return 0, false
		}
		return n, false
	case '<':
		return tag(rest)
	case '[':
		if strings.HasPrefix(rest, "[[") {
			if line := rest[:lineEnd(rest)]; strings.Contains(line, "]]") {
				if bar := strings.IndexByte(line[:strings.Index(line, "]]")], '|'); bar > 0 {
					return bar + 1, false
				}
			}
		}
		return 1, false
	case ']':
		for _, pair := range []string{"()", "[]"} {
			if len(rest) > 1 && rest[1] == pair[0] {
				if end := strings.IndexByte(rest[:lineEnd(rest)], pair[1]); end > 0 && pair == "()" {
					return end + 1, false
				}
				if end := strings.IndexByte(rest[1:lineEnd(rest)], pair[1]); end > 0 {
					return end + 2, false
				}
			}
		}
		return 1, false
	}
	return 0, false
}

func lineEnd(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

// besideWord reports whether a letter or digit ends s, or begins it.
func besideWord(s string, ends bool) bool {
	r, _ := utf8.DecodeRuneInString(s)
	if ends {
		r, _ = utf8.DecodeLastRuneInString(s)
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// parting are the tags of HTML, and of the documents of offices, that part words.
var parting = []string{
	"br", "p", "div", "li", "ul", "ol", "dl", "dt", "dd", "td", "th", "tr", "table", "tbody", "thead", "h", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "section", "article",
	"header", "footer", "main", "nav", "aside", "pre", "blockquote", "option", "title", "body", "head", "tab", "s", "c", "v", "line-break", "table-cell", "table-row", "cr", "tc",
}

// tag is the length of the tag or the comment at the beginning of s, and whether it
// parts words.
func tag(s string) (int, bool) {
	if strings.HasPrefix(s, "<!--") {
		if end := strings.Index(s, "-->"); end > 0 {
			return end + 3, false
		}
		return 0, false
	}
	at := 1
	if at < len(s) && s[at] == '/' {
		at++
	}
	if at >= len(s) || letterBitless(s[at]) {
		return 0, false
	}
	end := strings.IndexAny(s[1:], "<>")
	if end < 0 || s[1+end] != '>' {
		return 0, false
	}
	name := s[at : 1+end]
	if n := strings.IndexAny(name, " \t\r\n/"); n >= 0 {
		name = name[:n]
	}
	if n := strings.LastIndexByte(name, ':'); n >= 0 { // w:p, text:span
		if name[n+1:] == "s" && name[:n] == "w" || name[n+1:] == "t" { // a run of a text
			return end + 2, false
		}
		name = name[n+1:]
	} else if name == "s" || name == "c" || name == "v" || name == "h" {
		return end + 2, false // struck out, and no tag
	}
	return end + 2, slices.Contains(parting, strings.ToLower(name))
}

func letterBitless(c byte) bool { return lower(c) < 'a' || lower(c) > 'z' }

// emphasised reports whether underscores stand on both sides of s[lo:hi], as those of
// emphasis do, and nothing else joins it to a word.
func emphasised(s string, lo, hi int) bool {
	left, right := len(s[:lo])-len(strings.TrimRight(s[:lo], "_")), len(s[hi:])-len(strings.TrimLeft(s[hi:], "_"))
	return left > 0 && left == right && !besideWord(s[:lo-left], true) && !besideWord(s[hi+right:], false)
}

// inMarkup finds names in a text without its markup; d is the text with its encodings
// resolved, or as it is. What was found without is left as it was.
func (m *Matcher) inMarkup(hits []Hit, d decoded, first bool) []Hit {
	if !m.named || !mayHoldMarkup(d.text) || isASCII(d.text) && !m.rare.any(d.text) {
		return hits
	}
	off := takeOff(d.text)
	if len(off.text) == len(d.text) {
		return hits
	}
	source := func(i int) int {
		if d.at == nil {
			return i
		}
		return int(d.at[i])
	}
	for _, h := range m.inView(nil, fold(off.text), off.text, Markup, false) {
		if m.terms[h.Term].plain == nil || h.Method == Slug {
			continue
		}
		lo, hi := int(off.at[h.Start]), int(off.at[h.End-1])+1
		if hi-lo == h.End-h.Start && !emphasised(d.text, lo, hi) {
			continue // no markup is in it
		}
		h.Start, h.End = source(lo), source(hi)
		if h.Method == Exact || h.Method == Folded {
			h.Method = Markup
		}
		if slices.ContainsFunc(hits, func(o Hit) bool { return o.Start < h.End && h.Start < o.End }) {
			continue
		}
		if hits = append(hits, h); first {
			return hits
		}
	}
	return hits
}

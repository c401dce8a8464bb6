package quarantine

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// hidesNothing reports that no rule, upstream's or memdesk's, hits the text without its invisible characters:
// then they do not break up a phrase.
func hidesNothing(text string) bool {
	bare := fold(text, func(dst []byte, r rune) []byte {
		if isInvisible(r) {
			return dst
		}
		return utf8.AppendRune(dst, r)
	})
	_, hit := Scan(bare)
	return !hit && len(Strict(bare)) == 0
}

func (l *labeller) invisible(f Finding) (string, bool) {
	r, _ := utf8.DecodeRuneInString(l.text[f.Start:])
	before, after := l.text[:f.Start], l.text[f.End:]
	reason := ""
	switch {
	case r == 0xFEFF && f.Start == 0:
		reason = "byte-order mark at the start, as some editors write it"
	case r == 0x200D && inEmoji(before, after):
		reason = "joiner inside an emoji"
	case 0xE0020 <= r && r <= 0xE007F && inFlag(before, l.text[f.Start:]):
		reason = "tag inside a flag emoji"
	case (r == 0x200C || r == 0x200D) && betweenLetters(before, after, joiningScripts):
		reason = "joiner in a script that needs it"
	case r == 0x180E && betweenLetters(before, after, []*unicode.RangeTable{unicode.Mongolian}):
		reason = "vowel separator in Mongolian"
	case r == 0x00AD && hyphenates(before, after) && l.hyphenated():
		reason = "soft hyphen in hyphenated text"
	case isMark(r) && rightToLeft(line(l.text, f.Start)):
		reason = "directional mark in multilingual text"
	}
	return reason, reason != "" && l.hidesNothing()
}

// joiningScripts are those in which U+200C and U+200D choose the shape of letters.
var joiningScripts = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mongolian, unicode.Devanagari, unicode.Bengali,
	unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada,
	unicode.Malayalam, unicode.Sinhala, unicode.Tibetan, unicode.Myanmar, unicode.Khmer,
}

// betweenLetters reports that both neighbours belong to the same one of the scripts. Marks shared between
// scripts are skipped.
func betweenLetters(before, after string, scripts []*unicode.RangeTable) bool {
	prev, size := utf8.DecodeLastRuneInString(before)
	for size > 0 && unicode.Is(unicode.Inherited, prev) && unicode.Is(unicode.Mn, prev) {
		before = before[:len(before)-size]
		prev, size = utf8.DecodeLastRuneInString(before)
	}
	next, _ := utf8.DecodeRuneInString(after)
	for _, s := range scripts {
		if unicode.Is(s, prev) && unicode.Is(s, next) {
			return !isInvisible(prev) && !isInvisible(next)
		}
	}
	return false
}

// isMark reports the three marks that only set a direction; overrides, embeddings and isolates can reorder
// the visible text and are never labelled.
func isMark(r rune) bool { return r == 0x200E || r == 0x200F || r == 0x061C }

// rightToLeft reports a line with a letter of a right-to-left script and no character that reorders.
func rightToLeft(line string) bool {
	letters := false
	for _, r := range line {
		if 0x202A <= r && r <= 0x202E || 0x2066 <= r && r <= 0x2069 {
			return false
		}
		letters = letters || unicode.IsLetter(r) &&
			unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko)
	}
	return letters
}

// hyphenates reports at least two letters on either side.
func hyphenates(before, after string) bool {
	for range 2 {
		prev, back := utf8.DecodeLastRuneInString(before)
		next, on := utf8.DecodeRuneInString(after)
		if !unicode.IsLetter(prev) || !unicode.IsLetter(next) {
			return false
		}
		before, after = before[:len(before)-back], after[on:]
	}
	return true
}

// hyphenPlaces counts the different places at which a text is hyphenated, up to two. Only two show a text that is
// hyphenated throughout: a single soft hyphen is as likely to hide a word from a filter.
func hyphenPlaces(text string) int {
	const shy = "\u00ad"
	places := map[string]bool{}
	for at := strings.Index(text, shy); at >= 0 && len(places) < 2; {
		end := at + len(shy)
		if hyphenates(text[:at], text[end:]) {
			places[lastLetters(text[:at])+shy+firstLetters(text[end:])] = true
		}
		next := strings.Index(text[end:], shy)
		if next < 0 {
			break
		}
		at = end + next
	}
	return len(places)
}

// maxWord bounds the length of a word, in bytes.
const maxWord = 64

func firstLetters(text string) string {
	text = text[:min(len(text), maxWord)]
	if end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }); end >= 0 {
		return text[:end]
	}
	return text
}

func lastLetters(text string) string {
	text = text[max(0, len(text)-maxWord):]
	return text[strings.LastIndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })+1:]
}

// maxJoined is the longest emoji sequence in general use: four people.
const maxJoined = 4

// inEmoji reports a joiner between two emoji of a sequence of ordinary length.
func inEmoji(before, after string) bool {
	joined := 1
	for {
		r, rest := lastEmojiPart(before)
		if !isEmoji(r) {
			return false
		}
		if joined++; !strings.HasSuffix(rest, "\u200d") {
			break
		}
		before = strings.TrimSuffix(rest, "\u200d")
		if joined > maxJoined {
			return false
		}
	}
	for {
		r, size := utf8.DecodeRuneInString(after)
		if !isEmoji(r) {
			return false
		}
		after = strings.TrimPrefix(skipModifier(after[size:]), "\ufe0f")
		rest, more := strings.CutPrefix(after, "\u200d")
		if !more {
			return joined <= maxJoined
		}
		if joined++; joined > maxJoined {
			return false
		}
		after = rest
	}
}

func isModifier(r rune) bool { return 0x1F3FB <= r && r <= 0x1F3FF }

func skipModifier(text string) string {
	if r, size := utf8.DecodeRuneInString(text); isModifier(r) {
		return text[size:]
	}
	return text
}

// lastEmojiPart is the last character without its colour and selector.
func lastEmojiPart(text string) (r rune, rest string) {
	text = strings.TrimSuffix(text, "\ufe0f")
	r, size := utf8.DecodeLastRuneInString(text)
	if isModifier(r) {
		text = text[:len(text)-size]
		r, size = utf8.DecodeLastRuneInString(text)
	}
	return r, text[:len(text)-size]
}

// isEmoji covers the blocks that hold the pictographs used in sequences.
func isEmoji(r rune) bool {
	return 0x2600 <= r && r <= 0x27BF || 0x2B00 <= r && r <= 0x2BFF || 0x2190 <= r && r <= 0x21FF ||
		0x1F000 <= r && r <= 0x1FAFF && !isModifier(r)
}

// inFlag reports a tag character that is part of one of the three flags spelled with tags. before ends just
// before the tag, and tail begins with it.
func inFlag(before, tail string) bool {
	start := strings.LastIndex(before, "\U0001F3F4")
	if start < 0 || len(before)-start > maxWord {
		return false
	}
	sequence := before[start:] + tail[:min(len(tail), maxWord)]
	for _, region := range [...]string{"gbeng", "gbsct", "gbwls"} {
		flag := "\U0001F3F4"
		for _, c := range region {
			flag += string(0xE0000 + c)
		}
		if flag += "\U000E007F"; strings.HasPrefix(sequence, flag) {
			return len(before)-start < len(flag)
		}
	}
	return false
}

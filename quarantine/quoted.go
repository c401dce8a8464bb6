package quarantine

import (
	"sort"
	"strings"
)

// aboutAttacks are words of texts that describe an attack instead of making one.
var aboutAttacks = expr(`(?i)\b(?:scanner|scanners|detects?|detected|detection|flags|flagged|quarantined?|injections?|jailbreaks?|attacks?|attackers?|pattern|patterns|regex|false\s+positives?|phrases?|vectors?|test\s+cases?|verdicts?)\b`)

// asOrders are words that turn a quotation into an order to the reader.
var asOrders = expr(`(?i)\b(?:obey|comply|follow|execute|run\s+(?:this|it|the)|must|do\s+as|apply\s+(?:this|the)|carry\s+out|say\s+nothing|send)\b`)

// maxContext bounds how much text around a quotation is read, in bytes.
const maxContext = 600

// quoted reports that the span lies wholly inside backticks, quotation marks or a code block, that the words
// around it are about attacks, and that none of them is an order.
func (l *labeller) quoted(start, end int) bool {
	if block, ok := l.inFence(start, end); ok {
		return describes(introduction(l.text[:block.start]))
	}
	text := l.text
	from, to := lineBounds(text, start, end)
	for _, q := range [...][2]string{{"`", "`"}, {`"`, `"`}, {"\u201c", "\u201d"}, {"\u00ab", "\u00bb"}, {"\u201e", "\u201c"}} {
		open, shut := quotation(text[from:start], text[end:to], q[0], q[1])
		if open >= 0 {
			return describes(text[from:from+open] + " " + text[end+shut:to])
		}
	}
	return false
}

func describes(around string) bool {
	return aboutAttacks().MatchString(around) && !asOrders().MatchString(around)
}

// quotation finds the marks around a span: the last one before it, which must be an opening one, and the
// first one after it, both near. open is -1 when there are none.
func quotation(before, after, opening, closing string) (open, shut int) {
	open, shut = strings.LastIndex(before, opening), strings.Index(after, closing)
	if open < 0 || shut < 0 || len(before)-open > maxWord || shut > maxWord {
		return -1, -1
	}
	if opening == closing && strings.Count(before, opening)%2 == 0 {
		return -1, -1
	}
	return open, shut + len(closing)
}

// lineBounds are the bounds of the span's lines, at most maxContext bytes to either side of it.
func lineBounds(text string, start, end int) (from, to int) {
	from, to = max(0, start-maxContext), min(len(text), end+maxContext)
	if n := strings.LastIndexByte(text[from:start], '\n'); n >= 0 {
		from += n + 1
	}
	if n := strings.IndexByte(text[end:to], '\n'); n >= 0 {
		to = end + n
	}
	return from, to
}

// line is the text between lineBounds.
func line(text string, at int) string {
	from, to := lineBounds(text, at, at)
	return text[from:to]
}

// span is a range of bytes.
type span struct{ start, end int }

// inFence finds the closed code block that contains the span.
func (l *labeller) inFence(start, end int) (span, bool) {
	blocks := l.codeBlocks()
	i := sort.Search(len(blocks), func(i int) bool { return blocks[i].end >= end })
	if i == len(blocks) {
		return span{}, false
	}
	block := blocks[i]
	first := strings.IndexByte(l.text[block.start:], '\n') // the opening line is not content
	return block, block.start+first < start
}

// codeBlocks lists the closed blocks between lines of three backticks or tildes,
// from the opening line up to the closing one.
func codeBlocks(text string) []span {
	var blocks []span
	open, from := "", 0
	for at := 0; at < len(text); {
		stop := len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			stop = at + n
		}
		mark := fenceMark(text[at:stop])
		switch {
		case open == "" && mark != "":
			open, from = mark, at
		case open != "" && mark == open && strings.Trim(text[at:stop], " \t\r"+mark[:1]) == "":
			blocks = append(blocks, span{from, at})
			open = ""
		}
		at = stop + 1
	}
	return blocks
}

func fenceMark(line string) string {
	trimmed := strings.TrimLeft(line, " ")
	for _, mark := range [...]string{"```", "~~~"} {
		if len(line)-len(trimmed) <= 3 && strings.HasPrefix(trimmed, mark) {
			return mark
		}
	}
	return ""
}

// introduction is the last paragraph before a code block.
func introduction(before string) string {
	before = strings.TrimRight(before[max(0, len(before)-maxContext):], "\n ")
	return before[strings.LastIndex(before, "\n\n")+1:]
}

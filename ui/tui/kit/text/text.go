// Package text shows and takes text: the pager with its search, and the input line.
package text

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"memdesk/internal/frontmatter"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
)

// Mark is a part of a body that is painted apart, by offset.
type Mark struct{ Start, End int }

const (
	// pieceBytes is the longest part of a stored line that is wrapped at once; longer lines come in pieces.
	pieceBytes = 4 << 10
	// blockBytes is the grain of the index that turns offsets into line numbers.
	blockBytes = 64 << 10
)

// Page is a document for the pager: lines that are safe already above and below a body of any size that
// is escaped only where it is shown. It never changes once it is shown, so commands may read it while the console runs.
type Page struct {
	Head  []Line
	Body  string
	Foot  []Line
	lines []int // newlines before each block of the body
	Total int   // lines of the body

	Acts []act.Act // by keys that the text names, where the page is on the whole screen
	Line int       // of the body, where the page opens; 0: at its head

	Item     model.Ref // that it shows; the zero Ref: none
	Revision model.Revision

	Kind  bodyKind
	Marks []Mark // parts of the body that are painted apart, in order
	front int    // end of the front matter; 0: none
	words int    // where the words after it begin; 0: at the start
	// fences says for each block whether it begins inside fenced code.
	fences []bool
}

// bodyKind says how the lines of a body are drawn.
type bodyKind int

const (
	Plain bodyKind = iota
	Diff
	Excerpt // of a longer text, so that its lines have no numbers
)

// Line is one line of metadata.
type Line struct {
	Name  safetext.Text // empty: value stands alone
	Value safetext.Text
	Kind  Kind
	Runs  []paint.Stretch // parts of Value with a look of their own
	Pin   bool            // in a question: stays in sight
	Cut   bool            // to the width, instead of wrapped
	sign  string          // before the value, for the eye alone
	tone  paint.Tone      // of the sign
}

// Advice is a note that says what to do. Keys stand between backquotes; a percent sign begins a verb.
func Advice(esc safetext.Escaper, format string, args ...any) Line {
	out := Line{Kind: Note}
	for i, part := range strings.Split(format, "`") {
		n := min(strings.Count(part, "%"), len(args))
		said := esc.Sprintf(part, args[:n]...)
		args = args[n:]
		if i%2 == 1 {
			out.Runs = append(out.Runs, paint.Stretch{Start: out.Value.Len(), End: out.Value.Len() + said.Len(), Look: paint.LookCode})
		}
		out.Value = esc.Concat(out.Value, said)
	}
	return out
}

func State(st *paint.Styles, tone paint.Tone, words safetext.Text) Line {
	return Line{Value: words, sign: st.Glyphs.State[tone], tone: tone}
}

func (l Line) Named(name safetext.Text) Line {
	l.Name = name
	return l
}

// Lines are words that others wrote, one in a line.
func Lines(esc safetext.Escaper, kind Kind, words []string) (out []Line) {
	for _, w := range words {
		out = append(out, Line{Value: esc.LineMax(w, prose.MaxReason), Kind: kind})
	}
	return out
}

// Known are the lines that have a value.
func Known(lines ...Line) []Line {
	return slices.DeleteFunc(lines, func(l Line) bool { return l.Value.IsEmpty() })
}

func (l Line) As(kind Kind) Line {
	l.Kind = kind
	return l
}

type Kind int

const (
	Field Kind = iota
	Key        // a field named by what is typed
	Title
	Note
	Warn
	Alert // a warning that stands alone, drawn with its sign
	Bad   // a state that a list has in red
	Blank
)

// NewPage indexes a body. It reads all of it once, so it belongs in a command.
func NewPage(head []Line, body string) *Page {
	t := &Page{Head: head, Body: body}
	n := 0
	for at := 0; at < len(body); at += blockBytes {
		t.lines = append(t.lines, n)
		n += strings.Count(body[at:min(at+blockBytes, len(body))], "\n")
	}
	t.Total = n
	if body != "" && body[len(body)-1] != '\n' {
		t.Total++
	}
	t.indexFences()
	_, words := frontmatter.Split(body)
	t.front = len(body) - len(words)
	if rest := strings.TrimLeft(words, "\r\n"); rest != "" && t.front > 0 {
		t.words = len(body) - len(rest)
	}
	return t
}

// Begins is the 1-based line where the words of a body begin: after its front matter.
func (t *Page) Begins() int { return t.LineAt(t.words) }

// LineAt is the 1-based number of the line that holds an offset.
func (t *Page) LineAt(off int) int {
	if len(t.lines) == 0 {
		return 0
	}
	b := min(off/blockBytes, len(t.lines)-1)
	return t.lines[b] + strings.Count(t.Body[b*blockBytes:min(off, len(t.Body))], "\n") + 1
}

// offsetOf is where a 1-based line starts.
func (t *Page) offsetOf(line int) int {
	if line <= 1 || len(t.lines) == 0 {
		return 0
	}
	b := sort.SearchInts(t.lines, line-1) - 1 // the last block with fewer newlines before it
	off := b * blockBytes
	for n := line - 1 - t.lines[b]; n > 0; n-- {
		i := strings.IndexByte(t.Body[off:], '\n')
		if i < 0 {
			return off
		}
		off += i + 1
	}
	return off
}

// PieceEnd is the end of the piece that starts at off, and the start of the next one.
func (t *Page) PieceEnd(off int) (end, next int) {
	limit := min(off+pieceBytes, len(t.Body))
	if i := strings.IndexByte(t.Body[off:limit], '\n'); i >= 0 {
		return off + i, off + i + 1
	}
	if limit == len(t.Body) {
		return limit, limit
	}
	if t.Body[limit] == '\n' {
		return limit, limit + 1
	}
	cut := t.cut(limit)
	return cut, cut
}

// cut is the start of the character at an offset; the offset itself where there is none.
func (t *Page) cut(off int) int {
	for at := off; at > off-utf8.UTFMax; at-- {
		if at >= len(t.Body) || utf8.RuneStart(t.Body[at]) {
			return at
		}
	}
	return off
}

// pieceBefore is the start of the piece that ends at off, counted from the start of its line, as going down does.
func (t *Page) pieceBefore(off int) int {
	start := t.LineStart(off - 1)
	if off-start <= pieceBytes {
		return start
	}
	// Pieces lack at most three bytes, of a split character, so the one before off starts after this.
	at := t.pieceNear(start, off-2*pieceBytes)
	for {
		_, next := t.PieceEnd(at)
		if next >= off {
			return at
		}
		at = next
	}
}

// pieceNear walks the pieces of a long line, by their cuts, to the last one that starts at or before off.
func (t *Page) pieceNear(start, off int) int {
	at := start
	for {
		next := t.cut(at + pieceBytes)
		if next > off {
			return at
		}
		at = next
	}
}

// LineStart is the offset after the newline before off.
func (t *Page) LineStart(off int) int {
	off = min(off, len(t.Body))
	for end := off; end > 0; {
		block := (end - 1) / blockBytes
		begin := block * blockBytes
		if i := strings.LastIndexByte(t.Body[begin:end], '\n'); i >= 0 {
			return begin + i + 1
		}
		// Blocks without a newline are skipped by the index.
		for block > 0 && t.lines[block-1] == t.lines[block] {
			block--
		}
		end = block * blockBytes
	}
	return 0
}

// Package diff compares two texts by lines and words, and merges two changes of one text.
package diff

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	threeway "memdesk/conflict/merge"
	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// maxDiff bounds the compared text, in bytes of both sides: comparing takes more than linear time.
const maxDiff = 2 << 20

// Change is the size of an edit in numbers; Large: the texts differ, and are too large for numbers.
type Change struct {
	Added, Removed int
	changed        int // lines that are removed and added in one place
	Large          bool
}

// Comparison collects unified diffs with the changed words marked; they are the body of its Text.
type Comparison struct {
	body  strings.Builder
	marks []text.Mark
	work  int // spent on comparing words
	Change
	Around  int  // lines around a change; 0: the default, below: none
	Unnamed bool // the names of both sides are shown elsewhere
	// Above are the lines of each text above the compared ones.
	Above struct{ Old, New int }
}

// Compare appends the difference of two texts, or a note that there is none.
func (c *Comparison) Compare(esc safetext.Escaper, oldName, newName, old, new string) {
	if old == new {
		c.body.WriteString(" no difference\n")
		return
	}
	if len(old)+len(new) > maxDiff {
		c.Large = true
		c.body.WriteString(" the texts are too large to be compared line by line: " + prose.Size(int64(len(old))) + " and " + prose.Size(int64(len(new))) + "\n")
		return
	}
	edits := udiff.Lines(old, new)
	u, err := udiff.ToUnifiedDiff(oldName, newName, old, edits, max(cmp.Or(c.Around, udiff.DefaultContextLines), 0))
	if err != nil { // the library's own edits always apply
		c.body.WriteString(" the texts differ\n")
		return
	}
	if !c.Unnamed {
		c.body.WriteString("--- " + esc.Line(oldName).String() + "\n+++ " + esc.Line(newName).String() + "\n")
	}
	for _, h := range u.Hunks {
		c.hunk(h)
	}
}

// hunk writes one hunk; runs of removed and added lines are compared by words.
func (c *Comparison) hunk(h *udiff.Hunk) {
	var gone, come []string
	flush := func() {
		c.replaced(gone, come)
		gone, come = nil, nil
	}
	old, new := c.Above.Old+h.FromLine, c.Above.New+h.ToLine
	c.body.WriteString("@@ line " + strconv.Itoa(old))
	if new != old {
		c.body.WriteString(", now " + strconv.Itoa(new))
	}
	c.body.WriteByte('\n')
	for _, l := range h.Lines {
		switch l.Kind {
		case udiff.Delete:
			if len(come) > 0 {
				flush()
			}
			gone = append(gone, l.Content)
		case udiff.Insert:
			come = append(come, l.Content)
		default:
			flush()
			c.line(' ', l.Content, nil)
		}
	}
	flush()
}

// replaced writes removed lines and their replacements.
func (c *Comparison) replaced(gone, come []string) {
	c.Removed += len(gone)
	c.Added += len(come)
	c.changed += min(len(gone), len(come))
	marksGone, marksCome := make([][]text.Mark, len(gone)), make([][]text.Mark, len(come))
	for i := range min(len(gone), len(come)) {
		if len(gone[i])+len(come[i]) > maxWords { // not compared: it costs nothing
			continue
		}
		if c.work += len(gone[i]) * len(come[i]); c.work <= maxWork {
			marksGone[i], marksCome[i] = Words(gone[i], come[i])
		}
	}
	for i, l := range gone {
		c.line('-', l, marksGone[i])
	}
	for i, l := range come {
		c.line('+', l, marksCome[i])
	}
}

// line writes a sign and a blank before the text: in a list of a note each line begins with a sign of its own.
func (c *Comparison) line(sign byte, content string, marks []text.Mark) {
	c.body.Write([]byte{sign, ' '})
	at := c.body.Len()
	for _, m := range marks {
		c.marks = append(c.marks, text.Mark{Start: at + m.Start, End: at + m.End})
	}
	c.body.WriteString(content)
	if !strings.HasSuffix(content, "\n") {
		c.body.WriteString("\n\\ no newline at the end\n")
	}
}

// CopyWords says how a copy differs from its base, in signs and in words.
func (c Change) CopyWords(esc safetext.Escaper) safetext.Text {
	if c.Large {
		return esc.Sprintf("%s.", c.Counts())
	}
	var parts, copied []string
	switch c.changed {
	case 0:
	case 1:
		parts = append(parts, "1 line differs")
	default:
		parts = append(parts, prose.Plural(c.changed, "line")+" differ")
	}
	if n := c.Added - c.changed; n > 0 {
		copied = append(copied, "has "+prose.Plural(n, "line")+" more")
	}
	if n := c.Removed - c.changed; n > 0 {
		copied = append(copied, "lacks "+prose.Plural(n, "line"))
	}
	if len(copied) > 0 {
		parts = append(parts, "the copy "+strings.Join(copied, " and "))
	}
	return esc.Sprintf("%s: %s.", c.Signs(), cmp.Or(strings.Join(parts, ", "), "no line differs"))
}

func (c Change) Words(esc safetext.Escaper) safetext.Text {
	if c.Large {
		return esc.Const(c.Counts())
	}
	return esc.Sprintf("%s: %s", c.Signs(), c.Counts())
}

// Counts are the numbers in words.
func (c Change) Counts() string {
	if c.Large {
		return "too large to be compared line by line"
	}
	return prose.Plural(c.Added, "line") + " added, " + prose.Plural(c.Removed, "line") + " removed"
}

func (c Change) Signs() string {
	if c.Large {
		return "not compared"
	}
	return "+" + prose.Group(c.Added) + " -" + prose.Group(c.Removed)
}

// Section appends one of several comparisons, under a heading with its numbers.
func (c *Comparison) Section(esc safetext.Escaper, heading, oldName, newName, old, new string) Change {
	var part Comparison
	part.Compare(esc, oldName, newName, old, new)
	c.body.WriteString("# " + heading)
	if part.Added+part.Removed > 0 {
		c.body.WriteString(": " + prose.Plural(part.Added, "line") + " added, " + prose.Group(part.Removed) + " removed")
	}
	c.body.WriteByte('\n')
	at := c.body.Len()
	c.body.WriteString(part.body.String())
	for _, m := range part.marks {
		c.marks = append(c.marks, text.Mark{Start: at + m.Start, End: at + m.End})
	}
	c.Added, c.Removed, c.changed, c.Large = c.Added+part.Added, c.Removed+part.Removed, c.changed+part.changed, c.Large || part.Large
	return part.Change
}

// Text is a page of the comparison under a head.
func (c *Comparison) Text(head []text.Line) *text.Page {
	t := text.NewPage(head, c.body.String())
	t.Kind, t.Marks = text.Diff, c.marks
	return t
}

// maxWords bounds the lines, in bytes, that are compared word by word.
const maxWords = 4 << 10

// maxWork bounds all of them in one comparison: the product of two lines' bytes is the time that their words take.
const maxWork = 16 << 20

// Words returns the differing words of two lines; none of lines with little in common.
func Words(old, new string) (gone, come []text.Mark) {
	if len(old)+len(new) > maxWords {
		return nil, nil
	}
	left, right := threeway.Words(old, new)
	marked := func(spans []threeway.Span) (out []text.Mark, bytes int) {
		for _, s := range spans {
			out, bytes = append(out, text.Mark{Start: s.From, End: s.To}), bytes+s.To-s.From
		}
		return out, bytes
	}
	gone, n := marked(left)
	come, _ = marked(right)
	if 3*(len(old)-n) < max(len(old), len(new)) {
		return nil, nil
	}
	return gone, come
}

// Merge combines two edits of a text by lines. Both sides of a clash stand between marks.
func Merge(base, theirs, yours string) string {
	if len(base)+len(theirs)+len(yours) > 2*maxDiff {
		return yours
	}
	if merged, open := threeway.Text(threeway.Three(base, theirs, yours), nil); open == 0 {
		return merged
	}
	return BothSides(theirs, yours)
}

// BothSides is a text that holds both, with marks around what differs.
func BothSides(theirs, yours string) string {
	hunks := []threeway.Hunk{{Kind: threeway.Conflict, Left: threeway.Lines(yours), Right: threeway.Lines(theirs)}}
	if len(theirs)+len(yours) <= maxDiff {
		hunks = threeway.Two(yours, theirs)
	}
	return threeway.Marked(hunks, nil, threeway.Named("yours", "as it is in the store now"))
}

// Marked reports whether a text still has merge markers.
func Marked(s string) bool {
	return strings.Contains("\n"+s, "\n<<<<<<< ") || strings.Contains("\n"+s, "\n>>>>>>> ")
}

// Ended is s, with a final newline.
func Ended(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

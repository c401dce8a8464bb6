package merge

import (
	"slices"
	"strings"
)

// Kind says who changed a hunk.
type Kind int

// The kinds.
const (
	Same     Kind = iota // nobody
	Left                 // the left side only
	Right                // the right side only
	Agreed               // both, alike
	Conflict             // both, differently
)

// Side is the choice of text for a hunk.
type Side int

// The choices.
const (
	Undecided Side = iota
	TakeLeft
	TakeRight
	TakeBoth // left, then right
	TakeAncestor
)

// Hunk is a stretch of the texts. Ancestor is nil when there is none.
type Hunk struct {
	Kind                  Kind
	Ancestor, Left, Right []string
	// Unsure: the ancestor may be younger than the split, so lines that one side lacks may be new on the other.
	Unsure bool
}

// Open reports whether the hunk needs a choice.
func (h Hunk) Open() bool { return h.Kind == Conflict || h.Unsure }

// Lines are the hunk's lines under a choice; Undecided gives the agreed ones, and nil for an open hunk.
func (h Hunk) Lines(s Side) []string {
	switch {
	case s == Undecided && h.Open():
		return nil
	case s == TakeLeft, s == Undecided && (h.Kind == Same || h.Kind == Left || h.Kind == Agreed):
		return h.Left
	case s == TakeRight, s == Undecided && h.Kind == Right:
		return h.Right
	case s == TakeBoth:
		return slices.Concat(h.Left, h.Right)
	case s == TakeAncestor:
		return h.Ancestor
	}
	return nil
}

// Two compares two texts: every difference is open, because without an ancestor nobody can say who changed
// it.
func Two(left, right string) []Hunk {
	a, b := Lines(left), Lines(right)
	var out []Hunk
	i, j := 0, 0
	for _, e := range Diff(a, b) {
		if e.A0 > i {
			out = append(out, Hunk{Kind: Same, Left: a[i:e.A0], Right: b[j:e.B0]})
		}
		out = append(out, Hunk{Kind: Conflict, Left: a[e.A0:e.A1], Right: b[e.B0:e.B1]})
		i, j = e.A1, e.B1
	}
	if i < len(a) {
		out = append(out, Hunk{Kind: Same, Left: a[i:], Right: b[j:]})
	}
	return out
}

// Three joins two versions of an ancestor. Changes that touch or overlap are one
// hunk.
func Three(ancestor, left, right string) []Hunk {
	o, a, b := Lines(ancestor), Lines(left), Lines(right)
	ea, eb := Diff(o, a), Diff(o, b)
	var out []Hunk
	at, ia, ib := 0, 0, 0 // finished lines of the ancestor, finished edits of each side
	da, db := 0, 0        // offset of each side to the ancestor
	for ia < len(ea) || ib < len(eb) {
		lo := len(o) + 1
		if ia < len(ea) {
			lo = ea[ia].A0
		}
		if ib < len(eb) {
			lo = min(lo, eb[ib].A0)
		}
		hi, na, nb := grow(lo, ea[ia:], eb[ib:])
		if lo > at {
			out = append(out, Hunk{Kind: Same, Ancestor: o[at:lo], Left: a[at+da : lo+da], Right: b[at+db : lo+db]})
		}
		ga, gb := growth(ea[ia:ia+na]), growth(eb[ib:ib+nb])
		h := Hunk{Ancestor: o[lo:hi], Left: a[lo+da : hi+da+ga], Right: b[lo+db : hi+db+gb]}
		switch {
		case nb == 0:
			h.Kind = Left
		case na == 0:
			h.Kind = Right
		case slices.Equal(h.Left, h.Right):
			h.Kind = Agreed
		default:
			h.Kind = Conflict
		}
		out = append(out, h)
		at, da, db, ia, ib = hi, da+ga, db+gb, ia+na, ib+nb
	}
	if at < len(o) {
		out = append(out, Hunk{Kind: Same, Ancestor: o[at:], Left: a[at+da:], Right: b[at+db:]})
	}
	return out
}

// grow takes the edits of both sides that touch the stretch that begins at lo.
func grow(lo int, ea, eb []Edit) (hi, na, nb int) {
	hi = lo
	for {
		switch {
		case na < len(ea) && ea[na].A0 <= hi:
			hi = max(hi, ea[na].A1)
			na++
		case nb < len(eb) && eb[nb].A0 <= hi:
			hi = max(hi, eb[nb].A1)
			nb++
		default:
			return hi, na, nb
		}
	}
}

func growth(edits []Edit) int {
	n := 0
	for _, e := range edits {
		n += (e.B1 - e.B0) - (e.A1 - e.A0)
	}
	return n
}

// Text joins hunks under choices, by index; a missing choice is Undecided. open
// counts the hunks that still need one, which leave nothing in the text.
func Text(hunks []Hunk, choices map[int]Side) (text string, open int) {
	var b strings.Builder
	for i, h := range hunks {
		if h.Open() && choices[i] == Undecided {
			open++
			continue
		}
		for _, l := range h.Lines(choices[i]) {
			if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
				b.WriteByte('\n') // a last line without an end is no longer the last
			}
			b.WriteString(l)
		}
	}
	return b.String(), open
}

// Named are the same names beside every hunk.
func Named(left, right string) func(int) (string, string) {
	return func(int) (string, string) { return left, right }
}

// Marked joins hunks as git does, with open ones between markers, for an editor; named are the names of a hunk's
// sides, by its index.
func Marked(hunks []Hunk, choices map[int]Side, named func(hunk int) (left, right string)) string {
	var b strings.Builder
	put := func(lines []string) {
		for _, l := range lines {
			b.WriteString(l)
			if !strings.HasSuffix(l, "\n") {
				b.WriteByte('\n')
			}
		}
	}
	for i, h := range hunks {
		if !h.Open() || choices[i] != Undecided {
			put(h.Lines(choices[i]))
			continue
		}
		left, right := named(i)
		b.WriteString("<<<<<<< " + left + "\n")
		put(h.Left)
		if h.Ancestor != nil {
			b.WriteString("||||||| ancestor\n")
			put(h.Ancestor)
		}
		b.WriteString("=======\n")
		put(h.Right)
		b.WriteString(">>>>>>> " + right + "\n")
	}
	return b.String()
}

package list

// Fit is the widest cell seen in each column. It only grows, so that columns rarely move.
type Fit []int

// See notes the width of a cell, and of the title above it; an empty cell asks for no room.
func (f *Fit) See(column, width, title int) {
	for len(*f) <= column {
		*f = append(*f, -1)
	}
	if width > 0 {
		(*f)[column] = max((*f)[column], width, title)
	}
}

// Width is the room of a column: its widest cell and a blank, at most most; 0 where all of its cells are empty.
func (f Fit) Width(column, most int) int {
	if column >= len(f) {
		return most // nothing was seen yet
	}
	return min(f[column]+1, most)
}

// enough is the room in which a last column, which may be an endless text, does not count as cut.
const enough = 40

// Cuts reports whether a cell is cut for lack of room; a column that has gone for it cuts none.
func (f Fit) Cuts(room int, columns []Column) bool {
	last := len(columns) - 1
	for i, width := range f.Widths(room, columns)[:last] {
		if room -= width; width > 0 && width < f.Width(i, columns[i].Most) {
			return true
		}
	}
	return room < f.Width(last, enough)-1
}

// Column is the room of a column.
type Column struct {
	Most    int  // at most so wide, unless the last column leaves room; it leaves what it has beyond its own Most, 0: what it does not need
	Least   int  // kept for lack of room; 0: it shrinks and goes first
	Support bool // it supports the others, and goes before one of them has less than its least; the last one goes first
}

// shortest is the width below which a column that may go is not worth its room: a time has it.
const shortest = 17

// Widths share a room among columns; the last one takes what is left. For lack of room the least important
// shrink and go first, then those that support others go, then the others shrink, so that the last one keeps
// its least. A last one that supports the others leaves its room to the first where it cannot have its least.
func (f Fit) Widths(room int, columns []Column) []int {
	out, last := make([]int, len(columns)), len(columns)-1
	rest := room
	for i, c := range columns[:last] {
		out[i] = f.Width(i, c.Most)
		rest -= out[i]
	}
	lacking := f.Width(last, columns[last].Least) - rest
	set := func(i, width int) { lacking, rest, out[i] = lacking-out[i]+width, rest+out[i]-width, width }
	slack := 0 // what the others can give
	for i, c := range columns[:last] {
		if c.Least == 0 && lacking > 0 {
			width := max(out[i]-lacking, 0)
			if width < shortest {
				width = 0
			}
			set(i, width)
		}
		if c.Least > 0 {
			slack += max(out[i]-c.Least, 0)
		}
	}
	gone := columns[last].Support && lacking > slack
	if gone {
		lacking = -rest
	}
	for i, c := range columns[:last] {
		if c.Support && c.Least > 0 && lacking > slack {
			slack -= max(out[i]-c.Least, 0)
			set(i, 0)
		}
	}
	for i, c := range columns[:last] {
		if by := min(lacking, out[i]-c.Least); by > 0 && c.Least > 0 {
			set(i, out[i]-by)
		}
	}
	if gone && rest > 0 {
		set(0, out[0]+rest)
	}
	for i := range columns[:last] {
		keeps := f.Width(last, rest)
		if most := columns[last].Most; most > 0 {
			keeps = min(keeps, max(most, columns[last].Least))
		}
		if by := min(rest-keeps, f.Width(i, out[i]+rest)-out[i]); by > 0 && out[i] > 0 {
			set(i, out[i]+by)
		}
	}
	return out
}

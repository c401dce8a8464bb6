package list

// Fit is the widest cell seen in each column. It only grows, so that columns rarely move.
type Fit []int

// See notes the width of a cell.
func (f *Fit) See(column, width int) {
	for len(*f) <= column {
		*f = append(*f, 0)
	}
	(*f)[column] = max((*f)[column], width)
}

// Width is the room of a column: its widest cell and a blank, at most most.
func (f Fit) Width(column, most int) int {
	if column >= len(f) {
		return most // nothing was seen yet
	}
	return min(f[column]+1, most)
}

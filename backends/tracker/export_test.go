package tracker

// Narrows reports whether any term counts.
func (q Query) Narrows() bool { return len(q.terms) > 0 }

// Relatives adds ancestors and descendants.
var Relatives = relatives

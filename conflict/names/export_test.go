package names

// Rows is the table.
func Rows() []Row { return append(append([]Row{}, table...), *numberRow) }

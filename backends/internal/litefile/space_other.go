//go:build !unix

package litefile

// enoughSpace cannot be told here: SQLite itself says when the disk is full.
func (m Medium) enoughSpace() error { return nil }

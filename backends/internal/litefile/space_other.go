//go:build !unix

package litefile

import "os"

// enoughSpace cannot be told here: SQLite itself says when the disk is full.
func (m Medium) enoughSpace() error { return nil }

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

//go:build !linux

package media

import "os"

// exchange lets two directories change places, with a moment in which the second is not there.
func exchange(a, b string) error {
	aside := b + ".old"
	if err := os.Rename(b, aside); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return err
	}
	return os.Rename(aside, a)
}

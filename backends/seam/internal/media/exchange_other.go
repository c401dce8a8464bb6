//go:build !linux

package media

import (
	"errors"
	"os"
)

// exchange swaps two directories, with a moment in which the second is absent.
func exchange(a, b string) error {
	aside := b + ".old"
	if err := os.Rename(b, aside); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return errors.Join(err, os.Rename(aside, b))
	}
	return os.Rename(aside, a)
}

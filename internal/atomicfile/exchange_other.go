//go:build !linux && !darwin

package atomicfile

import "errors"

// Exchange is errors.ErrUnsupported on this system.
func Exchange(string, string) error { return errors.ErrUnsupported }

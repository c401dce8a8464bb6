//go:build !linux

package litefile

import "errors"

// Held cannot be told where the system does not show the descriptors of other processes.
func Held(string) (by string, err error) {
	return "", errors.New("this system does not tell which processes hold a file open")
}

//go:build !unix

package litefile

import "os"

// Writable looks at the mode.
func Writable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&0o200 != 0
}

// CheckReadable leaves the question to SQLite where there is no access call.
func CheckReadable(string) error { return nil }

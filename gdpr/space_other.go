//go:build !unix

package gdpr

// FreeSpace is not known on this system.
func FreeSpace(string) (int64, bool) { return 0, false }

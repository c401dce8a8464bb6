//go:build !unix

package gdpr

// FreeSpace cannot be told here.
func FreeSpace(string) (int64, bool) { return 0, false }

//go:build !unix

package litefile

// CheckReadable leaves the question to SQLite where there is no access call.
func CheckReadable(string) error { return nil }

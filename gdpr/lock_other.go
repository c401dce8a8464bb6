//go:build !unix

package gdpr

import "os"

// lockFile has no lock to take here: one desk at a time is the operator's care.
func lockFile(*os.File) error { return nil }

//go:build !linux

package vault

import "time"

// madeAt is unknown on this system.
func madeAt(string) (time.Time, bool) { return time.Time{}, false }

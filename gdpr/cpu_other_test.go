//go:build !unix

package gdpr_test

import "time"

// now uses the clock as processor time, where the system does not report processor time.
func now() mark {
	t := time.Now()
	return mark{t, time.Duration(t.UnixNano())}
}

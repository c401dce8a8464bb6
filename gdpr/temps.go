package gdpr

import (
	"os"
	"strings"
	"time"
)

// staleTemp is the age from which a temporary file has no writer any more.
const staleTemp = time.Hour

// sweepTemps removes what interrupted writes left in the desk's directories: a
// half-written request or plan names the person. Those of one request go at once,
// because its run's lock is held; another's when nobody can be at it any more. What
// cannot be removed is found by the verification.
func (d *Desk) sweepTemps(id string) {
	for _, sub := range []string{"requests", "plans", "runs", "receipts", "keys"} {
		entries, err := os.ReadDir(d.dir(sub))
		if err != nil {
			continue
		}
		for _, e := range entries {
			name := e.Name()
			if !strings.Contains(name, ".tmp.") {
				continue
			}
			mine := id != "" && strings.HasPrefix(name, "."+id+".")
			if key, _, _ := strings.Cut(strings.TrimPrefix(name, "."), ".tmp."); sub == "keys" {
				_, err := os.Lstat(d.dir(sub, key))
				mine = err == nil // the key is made: nobody waits for another one
			}
			if info, err := e.Info(); err != nil || !mine && d.Clock.Now().Sub(info.ModTime()) < staleTemp {
				continue
			}
			_ = os.Remove(d.dir(sub, name))
		}
	}
}

package gdpr

import (
	"os"
	"strings"
	"time"
)

// staleTemp is the age from which a temporary file has no writer any more.
const staleTemp = time.Hour

// sweepTemps removes files of interrupted writes from the desk's directories: a half-written request or plan
// names the subject. Those of this request go at once, because its run's lock is held; those of others once
// they are stale. Verification finds what cannot be removed.
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
				mine = err == nil // the key exists: nobody waits for another one
			}
			if info, err := e.Info(); err != nil || !mine && d.Clock.Now().Sub(info.ModTime()) < staleTemp {
				continue
			}
			_ = os.Remove(d.dir(sub, name))
		}
	}
}

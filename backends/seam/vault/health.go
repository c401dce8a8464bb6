package vault

import (
	"context"
	"fmt"
	"os"
	"time"

	"memdesk/model"
)

// heldTooLong is the longest normal hold of AgentM's lock: a write of one note takes milliseconds.
const heldTooLong = 2 * time.Minute

// status checks AgentM's daemon and its lock beside the vault. It takes no lock.
func status(d daemon, m mutex) func(context.Context) []model.HealthFinding {
	return func(ctx context.Context) []model.HealthFinding { return append(d.status(ctx), m.heldLong()...) }
}

// heldLong finds a lock kept for minutes by a live holder, which touches it at each beat. A dead holder's
// lock does not count: the next waiter breaks it.
func (m mutex) heldLong() []model.HealthFinding {
	now := m.clock.Now()
	for _, k := range m.keys {
		info, err := os.Lstat(m.path(k))
		if err != nil || now.Sub(info.ModTime()) > m.pace.stale {
			continue
		}
		since, told := madeAt(m.path(k))
		if told && now.Sub(since) >= heldTooLong {
			return []model.HealthFinding{{Kind: model.FindingLock, State: model.HealthDown, Message: fmt.Sprintf(
				"somebody has held AgentM's lock on this vault since %s: nothing can be retained until it is let go", since.UTC().Format("15:04:05 MST"))}}
		}
	}
	return nil
}

package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"memdesk/internal/atomicfile"
	"memdesk/jobs"
)

// toldFile notes up to when the console has told of long work that broke off.
const toldFile = "console-told"

// brokenOff says which long work of the console ended with its session, and how far
// it came; each is told once.
func (a *app) brokenOff(ctx context.Context, s *session, r *jobs.Runner) (notices []string) {
	all, err := r.List(ctx)
	if err != nil {
		return []string{"long work of earlier sessions cannot be looked at: " + err.Error()}
	}
	file := filepath.Join(s.state, toldFile)
	var told time.Time
	if b, err := os.ReadFile(file); err == nil {
		told, _ = time.Parse(time.RFC3339Nano, strings.TrimSpace(string(b)))
	}
	last := told
	for _, j := range all {
		if j.State != jobs.Interrupted || !strings.HasPrefix(j.Kind, "console-") || !j.Updated.After(told) {
			continue
		}
		notices = append(notices, fmt.Sprintf("long work ended with the session that had begun it: %s (%s), %s. What is done stays done, the rest was left as it is; memdesk jobs lists it.", j.Title, j.Kind, fmt.Sprintf("%d of %s", j.Done, plural(j.Total, j.Unit))))
		if j.Updated.After(last) {
			last = j.Updated
		}
	}
	if len(notices) > 0 {
		// What cannot be noted is told again.
		_ = atomicfile.WriteFS(atomicfile.OS{}, file, []byte(last.UTC().Format(time.RFC3339Nano)+"\n"), atomicfile.Options{})
	}
	return notices
}

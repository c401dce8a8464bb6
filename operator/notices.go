package operator

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memdesk/internal/atomicfile"
	"memdesk/internal/safetext"
	"memdesk/jobs"
)

// Notices tell an operator at login of acts without an outcome, and of long work in runner's journal that
// broke off.
func (s *Session) Notices(ctx context.Context, runner *jobs.Runner) []string {
	return slices.Concat(s.openIntents(ctx), s.brokenOff(ctx, runner), s.unanchored(ctx))
}

// DueWithin is the number of days before its deadline from which a console names a request.
const DueWithin = 7

// DueSoon names the erasures that must be answered soon, for roles that may read them, also beside an error about requests
// that cannot be read.
func (s *Session) DueSoon() ([]string, error) {
	if s.May(ReadRequests) != nil {
		return nil, nil
	}
	due, err := s.desk.DueWithin(DueWithin)
	if len(due) == 0 {
		return nil, err
	}
	first := due[0]
	return []string{fmt.Sprintf("%s due within %d days or over, the first %s: %s (%s)", plural(int64(len(due)), "erasure request"), DueWithin, first.ID, first.Deadline.Format("2006-01-02"), first.Words)}, err
}

// unanchored tells of failing anchors; a log without anchors is reported by Health.
func (s *Session) unanchored(ctx context.Context) []string {
	a := s.Anchoring(ctx)
	for _, one := range a.Anchors {
		if one.Error != "" || one.Alarm != "" {
			return []string{"audit log: " + a.Words(s.Clock.Now())}
		}
	}
	return nil
}

// openIntents names the acts without an outcome.
func (s *Session) openIntents(ctx context.Context) []string {
	rows, err := s.Log.OpenIntents(ctx)
	if err != nil {
		return []string{"the audit log cannot be read: " + err.Error()}
	}
	if len(rows) == 0 {
		return nil
	}
	first := rows[0]
	return []string{plural(int64(len(rows)), "act") + " began and have no recorded outcome, the first " + first.Action + " in " + first.Store +
		" at " + when(first.TS) + ": look at the items, then see `memdesk audit verify`"}
}

// toldFile records up to when the console has told of broken-off work.
const toldFile = "console-told"

// brokenOff names the console's long work that ended with its session, and its progress; each is told once.
func (s *Session) brokenOff(ctx context.Context, r *jobs.Runner) (notices []string) {
	all, err := r.List(ctx)
	if err != nil {
		return []string{"long work of earlier sessions cannot be looked at: " + err.Error()}
	}
	file := filepath.Join(s.State, toldFile)
	var told time.Time
	if b, err := atomicfile.ReadFile(file); err == nil {
		told, _ = time.Parse(time.RFC3339Nano, strings.TrimSpace(string(b)))
	}
	last := told
	for _, j := range all {
		if j.State == jobs.Unreadable {
			notices = append(notices, fmt.Sprintf("the journal of job %s cannot be read, so nobody knows how its work ended: %v", j.ID, j.Err))
		}
		if j.State != jobs.Interrupted || !strings.HasPrefix(j.Kind, "console-") || !j.Updated.After(told) {
			continue
		}
		notices = append(notices, fmt.Sprintf("long work ended with the session that had begun it: %s (%s), %d of %s. What is done stays done, the rest was left as it is; memdesk jobs lists it.", j.Title, j.Kind, j.Done, plural(j.Total, j.Unit)))
		if j.Updated.After(last) {
			last = j.Updated
		}
	}
	if len(notices) > 0 {
		// Without this record it is told again.
		_ = atomicfile.WriteFS(atomicfile.OS{}, file, []byte(last.UTC().Format(time.RFC3339Nano)+"\n"), atomicfile.Options{})
	}
	return notices
}

// plural counts things in words.
func plural(n int64, noun string) string { return safetext.Count(n, noun) }

// when is a moment for people.
func when(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"memdesk/audit"
	"memdesk/model"
)

// Anchoring says how much of the audit log is anchored, for Health.
type Anchoring struct {
	Newest  uint64 // record of the log
	Anchors []audit.Anchored
	Taken   int       // anchors that have a checkpoint
	Oldest  time.Time // time of the oldest of the anchors' newest checkpoints; zero: no anchor has one
	Alarm   string    // a sign that the log was changed; empty: none
	Error   string    // why it is unknown
}

// Anchoring asks the log and the local state of its anchors, no anchor over a network. There is no log where
// Newest is 0, and Error and Alarm are empty.
func (s *Session) Anchoring(ctx context.Context) Anchoring {
	var out Anchoring
	if s.Log == nil {
		return out
	}
	err := s.Log.Writable()
	if errors.Is(err, audit.ErrTampered) {
		out.Alarm = strings.TrimPrefix(err.Error(), audit.ErrNotWritable.Error()+": ") + "; no change is possible until `memdesk audit acknowledge --reason TEXT`"
	}
	if out.Anchors, out.Newest, err = s.Log.Anchors(ctx); err != nil {
		out.Error = err.Error()
		return out
	}
	for _, one := range out.Anchors {
		if one.Alarm != "" && out.Alarm == "" {
			out.Alarm = one.Name() + ": " + one.Alarm
		}
		if one.Seq > 0 {
			out.Taken++
			if out.Oldest.IsZero() || one.At.Before(out.Oldest) {
				out.Oldest = one.At
			}
		}
	}
	return out
}

// Words is all of it in one line, empty when there is no log.
func (a Anchoring) Words(now time.Time) string {
	switch {
	case a.Alarm != "":
		return "ALARM: " + a.Alarm
	case a.Error != "":
		return a.Error
	case a.Newest == 0:
		return ""
	case len(a.Anchors) == 0:
		return "not anchored: whoever owns it can rewrite it; see [[audit.anchor]]"
	}
	words := "not anchored yet: whoever owns it can rewrite it"
	if a.Taken > 0 {
		words = fmt.Sprintf("anchored %s ago by %d of %d", age(now.Sub(a.Oldest)), a.Taken, len(a.Anchors))
	}
	var behind uint64
	for _, one := range a.Anchors {
		if one.Seq > 0 && a.Newest > one.Seq {
			behind = max(behind, a.Newest-one.Seq)
		}
		if one.Error != "" {
			words += "; " + one.Name() + ": " + one.Error
		}
	}
	if behind > 0 {
		words += "; " + plural(int64(behind), "newer record") + " not anchored yet"
	}
	return words
}

// State is the matching health state: a log that nothing outside vouches for needs a look.
func (a Anchoring) State() model.HealthState {
	switch {
	case a.Alarm != "":
		return model.HealthDown
	case a.Error != "":
		return model.HealthUnknown
	case len(a.Anchors) == 0 && a.Newest > 0:
		return model.HealthDegraded
	}
	for _, one := range a.Anchors {
		if one.Error != "" || one.Seq == 0 {
			return model.HealthDegraded
		}
	}
	return model.HealthOK
}

// age is a time span in the largest unit that fits.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "less than 1 min"
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// AskWitness asks the witness at an address, which an anchor of the configuration must name: without its key
// no answer counts.
func (s *Session) AskWitness(ctx context.Context, url string) (audit.Proven, error) {
	for _, c := range s.Config.Audit.Anchors {
		if c.Kind == "witness" && strings.TrimSuffix(c.URL, "/") == strings.TrimSuffix(url, "/") {
			return s.Log.Ask(ctx, audit.Anchor(c))
		}
	}
	return audit.Proven{}, model.Errorf(model.InvalidInput, "", "--witness %s: no [[audit.anchor]] of kind witness has this url, and without its key nothing that it says counts", url)
}

// orphansWait bounds the wait at a server's end for reading a long log.
const orphansWait = 2 * time.Second

// CloseOrphans closes the intents of killed processes while this one serves, and reports their number. end
// waits for it.
func (s *Session) CloseOrphans(ctx context.Context, told func(closed int, err error)) (end func()) {
	if s.Log == nil || s.Log.Writable() != nil {
		return func() {}
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n, err := s.Log.CloseOrphans(ctx)
		if ctx.Err() != nil {
			err = nil // the server ended first
		}
		told(n, err)
	}()
	return func() {
		late := time.AfterFunc(orphansWait, stop)
		<-ended
		late.Stop()
		stop()
	}
}

// Acknowledge records in a new segment that an operator knows the break of the log.
func (s *Session) Acknowledge(ctx context.Context, reason string) error {
	if err := s.May(Acknowledge); err != nil { // the broken log cannot be written
		return err
	}
	return s.Log.Acknowledge(ctx, reason)
}

// RotateLogKey replaces the key that signs the log's checkpoints.
func (s *Session) RotateLogKey(ctx context.Context) error {
	if err := s.Allow(ctx, RotateKey, "", ""); err != nil {
		return err
	}
	return s.Log.RotateKey(ctx)
}

// RetireLog removes the log's segments whose records are all older than a moment, and returns the number of
// records and the moment, which is earlier than asked for where a request filed before it is still open.
// Segments that are not anchored stay.
func (s *Session) RetireLog(ctx context.Context, before time.Time, reason string) (int64, time.Time, error) {
	if err := s.Allow(audit.WithReason(ctx, reason), RetireLog, "", ""); err != nil {
		return 0, before, err
	}
	before, err := s.desk.Retiring(ctx, before)
	if err != nil {
		return 0, before, err
	}
	n, err := s.Log.Retire(ctx, before)
	return n, before, err
}

// Refused records a door's call that the caller's token does not allow. An empty store is the only one; among several
// nobody has read yet which the call names.
func (s *Session) Refused(ctx context.Context, store, verb, scope string) {
	if s.Log == nil {
		return
	}
	if all := s.Fleet.Members(); store == "" && len(all) == 1 {
		store = all[0].Name
	}
	err := s.Log.Act(ctx, audit.Entry{Action: verb, Store: store, Reason: "the token has not the scope " + scope},
		func(context.Context) (map[string]int64, error) {
			return nil, model.Refuse(verb, "the scope "+scope+" is needed")
		})
	if err != nil && !model.IsRefusal(err) {
		s.note("a refusal could not be recorded: " + err.Error())
	}
}

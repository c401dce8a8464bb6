package operator

import (
	"context"

	"memdesk/internal/statedir"
	"memdesk/origin"
	"memdesk/quarantine/signal"
)

// Replayed is the outcome of one text of a set.
type Replayed struct {
	signal.Sample
	Score    signal.Score
	Flagged  bool   // an uncalibrated store would hold it for its words
	Outcome  string // origin.Stored, origin.Refused, or the reason of the hold
	Recalled bool
}

// ReplayCount counts the outcomes of some texts.
type ReplayCount struct {
	Entries  int64 `json:"entries"`
	LetIn    int64 `json:"let_in"`
	Held     int64 `json:"held"`
	Refused  int64 `json:"refused"`
	Flagged  int64 `json:"flagged"`
	Recalled int64 `json:"recalled"`
}

// Add counts one more text.
func (c *ReplayCount) Add(r Replayed) {
	c.Entries++
	switch r.Outcome {
	case origin.Stored:
		c.LetIn++
	case origin.Refused:
		c.Refused++
	default:
		c.Held++
	}
	if r.Flagged {
		c.Flagged++
	}
	if r.Recalled {
		c.Recalled++
	}
}

// Replay writes each text of a set as an untrusted agent would, into an empty store in memory under the
// configured policy, and reports the outcomes. No store of the fleet is touched.
func (s *Session) Replay(ctx context.Context, set []signal.Sample, told func(Replayed)) error {
	if s.Judge == nil {
		return statedir.ErrNoHome
	}
	gate, err := origin.Scratch(ctx, s.Kinds, origin.Rules{ReviewAll: s.Config.Door.Untrusted == "review"})
	if err != nil {
		return err
	}
	defer func() { _ = gate.Close() }()
	for _, e := range set {
		r := Replayed{Sample: e}
		if r.Score, err = s.Judge.Score(ctx, e.Content); err != nil {
			return err
		}
		r.Flagged = r.Score.Sum >= signal.Default && !s.Judge.IsCleared(e.Content)
		if r.Outcome, err = gate.Write(ctx, e.Content); err != nil {
			return err
		}
		if r.Outcome == origin.Stored {
			if r.Recalled, err = gate.Recalled(ctx, e.Content); err != nil {
				return err
			}
		}
		told(r)
	}
	return nil
}

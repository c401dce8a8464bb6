package health

import (
	"slices"
	"strings"
	"time"

	"memdesk/backends"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// keptChecks bounds the history of one store: five minutes.
const keptChecks = 60

// checks are the health checks of one store, oldest first.
type checks struct {
	took   []time.Duration // -1: it failed
	lastOK time.Time
	// down is when the store was first seen to fail, zero while it answers; wrong is the last error, at failed.
	down, failed time.Time
	wrong        string
}

func (c *checks) add(r backends.HealthReport) {
	took := r.Latency
	if r.Status.OK {
		c.lastOK, c.down = r.Status.CheckedAt, time.Time{}
	} else {
		took = -1
		c.failed, c.wrong = r.Status.CheckedAt, r.Status.Message
		if c.down.IsZero() {
			c.down = c.failed
		}
	}
	c.took = append(c.took, took)
	c.took = c.took[max(len(c.took)-keptChecks, 0):]
}

// words describe the checks; a line of signs before them shows their course, a failure as x.
func (c *checks) words(esc safetext.Escaper) safetext.Text {
	return esc.Sprintf("%s %s", spark(esc, c.took), c.counted(esc))
}

// counted is words without signs, for the ear.
func (c *checks) counted(esc safetext.Escaper) safetext.Text {
	var good []time.Duration
	for _, t := range c.took {
		if t >= 0 {
			good = append(good, t)
		}
	}
	if len(good) == 0 {
		return esc.Sprintf("%s, none answered", prose.Plural(len(c.took), "check"))
	}
	slices.Sort(good)
	if len(c.took) == 1 {
		return esc.Sprintf("1 check: %s", prose.Latency(good[0]))
	}
	all := esc.Sprintf("%s: median %s, slowest %s", prose.Plural(len(c.took), "check"), prose.Latency(good[len(good)/2]), prose.Latency(good[len(good)-1]))
	if failed := len(c.took) - len(good); failed > 0 {
		return esc.Sprintf("%s, %s without an answer", all, prose.Group(failed))
	}
	return all
}

// spark draws the newest checks, one sign each, relative to the slowest.
func spark(esc safetext.Escaper, took []time.Duration) safetext.Text {
	signs := []rune("▁▂▃▄▅▆▇█")
	if esc.ASCII {
		signs = []rune("_.-=+*#@")
	}
	took = took[max(len(took)-24, 0):]
	slowest := time.Millisecond
	for _, t := range took {
		slowest = max(slowest, t)
	}
	var b strings.Builder
	for _, t := range took {
		if t < 0 {
			b.WriteByte('x')
			continue
		}
		b.WriteRune(signs[min(int(int64(len(signs))*int64(t)/int64(slowest+1)), len(signs)-1)])
	}
	return esc.Const(b.String())
}

// coreFacets are the abilities whose absence an operator must know.
var coreFacets = []string{"retain", "forget", "recall", "browse", "history", "quarantine", "cascade"}

// fillLines are the tiers over or near their caps, as far as counts tell: a cap is one item's.
func fillLines(esc safetext.Escaper, s model.Store, counts []model.TierCount) []text.Line {
	var out []text.Line
	var within, several int64
	for _, c := range counts {
		t, ok := s.Tier(c.Tier)
		if !ok || t.Cap == 0 || c.Items == 0 {
			continue
		}
		flag := t.CapFlag(c.Bytes)
		switch {
		case !operator.CapKnown(t, c):
			several++
			continue
		case flag == "":
			within++
			continue
		}
		l := text.Line{Name: esc.LineMax(c.Tier, 200), Kind: text.Warn,
			Value: esc.Sprintf("%d %%, %s of %s (%s)", 100*c.Bytes/t.Cap, prose.Size(c.Bytes), prose.Size(t.Cap), string(flag))}
		if c.Scope != "" { // after the numbers: a path is longer than the line
			l.Value = esc.Sprintf("%s: %s", l.Value, prose.NameFirst(esc, c.Scope))
		}
		out = append(out, l)
	}
	if within > 0 {
		out = append(out, text.Line{Value: esc.Sprintf("%s within the cap.", prose.Plural(within, "tier")), Kind: text.Note})
	}
	if several > 0 {
		out = append(out, text.Advice(esc, "%s with a cap for each item: `2` Tiers lists them.", prose.Plural(several, "tier")))
	}
	if len(out) == 0 {
		return nil
	}
	return append([]text.Line{{Kind: text.Blank}, {Value: esc.Const("caps"), Kind: text.Title}}, out...)
}

// advice says what to do about a failing store.
func advice(kind model.Kind) string {
	switch kind {
	case model.PermissionDenied:
		return "Look at the rights of the operator on it, or at the key in the configuration."
	case model.NotFound, model.InvalidInput:
		return "Correct its location in the configuration, or mount what it lies on."
	case model.Locked:
		return "Another program holds it; it is tried again by itself."
	}
	return "It is tried again every 5 seconds; `r` tries now. Its lists show what was known before."
}

package desk

import (
	"context"
	"os"
	"regexp"
	"strings"
	"time"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/quarantine/review"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

var flagWords = map[model.Flag]string{
	model.FlagArchived:    "archived: the store's own search skips it",
	model.FlagBookkeeping: "bookkeeping: the agent's machinery, hidden by default",
	model.FlagNearCap:     "near its cap: 80 % or more is used",
	model.FlagOverCap:     "over its cap",
	model.FlagBinary:      "binary: not UTF-8, shown escaped",
	model.FlagReadOnly:    "read-only: only its own writer may change it",
	model.FlagEdge:        "a hyperedge: it connects other items",
	model.FlagBlocked:     "blocked: the scanner rejects it, agents do not get it",
	model.FlagPending:     "pending: waits for somebody's approval",
	model.FlagUnreadable:  "unreadable: the store cannot give its content",
}

// Where is a path for the screen: the home directory becomes ~.
func (d *Desk) Where(p string) safetext.Text {
	if home := d.Env["HOME"]; home != "" && strings.HasPrefix(p, home+string(os.PathSeparator)) {
		p = "~" + p[len(home):]
	}
	return d.Esc.Line(p)
}

// timeFirst is a bullet and a time at the start of a title: the age stands beside it already.
var timeFirst = regexp.MustCompile(`^[-*#>\s]*\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?[\s—–:|-]*`)

// FirstWords is a title without its leading time, if words follow.
func FirstWords(title string) string {
	if words := timeFirst.ReplaceAllString(title, ""); words != "" {
		return words
	}
	return title
}

// Field is a named fact; the name is the program's own.
func Field(name string, v safetext.Text) text.Line {
	return text.Line{Name: safetext.Const(name), Value: v}
}

func OrElse(t, other safetext.Text) safetext.Text {
	if t.IsEmpty() {
		return other
	}
	return t
}

// NoStores says what to do when there is nothing to look at.
const NoStores = "No store is open. Leave with q and give --open KIND=LOCATION, or try memdesk demo."

// ScopeOf addresses a list of items: a whole store, one of its scopes, or one tier.
type ScopeOf struct{ Store, Scope, Tier string }

// LiveWords say how the source of a quarantined text is now.
var LiveWords = map[review.Liveness]string{
	review.Poisoned: "still poisoned: it holds the blocked text",
	review.Clean:    "clean now: it passes the scanner",
	review.Gone:     "gone",
	review.Unknown:  "unknown: nobody could look at it",
	review.Waits:    "as it was: this text waits, and nothing was written",
}

// MaxField bounds a metadata value on the screen, in bytes; a cut is said.
const MaxField = 16 << 10

func Changed(d *Desk, t time.Time) string {
	if t.IsZero() {
		return "the store keeps no time"
	}
	return prose.Moment(t) + ", " + d.Time.Ago(t)
}

// Readable reads an item for an act.
func (d *Desk) Readable(ctx context.Context, ref model.Ref) (model.Store, model.Item, error) {
	s, err := d.Fleet.Store(ref.Store)
	if err != nil {
		return s, model.Item{}, err
	}
	if s.Browser == nil {
		return s, model.Item{}, model.Errorf(model.Unsupported, "read", "this store cannot show single items")
	}
	it, err := s.Browser.Read(ctx, ref.ID)
	return s, it, err
}

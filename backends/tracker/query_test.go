package tracker_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/backends/tracker"
	"memdesk/model"
)

func TestQuery(t *testing.T) {
	b := tracker.Bead{Type: "bug", Status: "open", Priority: 1, Labels: []string{"one", "wf:state:x"}, Owner: "ada"}
	b.Normalise()
	for _, tt := range []struct {
		query   string
		want    bool
		ignored string
	}{
		{"", true, ""}, {"type:bug", true, ""}, {"type:Bug", false, ""}, {"TYPE:bug", true, ""}, {"status:open state:x", true, ""}, {"priority:1", true, ""},
		{"label:one", true, ""}, {"label:wf:state:x", false, ""}, {"owner:ada:more", true, ""}, {"human:false", true, ""},
		{"bug", true, "bug"}, {"type:", true, "type:"}, {":bug", true, ":bug"}, {"colour:red", true, "colour:red"}, {"type:task colour:red", false, "colour:red"},
	} {
		q := tracker.ParseQuery(tt.query)
		if got := q.Matches(b); got != tt.want || strings.Join(q.Ignored, " ") != tt.ignored {
			t.Errorf("%q: %v ignoring %q, want %v ignoring %q", tt.query, got, q.Ignored, tt.want, tt.ignored)
		}
	}
}

func FuzzQuery(f *testing.F) {
	f.Add("type:bug  label:a:b x :y z:")
	f.Fuzz(func(t *testing.T, text string) {
		q := tracker.ParseQuery(text)
		for _, i := range q.Ignored {
			if !slices.Contains(strings.Fields(text), i) {
				t.Fatalf("%q is no term of %q", i, text)
			}
		}
		if len(q.Ignored) == len(strings.Fields(text)) != !q.Narrows() {
			t.Fatalf("%q: narrows %v with %d ignored", text, q.Narrows(), len(q.Ignored))
		}
		q.Matches(tracker.Bead{})
	})
}

func TestClassify(t *testing.T) {
	for text, want := range map[string][2]tracker.Code{
		"Issue NOT FOUND: x":        {tracker.NotFound, tracker.NotFound},
		"no such file, locked":      {tracker.NotFound, tracker.NotFound},
		"database is locked":        {tracker.Locked, tracker.Locked},
		"the item is blocked":       {tracker.Locked, tracker.Internal},
		"clock timed out":           {tracker.Locked, tracker.Timeout},
		"duplicate key":             {tracker.AlreadyExists, tracker.AlreadyExists},
		"EACCES":                    {tracker.PermissionDenied, tracker.PermissionDenied},
		"unable to open database":   {tracker.Unavailable, tracker.Unavailable},
		"something else altogether": {tracker.Internal, tracker.Internal},
	} {
		if got := [2]tracker.Code{tracker.Classify(text), tracker.ClassifyStrictly(text)}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for _, c := range tracker.Codes() {
		if tracker.CodeOf(c.Kind()) != c {
			t.Errorf("%s is no code of its kind", c)
		}
	}
}

func TestResolve(t *testing.T) {
	dir := func(markers ...string) string {
		d := t.TempDir()
		for _, m := range markers {
			if err := os.Mkdir(filepath.Join(d, m), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		return d
	}
	both, bd, none := dir(".knots", ".beads"), dir(".beads"), dir()
	for _, tt := range []struct {
		repo, forced, backend, manager string
		kind                           model.Kind
	}{
		{both, "", "knots", "knots", ""}, {both, "auto", "knots", "knots", ""}, {bd, "", "cli", "beads", ""}, {both, "beads", "beads", "beads", ""},
		{both, "cli", "cli", "beads", ""}, {bd, "stub", "stub", "beads", ""}, {bd, "knots", "", "", model.NotFound}, {none, "", "", "", model.NotFound},
		{"", "", "", "", model.InvalidInput}, {bd, "dolt", "", "", model.InvalidInput},
	} {
		r, err := tracker.Resolve(tt.repo, tt.forced)
		if model.KindOf(err) != tt.kind || r.Backend != tt.backend || r.Manager.Type != tt.manager {
			t.Errorf("forced %q: %+v, %v", tt.forced, r, err)
		}
	}
}

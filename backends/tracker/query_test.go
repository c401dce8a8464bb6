package tracker_test

import (
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
	for text, want := range map[string][2]model.Kind{
		"Issue NOT FOUND: x":        {model.NotFound, model.NotFound},
		"no such file, locked":      {model.NotFound, model.NotFound},
		"database is locked":        {model.Locked, model.Locked},
		"the item is blocked":       {model.Locked, model.Internal},
		"clock timed out":           {model.Locked, model.Timeout},
		"duplicate key":             {model.AlreadyExists, model.AlreadyExists},
		"EACCES":                    {model.PermissionDenied, model.PermissionDenied},
		"unable to open database":   {model.Unavailable, model.Unavailable},
		"something else altogether": {model.Internal, model.Internal},
	} {
		if got := [2]model.Kind{tracker.Classify(text), tracker.ClassifyStrictly(text)}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

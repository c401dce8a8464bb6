package operator

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"memdesk/jobs"
)

// TestALongTitleIsFoundAgain: a stopped copy is found by its title, which the journal clips. It must hold no path and no
// tier, which may be called like a person: no erasure edits it.
func TestALongTitleIsFoundAgain(t *testing.T) {
	r, err := jobs.Open(jobs.Options{Dir: t.TempDir(), Poll: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(t.Context())
	maps := strings.Repeat("task=longterm, ", 100)
	for _, tt := range [][2]string{{"a to b"}, {"a to b", "tier ana"}, {"a to b", maps}, {"a to b", maps + "replacing"}, {"/home/ana/export to b"}, {"/home/ana/export to b", "tier ana"}, {maps + " to b"}} {
		c, title := Copying{To: "b", Title: tt[0], Options: tt[1]}, tt[0]+", "+tt[1]
		if open, err := unfinished(t.Context(), r, string(Copy), c.jobTitle()); err != nil || len(open) != 0 {
			t.Errorf("%.30q is found before it was started: %v, %v", title, open, err)
		}
		spec := jobs.Spec{Kind: string(Copy), Title: c.jobTitle(), Run: func(context.Context, *jobs.Handle) error { return errors.New("stopped") }}
		id, err := r.Start(t.Context(), spec)
		if err == nil {
			_, err = follow(t.Context(), r, id, func(jobs.Status) {})
		}
		if err != nil {
			t.Fatal(err)
		}
		open, err := unfinished(t.Context(), r, string(Copy), c.jobTitle())
		if err != nil || len(open) != 1 || open[0].ID != id || strings.Contains(open[0].Title, "ana") {
			t.Errorf("%.30q: %+v, %v", title, open, err)
		}
	}
}

// TestAnEndThatRacesWithACancel: a job that has ended when its caller gives up must not be told as a failure.
func TestAnEndThatRacesWithACancel(t *testing.T) {
	r, err := jobs.Open(jobs.Options{Dir: t.TempDir(), Poll: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(t.Context())
	id, err := r.Start(t.Context(), jobs.Spec{Kind: string(Copy), Title: "a to b", Run: func(context.Context, *jobs.Handle) error { return nil }})
	if err == nil {
		_, err = follow(t.Context(), r, id, func(jobs.Status) {})
	}
	if err != nil {
		t.Fatal(err)
	}
	given, giveUp := context.WithCancel(t.Context())
	giveUp()
	for range 20 { // either may be seen first
		if last, err := follow(given, r, id, func(jobs.Status) {}); err != nil || last.State != jobs.Done {
			t.Fatalf("%+v, %v", last, err)
		}
	}
}

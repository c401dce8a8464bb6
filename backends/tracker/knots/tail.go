package knots

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"memdesk/backends/tracker"
	"memdesk/model"
)

// head is the known part of a knot that kno does not list: kno moves closed knots to its cold tier and those
// unchanged for a week to its warm one (beads-foolery-knots.md, kno).
type head struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	State   string `json:"state"`
	Type    string `json:"type"`
	Updated string `json:"updated_at"`
}

func (h head) entry() tracker.Entry {
	r := tracker.Record{Head: tracker.Head{ID: h.ID, Kind: tracker.Issue, Tier: h.State, Title: h.Title, Modified: tracker.Time(h.Updated), Archived: true}}
	r.Fields = []model.Field{{Name: tracker.FieldTitle, Value: h.Title}, {Name: tracker.FieldStatus, Value: h.State}, {Name: tracker.FieldType, Value: h.Type}}
	b := tracker.Bead{ID: h.ID, Title: h.Title, Type: h.Type, State: h.State, Status: phase(h.State), Priority: tracker.DefaultPriority, Updated: r.Modified}
	b.Normalise()
	return tracker.Entry{Record: r, Bead: b, IsWork: h.Type != "lease" && !slices.Contains(leases(), h.State)}
}

// heads are the knots outside the hot tier, the newest head of each: from kno's cold search, and from the
// index events.
func (b *Backend) heads(ctx context.Context, hot map[string]bool) (out []head, problems []string, err error) {
	var cold []head
	switch err := b.kno.Read(ctx, "read", &cold, "cold", "search", "--json", "--", ""); {
	case errors.Is(err, model.InvalidInput): // a kno that has no such command, and the hot tier all the same
		problems = append(problems, "kno's cold tier was not looked at: "+err.Error())
	case err != nil:
		return nil, nil, err
	}
	indexed, unread, err := b.tail.heads(ctx)
	if err != nil {
		return nil, nil, err
	}
	problems = append(problems, unread...)
	seen := map[string]int{}
	for _, h := range slices.Concat(cold, indexed) {
		at, again := seen[h.ID]
		switch {
		case h.ID == "" || hot[h.ID]:
		case again && h.Updated > out[at].Updated:
			out[at] = h
		case !again:
			seen[h.ID] = len(out)
			out = append(out, h)
		}
	}
	return out, problems, nil
}

// indexEvent is one file below .knots/index.
type indexEvent struct {
	Type string `json:"type"`
	Data struct {
		ID      string `json:"knot_id"`
		Title   string `json:"title"`
		State   string `json:"state"`
		Type    string `json:"type"`
		Updated string `json:"updated_at"`
	} `json:"data"`
}

// eventLimit is the largest accepted index event, in bytes.
const eventLimit = 1 << 20

// tail reads the index events, each file once: Knots never changes them.
type tail struct {
	dir string

	mu   sync.Mutex
	seen map[string]head // by path
}

// heads are the knots that index events name, in no order; a knot may have several. Files that are no events
// are skipped, as in kno; they may be half-written. Problems name those that cannot be read.
func (t *tail) heads(ctx context.Context) (out []head, problems []string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen == nil {
		t.seen = map[string]head{}
	}
	for _, root := range []string{"index", "_worktree/.knots/index"} {
		err := filepath.WalkDir(filepath.Join(t.dir, filepath.FromSlash(root)), func(path string, d fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return model.Errorf(model.PermissionDenied, "read", "an index event of .knots cannot be read")
			case !d.Type().IsRegular() || !strings.HasSuffix(path, ".json"):
				return nil
			}
			h, known := t.seen[path]
			if !known {
				var whole bool
				if h, whole, err = readHead(path); whole {
					t.seen[path] = h
				}
				if err != nil {
					problems = append(problems, "the index event "+d.Name()+" of .knots cannot be read: what it names may be missing here")
				}
			}
			if h.ID != "" {
				out = append(out, h)
			}
			return nil
		})
		if err != nil {
			return nil, nil, model.Wrap("read", err)
		}
	}
	return out, problems, nil
}

// readHead reads one event; whole is false for a file that is none, or none yet.
func readHead(path string) (h head, whole bool, err error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > eventLimit {
		err = fs.ErrInvalid
	}
	if err != nil {
		return head{}, false, err
	}
	data, err := os.ReadFile(path)
	var e indexEvent
	switch {
	case err != nil, json.Unmarshal(data, &e) != nil:
		return head{}, false, err
	case e.Type != "idx.knot_head":
		return head{}, true, nil
	}
	return head{e.Data.ID, e.Data.Title, e.Data.State, e.Data.Type, e.Data.Updated}, true, nil
}

package suppress_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"memdesk/gdpr/suppress"
	"memdesk/model"
)

// shelf is a store of one item; only Read is called.
type shelf struct {
	model.Browser
	body string
}

func (s shelf) Read(_ context.Context, id string) (model.Item, error) {
	if id != "n1" {
		return model.Item{}, model.E(model.NotFound, "read", nil)
	}
	return model.Item{Header: model.Header{ID: id, Revision: "r1"}, Body: s.body}, nil
}

// An append that completes half a name must be refused; similar ones must not.
func TestAnAppendThatCompletesAName(t *testing.T) {
	dir := t.TempDir()
	key, err := suppress.LoadKey(filepath.Join(dir, "key"))
	if err != nil {
		t.Fatal(err)
	}
	l := suppress.Open(filepath.Join(dir, "suppressed.json"), filepath.Join(dir, "key"))
	if err := l.Add(key, key.Pseudonym("subj-ana"), "er-1", time.Unix(0, 0), "subj-ana", "Ana Ribeiro"); err != nil {
		t.Fatal(err)
	}
	gate := suppress.Gate(l)
	for _, tt := range []struct {
		what, id, body, added string
		mode                  model.Mode
		refused               bool
	}{
		{"the last word of a name", "n1", "wrote to Ana", " Ribeiro today", model.Append, true},
		{"the middle of a word", "n1", "ask subj-", "ana for it", model.Append, true},
		{"another word", "n1", "wrote to Ana", " Rivers today", model.Append, false},
		{"a word that goes on", "n1", "wrote to Ana", " Ribeirox", model.Append, false},
		{"an item that is not there", "n2", "wrote to Ana", " Ribeiro", model.Append, false},
		{"in its place", "n1", "wrote to Ana", " Ribeiro", model.Replace, false},
	} {
		c := &model.Call{Op: model.OpRetain, Store: &model.Store{Name: "s", Browser: shelf{body: tt.body}}, Retain: &model.RetainRequest{ID: tt.id, Mode: tt.mode, Content: tt.added}}
		passed := false
		err := gate(t.Context(), c, func(context.Context) error { passed = true; return nil })
		if tt.refused != model.IsRefusal(err) || tt.refused == passed {
			t.Errorf("%s: %v, passed %v; want refused %v", tt.what, err, passed, tt.refused)
		}
	}
}

package suppress_test

import (
	"compress/gzip"
	"context"
	"io"
	"path/filepath"
	"strings"
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

// What goes with a text into the store must not bring a name back either: an archive as the content of an
// item, and the data beside an item that an import or an undo restores.
func TestANameBesideOrInsideTheText(t *testing.T) {
	dir := t.TempDir()
	key, err := suppress.LoadKey(filepath.Join(dir, "key"))
	if err != nil {
		t.Fatal(err)
	}
	l := suppress.Open(filepath.Join(dir, "suppressed.json"), filepath.Join(dir, "key"))
	if err := l.Add(key, key.Pseudonym("subj-ana"), "er-1", time.Unix(0, 0), "subj-ana", "Ana Ribeiro"); err != nil {
		t.Fatal(err)
	}
	packed := func(text string) string {
		var b strings.Builder
		w := gzip.NewWriter(&b)
		if _, err := io.WriteString(w, text); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	cell := func(k model.CellType, v string) *model.Beside {
		return &model.Beside{Rows: []model.BesideRow{{Table: "t", Cells: []model.BesideCell{{Column: "c", Type: k, Value: v}}}}}
	}
	for what, tt := range map[string]struct {
		req     model.RetainRequest
		refused bool
	}{
		"in a gzip file":        {model.RetainRequest{Content: packed("wrote to Ana Ribeiro"), Binary: true}, true},
		"not in a gzip file":    {model.RetainRequest{Content: packed("wrote to Ana Rivers"), Binary: true}, false},
		"in a line of an index": {model.RetainRequest{Content: "tea", Beside: &model.Beside{Lines: []model.BesideLine{{Text: "- [x.md](x.md): of Ana Ribeiro\n"}}}}, true},
		"in a cell beside it":   {model.RetainRequest{Content: "tea", Beside: cell(model.CellText, "Ana Ribeiro")}, true},
		"in no cell beside it":  {model.RetainRequest{Content: "tea", Beside: cell(model.CellText, "Ana Rivers")}, false},
		"in a relation":         {model.RetainRequest{Content: "tea", Beside: &model.Beside{Seats: []model.Seat{{Relation: "subj-ana", Role: "x"}}}}, true},
	} {
		tt.req.ID, tt.req.Mode = "n1", model.Replace
		passed := false
		err := suppress.Gate(l)(t.Context(), &model.Call{Op: model.OpRetain, Store: &model.Store{Name: "s"}, Retain: &tt.req}, func(context.Context) error { passed = true; return nil })
		if tt.refused != model.IsRefusal(err) || tt.refused == passed {
			t.Errorf("%s: %v, passed %v; want refused %v", what, err, passed, tt.refused)
		}
		if got := l.Judge(tt.req) != ""; got != tt.refused {
			t.Errorf("%s: judged %v; want %v", what, got, tt.refused)
		}
	}
}

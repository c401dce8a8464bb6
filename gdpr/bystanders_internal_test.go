package gdpr

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"testing"

	"memdesk/gdpr/subject"
	"memdesk/model"
)

// shelf is a store of a few items, as Browser and as Texts.
type shelf map[string]model.Item

func (s shelf) List(context.Context, model.PageRequest) (model.Page, error) {
	var p model.Page
	for _, id := range slices.Sorted(maps.Keys(s)) {
		p.Items = append(p.Items, s[id].Header)
	}
	return p, nil
}

func (s shelf) Read(_ context.Context, id string) (model.Item, error) { return s[id], nil }

func (s shelf) Tiers(context.Context) ([]model.TierCount, error) { return nil, nil }

func (s shelf) EachText(_ context.Context, yield func(model.Text, error) bool) ([]string, error) {
	for _, it := range s {
		yield(model.Text{ID: it.ID, Body: it.Body, Meta: it.Meta}, nil)
	}
	return nil, nil
}

// TestBystandersAlone: the search that the scrub makes for bystanders finds all that a whole search finds.
func TestBystandersAlone(t *testing.T) {
	m, err := subject.New("subj-ana", "Ana Ribeiro")
	if err != nil {
		t.Fatal(err)
	}
	s := shelf{}
	for id, body := range map[string]string{
		"hers": "subj-ana likes tea", "both": "subj-ana and subj-ana2", "longer": "xsubj-ana9 only", "joined": "to pre-subj-ana.org", "nobody": "tea",
		"subj-ana3": "an id", "percent": "a%73ubj-ana7", "binary": "\x00subj-ana4\x00", "meta": "", "family": "Mariana Ribeirovic",
	} {
		it := model.Item{Header: model.Header{ID: id}, Body: body}
		if id == "meta" {
			it.Meta = []model.Field{{Name: "parent", Value: "subj-ana5"}}
		}
		s[id] = it
	}
	for what, store := range map[string]model.Store{"texts": {Browser: s, Texts: s}, "pages": {Browser: s}} {
		whole, alone := newSearch(store, m), newSearch(store, m)
		alone.othersOnly = true
		for _, q := range []*search{whole, alone} {
			if _, err := q.run(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		if len(whole.found) == 0 || len(alone.found) > 0 || !reflect.DeepEqual(whole.bystanders, alone.bystanders) || reflect.DeepEqual(alone.bystanders, &subject.Bystanders{}) {
			t.Errorf("%s: %d found, %+v; alone %d, %+v", what, len(whole.found), whole.bystanders, len(alone.found), alone.bystanders)
		}
	}
}

// readings counts the reads of a shelf.
type readings struct {
	shelf
	n *int
}

func (r readings) Read(ctx context.Context, id string) (model.Item, error) {
	*r.n++
	return r.shelf.Read(ctx, id)
}

// TestALeanSearchReadsAnItemOnce: what the pass has read is judged there, and only its id is kept.
func TestALeanSearchReadsAnItemOnce(t *testing.T) {
	m, err := subject.New("subj-ana")
	if err != nil {
		t.Fatal(err)
	}
	n, s := 0, shelf{}
	for id, body := range map[string]string{"a": "subj-ana likes tea", "b": "tea", "c": "of subj-ana"} {
		s[id] = model.Item{Header: model.Header{ID: id}, Body: body}
	}
	q, err := findLean(t.Context(), model.Store{Browser: readings{s, &n}}, m)
	if err != nil || n != len(s) || len(q.found) != 2 || q.found[0].Item.Body+q.found[1].Item.Body != "" {
		t.Errorf("%d reads of %d items, %+v, %v", n, len(s), q.found, err)
	}
}

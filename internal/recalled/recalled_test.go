package recalled_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"memdesk/internal/recalled"
	"memdesk/model"
)

// verbs answers only recall, over texts by their source.
type verbs struct {
	model.Provider
	texts map[string][]string
	asked int
}

func (v *verbs) Recall(_ context.Context, req model.RecallRequest) (model.RecallResult, error) {
	v.asked++
	var out model.RecallResult
	for source, lines := range v.texts {
		for i, l := range lines {
			if strings.Contains(strings.ToLower(source+" "+l), strings.ToLower(req.Query)) {
				out.Hits = append(out.Hits, model.RecallSnippet{Source: source, Line: i + 1, Snippet: l})
			}
		}
	}
	return out, nil
}

func TestRead(t *testing.T) {
	v := &verbs{texts: map[string][]string{"pins/rye-on-fridays.md": {"bake rye", "on fridays"}, "b": {"rain"}}}
	s := model.Store{Name: "far", Provider: v}
	it, err := recalled.Read(t.Context(), s, "pins/rye-on-fridays.md")
	if err != nil || it.Body != "bake rye\non fridays" || !it.Has(model.FlagReadOnly) {
		t.Errorf("%+v %v; want both lines in their order", it, err)
	}
	if it, err = recalled.Read(t.Context(), s, "b", "rain"); err != nil || it.Body != "rain" {
		t.Errorf("%+v %v; want what the query found", it, err)
	}
	v.asked = 0
	if _, err := recalled.Read(t.Context(), s, "a-b-c-d-e-f-g-h-i-j"); !errors.Is(err, model.NotFound) || v.asked > 5 {
		t.Errorf("%v after %d searches; want %s after 5 at the most", err, v.asked, model.NotFound)
	}
	if _, err := recalled.Read(t.Context(), model.Store{Name: "far", Provider: v, ReadOnly: true}, "b"); !errors.Is(err, model.Unsupported) {
		t.Errorf("a store without forget: %v", err)
	}
}

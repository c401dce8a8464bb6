package undo_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/undo"
)

// fourVerbs answers recall and forget, and shows no item.
type fourVerbs struct {
	model.Provider
	texts map[string]string
	down  error // of recall
}

func (f *fourVerbs) Recall(_ context.Context, req model.RecallRequest) (model.RecallResult, error) {
	out := model.RecallResult{}
	if f.down != nil {
		return out, f.down
	}
	for source, text := range f.texts {
		if strings.Contains(source+" "+text, req.Query) {
			out.Hits = append(out.Hits, model.RecallSnippet{Source: source, Snippet: text})
		}
	}
	return out, nil
}

func (f *fourVerbs) Forget(_ context.Context, req model.ForgetRequest) (model.ForgetResult, error) {
	_, was := f.texts[req.ID]
	delete(f.texts, req.ID)
	if !was {
		return model.ForgetResult{}, nil
	}
	return model.ForgetResult{Removed: 1}, nil
}

// For a store that shows items only by recall, the preview must say that nothing can be restored, and
// the recalled text must be kept for reading.
func TestForgettingWhatRecallReturned(t *testing.T) {
	f := &fourVerbs{texts: map[string]string{"pins/rye.md": "bake rye on fridays", "hidden": "zzz"}}
	s := model.Store{Name: "far", Kind: "remote", Provider: f}
	k := undo.New(filepath.Join(t.TempDir(), "undo"), 0, clock.System{}, nil)
	said, err := k.Preview(t.Context(), s, "pins/rye.md")
	if err != nil || len(said) != 1 || !strings.Contains(said[0], "undo cannot put it back") {
		t.Errorf("%q %v", said, err)
	}
	f.down = model.Errorf(model.Unavailable, "recall", "it restarts")
	if _, _, err := k.Forget(t.Context(), s, model.ForgetRequest{ID: "pins/rye.md"}); !errors.Is(err, model.Unavailable) || len(f.texts) != 2 {
		t.Errorf("without a recall: %v, left %q", err, f.texts)
	}
	f.down = nil
	res, e, err := k.Forget(t.Context(), s, model.ForgetRequest{ID: "pins/rye.md"})
	if err != nil || res.Removed != 1 || e.ID == "" || e.Obstacle == "" {
		t.Fatalf("%+v %+v %v", res, e, err)
	}
	if _, body, err := k.Read(e.ID); err != nil || body != "bake rye on fridays" {
		t.Errorf("kept %q %v", body, err)
	}
	f.texts = map[string]string{}
	if said, err = k.Preview(t.Context(), s, "nothing"); err != nil || len(said) != 1 || !strings.Contains(said[0], "cannot be undone") {
		t.Errorf("%q %v", said, err)
	}
}

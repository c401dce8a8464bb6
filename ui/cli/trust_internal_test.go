package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"memdesk/internal/lines"
	"memdesk/model"
)

// pages is a store whose first page could not be read whole.
type pages struct{ model.Browser }

func (pages) List(_ context.Context, req model.PageRequest) (model.Page, error) {
	if req.Cursor != "" {
		return model.Page{Items: []model.Header{{ID: "b"}}}, nil
	}
	return model.Page{Items: []model.Header{{ID: "a"}}, Next: "2", Problems: []string{"a place"}}, nil
}

// TestProblemsOfEveryPage: a list of several pages is partial when any of them is, and names each problem
// once.
func TestProblemsOfEveryPage(t *testing.T) {
	var out, talk bytes.Buffer
	a := &app{}
	a.out, a.errw = lines.New(&out, &talk)
	err := a.itemsOf(t.Context(), model.Store{Name: "s", Browser: pages{}}, itemsFlags{all: true}, a.table("REF", "TIER", "BYTES", "MODIFIED", "FLAGS", "TITLE"))
	if exitCode(err) != exitPartial || strings.Count(talk.String(), "not looked at: a place") != 1 {
		t.Errorf("exit %d, %q", exitCode(err), talk.String())
	}
}

// TestAWatchedErrorIsPrintedOnce: under --watch the error of a store must be printed once, until it
// changes, as an object too.
func TestAWatchedErrorIsPrintedOnce(t *testing.T) {
	for _, asObject := range []bool{false, true} {
		var talk bytes.Buffer
		a := &app{round: &watchRound{first: true, now: map[string]string{}}}
		a.out, a.errw = lines.New(io.Discard, &talk)
		a.flags.json = asObject
		for _, words := range []string{"down", "down", "down", "gone"} {
			a.failed(model.Ref{Store: "s"}, errors.New(words))
			a.round = &watchRound{now: map[string]string{}, last: a.round.now}
		}
		if strings.Count(talk.String(), "down") != 1 || strings.Count(talk.String(), "gone") != 1 {
			t.Errorf("json %v: %s", asObject, talk.String())
		}
	}
}

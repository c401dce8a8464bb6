package cli

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"memdesk/internal/lines"
	"memdesk/model"
)

// TestAWatchedErrorIsPrintedOnce: under --watch the error of a store must be printed once, until it
// changes, as an object too.
func TestAWatchedErrorIsPrintedOnce(t *testing.T) {
	for _, asObject := range []bool{false, true} {
		var talk bytes.Buffer
		a := &app{round: &watchRound{first: true, now: map[string]string{}}}
		a.out, a.errRaw = lines.New(io.Discard, &talk)
		a.errw, a.flags.json = a.errRaw, asObject
		for _, words := range []string{"down", "down", "down", "gone"} {
			a.failed(model.Ref{Store: "s"}, errors.New(words))
			a.round = &watchRound{now: map[string]string{}, last: a.round.now}
		}
		if strings.Count(talk.String(), "down") != 1 || strings.Count(talk.String(), "gone") != 1 {
			t.Errorf("json %v: %s", asObject, talk.String())
		}
	}
}

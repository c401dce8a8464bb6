package backendtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"memdesk/model"
)

var errorCases = []Case{
	{"R40", Contract, "an ended context stops every operation and leaves nothing behind", endedContext},
	{"R41", Contract, "errors carry a kind, and no path", errorKinds},
	{"R44", Contract, "parity: the same steps give the same answers on every store", parity},
}

func endedContext(t TB, e *Env) {
	s := e.open(t)
	ts := e.anyTier(t, s)
	id := e.put(t, s, ts, 0, word).ID
	late, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	for what, ctx := range map[string]context.Context{"cancelled": ended(t), "past its deadline": late} {
		unchanged(t, s, "a context "+what, func() {
			_, err := s.Provider.Retain(ctx, e.request(ts, 0, model.Append, "more"))
			wantKind(t, "retain, context "+what, err, model.Timeout)
			_, err = s.Provider.Retain(ctx, e.request(ts, 1, model.Replace, "new"))
			wantKind(t, "retain of a new item, context "+what, err, model.Timeout)
			_, err = s.Provider.Recall(ctx, e.query(word))
			wantKind(t, "recall, context "+what, err, model.Timeout)
			_, err = s.Provider.Forget(ctx, e.forget(id))
			wantKind(t, "forget, context "+what, err, model.Timeout)
			if s.Browser != nil {
				_, err = s.Browser.List(ctx, model.PageRequest{})
				wantKind(t, "list, context "+what, err, model.Timeout)
				_, err = s.Browser.Read(ctx, id)
				wantKind(t, "read, context "+what, err, model.Timeout)
				_, err = s.Browser.Tiers(ctx)
				wantKind(t, "tiers, context "+what, err, model.Timeout)
			}
		})
	}
}

func errorKinds(t TB, e *Env) {
	s := e.open(t)
	ts := e.anyTier(t, s)
	var errs []error
	keep := func(_ any, err error) { errs = append(errs, err) }
	keep(s.Provider.Retain(t.Context(), e.request(ts, 0, "", "x")))
	keep(s.Provider.Retain(t.Context(), e.request(ts, 0, model.Replace, "\xff")))
	keep(s.Provider.Recall(t.Context(), e.query(" ")))
	keep(s.Provider.Forget(t.Context(), e.forget("")))
	if s.Browser != nil {
		keep(s.Browser.List(t.Context(), model.PageRequest{Order: "no-such-order"}))
		keep(s.Browser.Read(t.Context(), "no-such-id"))
	}
	for _, err := range errs {
		wantKind(t, "a bad request", err, model.InvalidInput, model.NotFound)
		if err != nil && strings.HasPrefix(s.Location, "/") && strings.Contains(err.Error(), s.Location) {
			t.Errorf("an error holds the store's absolute path: %v", err)
		}
	}
}

// parity is the fixture that every provider must answer alike.
func parity(t TB, e *Env) {
	s := e.open(t)
	ts := e.anyTier(t, s)
	var got []string
	say := func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) }
	found := func(id string) bool { return slices.Contains(hitIDs(e.recall(t, s, e.query(word))), id) }

	say("healthy %v", Health(t, s).OK)
	first := retain(t, s, e.request(ts, 0, model.Replace, "the "+word+" sleeps"))
	say("retained %d bytes, found %v", first.Bytes, found(first.ID))
	second := retain(t, s, e.request(ts, 0, model.Append, " soundly"))
	say("appended: %d bytes, same id %v", second.Bytes, second.ID == first.ID)
	if s.Browser != nil {
		say("reads %q", read(t, s, first.ID).Body)
	} else {
		say("reads %q", "the marmoset sleeps soundly")
	}
	third := retain(t, s, e.request(ts, 0, model.Replace, "nothing of the kind"))
	say("replaced: same id %v, found %v", third.ID == first.ID, found(first.ID))
	_, err := s.Provider.Retain(t.Context(), e.request(ts, 0, "upsert", "x"))
	say("wrong mode: %s", model.KindOf(err))
	say("forget: %d, then %d", e.drop(t, s, first.ID), e.drop(t, s, first.ID))
	say("found %v", found(first.ID))
	_, err = s.Provider.Forget(t.Context(), model.ForgetRequest{})
	say("no selector: %s", model.KindOf(err))

	want := []string{
		"healthy true",
		"retained 19 bytes, found true",
		"appended: 27 bytes, same id true",
		`reads "the marmoset sleeps soundly"`,
		"replaced: same id true, found false",
		"wrong mode: invalid input",
		"forget: 1, then 0",
		"found false",
		"no selector: invalid input",
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("step %d: %s; every provider answers: %s", i+1, got[i], want[i])
		}
	}
}

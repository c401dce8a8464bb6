package backendtest

import (
	"context"
	"strings"
	"time"

	"memdesk/model"
)

var healthCases = []Case{
	{"R35", Contract, "health gives up by itself on a medium that does not answer", healthDeadline},
	{"R36", Contract, "OK has no message, a failure has one; state and findings agree with it", healthMessage},
	{"R37", Contract, "checked_at is stamped anew, in UTC", healthStamp},
	{"R38", Contract, "a broken store is a status, not a panic, and names no path", healthBroken},
	{"R39", Contract, "health changes nothing", healthMutatesNothing},
}

// patience is how long the suite waits for an answer that the contract wants within a second. It only
// keeps a hung store from hanging the tests.
const patience = 20 * time.Second

// late is the message that R35 fixes.
const late = "health check timeout"

func health(t TB, s model.Store, ctx context.Context) model.HealthStatus {
	t.Helper()
	answer := make(chan model.HealthStatus, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				t.Errorf("health panics: %v", v)
				answer <- model.HealthStatus{Message: "panic"}
			}
		}()
		answer <- s.Provider.Health(ctx)
	}()
	select {
	case st := <-answer:
		return st
	case <-time.After(patience):
		t.Fatalf("health did not answer within %v", patience)
	}
	return model.HealthStatus{}
}

// Health asks a store until its check has ended: on a busy machine a store may miss its deadline and
// say so, which is no fault of the store. A check that never ends fails the test.
func Health(t TB, s model.Store) model.HealthStatus {
	t.Helper()
	return ask(t, s, func(st model.HealthStatus) bool { return st.Message != late })
}

// Examined asks a store with a deep probe until the probe has ended too, so that the answer includes
// its findings.
func Examined(t TB, s model.Store) model.HealthStatus {
	t.Helper()
	return ask(t, s, func(st model.HealthStatus) bool { return st.Message != late && !st.DeepCheckedAt.IsZero() })
}

func ask(t TB, s model.Store, done func(model.HealthStatus) bool) model.HealthStatus {
	t.Helper()
	for began := time.Now(); ; {
		st := health(t, s, t.Context())
		if done(st) {
			return st
		}
		if time.Since(began) > patience {
			t.Fatalf("health has not ended after %v: %q", patience, st.Message)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func healthDeadline(t TB, e *Env) {
	if e.Slow == nil {
		t.Skip("the test cannot make the medium hang")
	}
	s := e.Slow(e.real)
	e.closes(s)
	for range 3 {
		if st := health(t, s, t.Context()); st.OK || st.Message != late {
			t.Errorf("on a medium that hangs health says OK=%v %q, want %q", st.OK, st.Message, late)
		}
	}
}

func checkStatus(t TB, st model.HealthStatus) {
	t.Helper()
	if st.OK != (st.Message == "") {
		t.Errorf("OK=%v with message %q", st.OK, st.Message)
	}
	if whole := st.Whole(); whole.State != st.State && st.State != "" {
		t.Errorf("OK=%v with state %q", st.OK, st.State)
	}
	for _, f := range st.Findings {
		if f.Kind == "" || f.Message == "" || f.CheckedAt.IsZero() {
			t.Errorf("the finding %+v lacks its kind, its words or its time", f)
		}
	}
}

func healthMessage(t TB, e *Env) {
	s := e.open(t)
	st := Health(t, s)
	checkStatus(t, st)
	if !st.OK {
		t.Errorf("a fresh store is not healthy: %s", st.Message)
	}
	e.put(t, s, e.anyTier(t, s), 0, "text")
	if st := Health(t, s); !st.OK {
		t.Errorf("a store in use is not healthy: %s", st.Message)
	}
	checkStatus(t, health(t, s, ended(t))) // a failure, unless the store is quicker
	if e.Broken != nil {
		b := e.Broken(e.real)
		e.closes(b)
		checkStatus(t, health(t, b, t.Context()))
	}
}

func healthStamp(t TB, e *Env) {
	s := e.open(t)
	for range 3 {
		before := e.now()
		st := health(t, s, t.Context())
		after := e.now()
		switch {
		case st.CheckedAt.IsZero():
			t.Errorf("checked_at is missing")
		case st.CheckedAt.Location() != time.UTC:
			t.Errorf("checked_at is in %v, want UTC", st.CheckedAt.Location())
		case st.CheckedAt.Before(before) || st.CheckedAt.After(after):
			t.Errorf("checked_at is %v, but the check ran from %v to %v", st.CheckedAt, before, after)
		}
	}
}

func healthBroken(t TB, e *Env) {
	if e.Broken == nil {
		t.Skip(e.BrokenReason)
	}
	s := e.Broken(e.real)
	e.closes(s)
	st := health(t, s, t.Context())
	checkStatus(t, st)
	if st.OK {
		t.Errorf("a broken store is healthy")
	}
	if strings.HasPrefix(s.Location, "/") && strings.Contains(st.Message, s.Location) {
		t.Errorf("the message holds the store's absolute path: %q", st.Message)
	}
	if s.Name != "" && strings.Contains(st.Message, s.Name+":") {
		t.Errorf("the message names the provider: %q", st.Message)
	}
}

func healthMutatesNothing(t TB, e *Env) {
	s := e.open(t)
	e.put(t, s, e.anyTier(t, s), 0, "text")
	dir := ""
	if e.Files != nil {
		dir = e.Files(e.real)
	}
	unchanged(t, s, "health", func() {
		before := ""
		if dir != "" {
			before = tree(t, dir, true)
		}
		for range 3 {
			health(t, s, t.Context())
		}
		if dir == "" {
			return
		}
		if after := tree(t, dir, true); after != before {
			t.Errorf("health changed files.\nbefore:\n%s\nafter:\n%s", before, after)
		}
	})
}

package records

import (
	"context"
	"errors"
	"testing"

	"memdesk/model"
)

// TestIDs: a typed id gives its key back, whatever the key contains.
func TestIDs(t *testing.T) {
	for key, typed := range map[string]string{
		"plain": "plain", "chat/1 50%": "chat%2F1 50%25", "a\nb": "a%0Ab", "größe": "größe", "/": "%2F", "bad\xff": "bad%FF",
		"a\ufdd0b": "a%EF%B7%90%62", "a\ufdd0/b": "a%EF%B7%90%EF%B7%90%2Fb", "\ufdd0": "%EF%B7%90%EF%B7%90", "\ufdd0\ufdd0": "%EF%B7%90%EF%B7%90%EF%B7%90%EF%B7%90",
	} {
		id := Escape(key)
		if got := model.EncodeID(id); got != typed {
			t.Errorf("%q is typed %q, want %q", key, got, typed)
		}
		raw, err := model.DecodeID(typed)
		if err != nil {
			t.Fatal(err)
		}
		if back, ok := Unescape(raw); !ok || back != key {
			t.Errorf("%q comes back as %q, %v", key, back, ok)
		}
	}
}

// TestIDsNobodyMade: an id that no key has leads to no row.
func TestIDsNobodyMade(t *testing.T) {
	for _, typed := range []string{"foo%62ar", "a/b", "a%EF%B7%90"} {
		raw, err := model.DecodeID(typed)
		if err != nil {
			t.Fatal(err)
		}
		if key, ok := Unescape(raw); ok {
			t.Errorf("%s is taken for the key %q", typed, key)
		}
	}
}

func TestOnlyRemoves(t *testing.T) {
	for _, c := range []struct {
		old, text string
		want      bool
	}{
		{"Ada called", "[erased] called", true},
		{"one ada two", "one [erased] two", true},
		{"one ada two", "one [erased] three", false},
		{"one ada two", "one two", false},
		{"ada", "[erased]", true},
		{"a b a", "[erased] b [erased]", true},
		{"one", "one more", false},
		{"", "[erased]", false},
	} {
		if got := onlyRemoves(c.old, c.text); got != c.want {
			t.Errorf("%q to %q: %v, want %v", c.old, c.text, got, c.want)
		}
	}
}

// broken is a database whose every read fails.
type broken struct{ DB }

func (broken) View(_ context.Context, _ string, fn func(Tx) error) error { return fn(brokenTx{}) }

type brokenTx struct{ Tx }

func (brokenTx) Each(string, []any, func(func(...any) error) error) error {
	return model.Errorf(model.Unavailable, "read", "the disk did not read")
}

// TestFallsUnread: what falls is unknown where a row cannot be read.
func TestFallsUnread(t *testing.T) {
	a := &store{Config: Config{DB: broken{}, Tables: []Table{{Key: "k", From: "x", Falls: func(Tx, Row) ([]string, error) { return nil, nil }}}}}
	if out, err := a.falls(t.Context(), []string{"x"}); !errors.Is(err, model.Unavailable) {
		t.Errorf("%v, %v", out, err)
	}
}

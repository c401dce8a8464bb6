//go:build linux

package soak

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/model"
)

// gone is the body of an absent item.
const gone = "\x00"

// ledger says what the stores must contain: for each reference the possible bodies. There are several
// only where the outcome of a change is unknown.
type ledger map[string][]string

// expect: ref holds exactly this body.
func (l ledger) expect(ref, body string) { l[ref] = []string{trimmed(body)} }

// doubt: ref holds its old body, or this one.
func (l ledger) doubt(ref, body string) {
	if _, known := l[ref]; !known {
		l[ref] = []string{gone}
	}
	l[ref] = append(l[ref], trimmed(body))
}

// body is the content of ref; false where that is uncertain or ref is absent.
func (l ledger) body(ref string) (string, bool) {
	b := l[ref]
	return strings.Join(b, ""), len(b) == 1 && b[0] != gone
}

// naming lists the references whose possible bodies contain text.
func (l ledger) naming(text string) (refs []string) {
	for ref, bodies := range l {
		if slices.ContainsFunc(bodies, func(b string) bool { return strings.Contains(b, text) }) {
			refs = append(refs, ref)
		}
	}
	slices.Sort(refs)
	return refs
}

// of lists the references under a prefix that certainly have a body, in order.
func (l ledger) of(prefix string) (refs []string) {
	for _, ref := range slices.Sorted(maps.Keys(l)) {
		if _, sure := l.body(ref); sure && strings.HasPrefix(ref, prefix) {
			refs = append(refs, ref)
		}
	}
	return refs
}

// check reads every item and settles the doubtful ones.
func (l ledger) check(t *testing.T, fleet *backends.Fleet) {
	t.Helper()
	wrong := 0
	for _, ref := range slices.Sorted(maps.Keys(l)) {
		now := read(t, fleet, ref)
		if !slices.Contains(l[ref], now) {
			if wrong++; wrong <= 10 {
				t.Errorf("%s holds %s, and should hold %s", ref, shown(now), shown(l[ref]...))
			}
		}
		l[ref] = []string{now}
	}
	if wrong > 10 {
		t.Errorf("%d items in all are not as they should be", wrong)
	}
}

// listed checks that the lists of all stores contain this test's existing items and none of its absent ones.
func (l ledger) listed(t *testing.T, refs map[string]bool) {
	t.Helper()
	for ref := range l {
		if body, sure := l.body(ref); sure != refs[ref] {
			t.Errorf("%s: the list has it is %v, and it holds %s", ref, refs[ref], shown(body))
		}
	}
}

func read(t *testing.T, fleet *backends.Fleet, ref string) string {
	t.Helper()
	name, id, _ := strings.Cut(ref, ":")
	s, err := fleet.Store(name)
	if err != nil {
		t.Fatalf("%s: %v", ref, err)
	}
	it, err := s.Browser.Read(context.WithoutCancel(t.Context()), id)
	if model.KindOf(err) == model.NotFound {
		return gone
	}
	if err != nil {
		t.Errorf("%s: %v", ref, err)
	}
	return trimmed(it.Body)
}

// trimmed is a body without the trailing line ends, which stores may drop.
func trimmed(body string) string { return strings.TrimRight(body, "\n") }

func shown(bodies ...string) string {
	var out []string
	for _, b := range bodies {
		switch {
		case b == gone:
			b = "nothing"
		case len(b) > 120:
			b = b[:60] + " … " + b[len(b)-60:]
		}
		out = append(out, "‘"+b+"’")
	}
	return strings.Join(out, " or ")
}

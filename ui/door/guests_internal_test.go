package door

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/operator"
)

// TestAdmittingIsTriedAgain: a caller whose session cannot be opened at one moment is let in later, without a change of
// the file, and the others come in all the time. Each reason is told once.
func TestAdmittingIsTriedAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	write := func(names ...string) {
		text := ""
		for _, n := range names {
			text += n + " " + strings.Repeat(n[:1], 40) + "\n"
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	locked := false
	open := func(context.Context, string) (*operator.Session, error) {
		if locked {
			return nil, errors.New("the log is locked")
		}
		return &operator.Session{}, nil
	}
	var said []string
	write("ada")
	g, err := Invite(t.Context(), file, open, func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) })
	if err != nil {
		t.Fatal(err)
	}
	write("ada", "ben")
	locked = true
	for range 2 {
		g.look(t.Context(), false)
		if !admits(g, "a") || admits(g, "b") {
			t.Error("ada is not let in, or ben is")
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if g.look(t.Context(), false); admits(g, "a") {
		t.Error("ada is let in without a file of tokens")
	}
	write("ada", "ben")
	locked = false
	g.look(t.Context(), false)
	g.look(t.Context(), false)
	if len(said) == 3 {
		said[1], _, _ = strings.Cut(said[1], ": the tokens cannot be read: ") // and why
	}
	if want := []string{"not all are let in: ben: the log is locked", "nobody is let in: " + file, "read the tokens again: 2 tokens"}; !slices.Equal(said, want) || g.Session("ben") == nil {
		t.Errorf("said %q; want %q", said, want)
	}
}

// admits reports whether a token of one letter is valid.
func admits(g *Guests, letter string) bool {
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Authorization", "Bearer "+strings.Repeat(letter, 40))
	return g.Door.Admit(r) != nil
}

// TestATokenTakenOutIsRefusedAtOnce: also while the stores of a new caller open.
func TestATokenTakenOutIsRefusedAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var g *Guests
	admitted := func(letter string) bool { return admits(g, letter) }
	open := func(_ context.Context, name string) (*operator.Session, error) {
		if name == "cal" && (admitted("a") || !admitted("b")) {
			t.Error("while a session opens, the old token is valid, or the one that stays is not")
		}
		return &operator.Session{}, nil
	}
	write("ada " + strings.Repeat("a", 40) + "\nben " + strings.Repeat("b", 40) + "\n")
	var err error
	if g, err = Invite(t.Context(), file, open, func(string, ...any) {}); err != nil {
		t.Fatal(err)
	}
	write("ben " + strings.Repeat("b", 40) + "\ncal " + strings.Repeat("c", 40) + "\n")
	g.look(t.Context(), true)
	if admitted("a") || !admitted("b") || !admitted("c") {
		t.Error("the callers are not those of the file")
	}
}

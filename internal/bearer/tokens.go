package bearer

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"memdesk/internal/privatefile"
	"memdesk/model"
)

// The scopes of a caller (agents-door.md AD4).
const (
	ScopeRecall = "memory:recall"
	ScopeRetain = "memory:retain"
	ScopeForget = "memory:forget"
	ScopeHealth = "memory:health"
	// ScopeErase lets a caller of the served contract call a change an erasure, of which undo keeps no text.
	ScopeErase = "memory:erase"
)

// Scopes are those of the agents' door.
var Scopes = []string{ScopeRecall, ScopeRetain, ScopeForget, ScopeHealth}

// Verb is the act of a scope, as a log names it.
func Verb(scope string) string { return strings.TrimPrefix(scope, "memory:") }

// Unknown is the outcome of a call without a token that a door knows.
const Unknown = "unauthenticated"

// Outcome is the result of a call in one word: ok, refused, or the kind of the error.
func Outcome(err error) string {
	switch {
	case err == nil:
		return "ok"
	case model.IsRefusal(err):
		return "refused"
	}
	return strings.ToLower(model.KindOf(err).Code())
}

const (
	shortestToken = 20 // rules out tokens that can be guessed
	maxTokenFile  = 1 << 20
)

// ReadTokens reads lines "NAME TOKEN [SCOPE,…]"; # begins a comment. The file must
// be readable by its owner only. Without a third field a caller has Scopes.
func ReadTokens(file string) ([]Caller, error) {
	data, err := privatefile.Read(file, privatefile.Unreadable, maxTokenFile)
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return nil, fmt.Errorf("the tokens cannot be read: %w", err)
	}
	var out []Caller
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c, err := parseToken(line)
		if err == nil && slices.ContainsFunc(out, func(o Caller) bool { return o.Name == c.Name }) {
			err = errors.New("the name is taken by an earlier line")
		}
		if err == nil && slices.ContainsFunc(out, func(o Caller) bool { return o.Token.Reveal() == c.Token.Reveal() }) {
			err = errors.New("the token is taken by an earlier line")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of the tokens: %w", n, err)
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, errors.New("the file of tokens holds none")
	}
	return out, nil
}

func parseToken(line string) (Caller, error) {
	f := strings.Fields(line)
	if len(f) < 2 || len(f) > 3 {
		return Caller{}, errors.New("it is not NAME TOKEN [SCOPES]")
	}
	if len(f[1]) < shortestToken {
		return Caller{}, fmt.Errorf("a token needs %d characters or more", shortestToken)
	}
	c := Caller{Name: f[0], Token: model.NewSecret(f[1])}
	if len(f) == 3 {
		scopes, err := ParseScopes(f[2])
		if err != nil {
			return Caller{}, err
		}
		c.Scopes = scopes
	}
	return c, nil
}

// ParseScopes reads a list separated by commas.
func ParseScopes(list string) ([]string, error) {
	out, all := strings.Split(list, ","), append(slices.Clone(Scopes), ScopeErase)
	for _, s := range out {
		if !slices.Contains(all, s) {
			return nil, fmt.Errorf("the scopes are %s, divided by commas", strings.Join(all, ", "))
		}
	}
	return out, nil
}

// May reports whether the caller has a scope; without named ones it has those of the agents' door (AD3).
func (c Caller) May(scope string) bool {
	if c.Scopes == nil {
		return slices.Contains(Scopes, scope)
	}
	return slices.Contains(c.Scopes, scope)
}

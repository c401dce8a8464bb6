package review

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// plainKinds are the tiers and folders for preferences and facts: a command, an address or a key does not
// belong there.
var plainKinds = map[string]bool{"preference": true, "preferences": true, "fact": true, "facts": true, "profile": true, "user": true}

// tools matches anything that an agent can run, fetch, install or log in with. It is compiled for the first
// judged write: most commands judge none.
var tools = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?i)" +
		`\bhttps?://[^\s)]+` + // an address
		`|\bsudo\s+\w+|\b(?:curl|wget|chmod|powershell|iex|bash|sh|ssh|scp|rm)\s+(?:-\w+|\S*[/~$]\S*)` + // a command with its argument
		`|\b(?:pip3?|pipx|npm|npx|pnpm|yarn|go|cargo|gem|brew|apt|apt-get|docker)\s+(?:install|i|add|get|run|pull)\s+\S+` + // a package
		`|\b(?:api[_ -]?key|access[_ -]?key|token|password|passwd|secret)\s*[:=]\s*\S*\d\S{5,}`) // a credential
})

// toolIn returns the first command, address, package or credential of a write into a tier or folder for
// preferences or facts. start is -1 where there is none.
func toolIn(w Write) (start, end int) {
	if !keepsPlain(w) {
		return -1, -1
	}
	at := tools().FindStringIndex(w.Text)
	if at == nil {
		return -1, -1
	}
	return at[0], at[1]
}

// keepsPlain reports whether a write goes to a tier or folder for preferences and facts.
func keepsPlain(w Write) bool {
	names := strings.FieldsFunc(w.ID+"/"+w.Key, func(r rune) bool { return r == '/' || r == ':' })
	return slices.ContainsFunc(append(names, w.Tier), func(name string) bool { return plainKinds[strings.ToLower(name)] })
}

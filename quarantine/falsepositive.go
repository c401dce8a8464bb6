package quarantine

import (
	"strings"
	"sync"
)

// Triage labels a text in which every finding is a known false positive, with the
// reason of the first. False: clean text, at least one finding without a label, or
// more findings than ScanAll lists.
func Triage(text string) (reason string, ok bool) {
	found, unlisted := ScanLimit(text, MaxPerPattern)
	if len(found) == 0 || unlisted > 0 {
		return "", false
	}
	l := newLabeller(text)
	for i, f := range found {
		why, known := l.label(f)
		if !known {
			return "", false
		}
		if i == 0 {
			reason = why
		}
	}
	return reason, true
}

// labeller labels the findings of one text. What several labels ask of the whole text is found out once, when it is
// asked first.
type labeller struct {
	text         string
	hidesNothing func() bool
	hyphenated   func() bool
	codeBlocks   func() []span
}

func newLabeller(text string) *labeller {
	return &labeller{
		text:         text,
		hidesNothing: sync.OnceValue(func() bool { return hidesNothing(text) }),
		hyphenated:   sync.OnceValue(func() bool { return hyphenPlaces(text) >= 2 }),
		codeBlocks:   sync.OnceValue(func() []span { return codeBlocks(text) }),
	}
}

// label says whether a finding is a known false positive of the scanner (scanner.md False-positive notes),
// and which. The label is computed from the text, judges this one finding, and helps the operator who
// decides: it never releases anything. In doubt there is none. Findings hidden in base64 or spelled with
// look-alike letters are never labelled.
func (l *labeller) label(f Finding) (string, bool) {
	if f.Start < 0 || f.End > len(l.text) || f.Start >= f.End || strings.HasPrefix(f.Category, strictPrefix) {
		return "", false
	}
	switch f.Stage {
	case StageInvisible:
		return l.invisible(f)
	case StageRaw:
		return l.phrase(f)
	case StageFolded:
		if hasLookAlike(l.text[f.Start:f.End]) {
			return "", false
		}
		return l.phrase(f)
	}
	return "", false
}

// hasLookAlike reports letters chosen for their likeness to others.
func hasLookAlike(span string) bool {
	for _, r := range span {
		if lookAlike(r) != r || upperLookAlike(r) != r || 0xFF01 <= r && r <= 0xFF5E {
			return true
		}
	}
	return false
}

// phrase labels a hit of a rule on readable text.
func (l *labeller) phrase(f Finding) (string, bool) {
	switch f.Rule {
	case "you_are_now":
		if harmlessDan().MatchString(f.Match + firstLetters(l.text[f.End:])) {
			return "an ordinary word that begins with \"dan\"", true
		}
	case "html_ignore_comment":
		if outsideComments(f.Match) {
			return "\"ignore\" stands in the text between two HTML comments", true
		}
		if f.Match == "<!-- prettier-ignore -->" {
			return "a directive for a formatter", true
		}
	case "curl_with_token":
		if onlyAuthor(f.Match + firstName(l.text[f.End:])) {
			return "$AUTHOR is no secret", true
		}
		if tutorial().MatchString(line(l.text, f.Start)) && usualHeader().MatchString(f.Match) {
			return "documentation of a request with the usual Authorization header", true
		}
	case "cat_env_pipe_network":
		if harmlessRedirect().MatchString(f.Match) && !strings.Contains(line(l.text, f.Start), "|") {
			return "written to a file whose name ends in \"nc\"", true
		}
	case "crontab_register":
		if own := line(l.text, f.Start); tutorial().MatchString(own) && savedTable().MatchString(own) {
			return "documentation of restoring a saved cron table", true
		}
	}
	if l.quoted(f.Start, f.End) {
		return "documentation that quotes what it warns of", true
	}
	return "", false
}

var (
	// harmlessDan reads the word to its end.
	harmlessDan = expr(`(?i)^you\s+are\s+now\s+(?:danger\pL*|danc(?:e|ed|er|ers|es|ing)|dangl\pL+|dank|danish|dandelions?)$`)
	secretName  = expr(`\$(?:` + secretNames + `)[A-Z_]*`)
	authorName  = expr(`^\$AUTHORS?(?:_(?:NAME|EMAIL|DATE|ID))?$`)
	usualHeader = expr(`^curl[^\n$|;&` + "`" + `]*-H\s+"(?i:authorization:\s*(?:bearer|basic|token))\s+\$[A-Z_]+$`)
	// tutorial is how a line of documentation introduces its example.
	tutorial         = expr(`(?i)\b(?:docs?|documentation|tutorial|manual|usage|how\s+to|for\s+example|e\.g\.|example\s*:|to\s+(?:restore|back\s*up|list)\b)`)
	savedTable       = expr(`:\s*cat\s+[\w./~-]*cron[\w./~-]*\s+\|\s*crontab\s+-\s*$`)
	harmlessRedirect = expr(`(?i)^cat\s+\.env\s*>\s*[a-z_]*[a-z]nc$`)
	wholeIgnore      = expr(`(?i)\bignore\b`)
)

// onlyAuthor reports that every variable that matched as a secret is an author.
func onlyAuthor(command string) bool {
	names := secretName().FindAllString(command, -1)
	for _, n := range names {
		if !authorName().MatchString(n) {
			return false
		}
	}
	return len(names) > 0
}

// firstName is the rest of a variable's name that the rule did not match.
func firstName(text string) string {
	end := 0
	for end < len(text) && (text[end] == '_' || 'A' <= text[end] && text[end] <= 'Z' || 'a' <= text[end] && text[end] <= 'z' || '0' <= text[end] && text[end] <= '9') {
		end++
	}
	return text[:end]
}

// outsideComments reports a match whose word is in no comment.
func outsideComments(match string) bool {
	for {
		_, rest, open := strings.Cut(match, "<!--")
		if !open {
			return true
		}
		inside, after, closed := strings.Cut(rest, "-->")
		if !closed || wholeIgnore().MatchString(inside) {
			return false
		}
		match = after
	}
}

package crewship

import (
	"slices"
	"strings"
	"time"

	"memdesk/model"
)

// checkRemoval accepts an edit of a tier that only its own writer may fill if it only removes text, or puts
// the mark of an erasure there, and the rest still parses.
func checkRemoval(spec model.TierSpec, old, text string) error {
	if !onlyRemoves(old, text) {
		return model.Errorf(model.InvalidInput, "retain", "tier %s takes entries from its own writer only, and this edit adds or moves text; remove text only", spec.Name)
	}
	if spec.Name != tierLessons {
		return nil
	}
	before, err := parseLessons(old)
	if err != nil {
		return nil // a text that did not parse before need not parse now; the removal may be the repair
	}
	after, err := parseLessons(text)
	if err != nil {
		return model.Errorf(model.InvalidInput, "retain", "lessons.md would no longer parse: %w", err)
	}
	known := map[string]lesson{}
	for _, l := range before {
		known[l.id] = l
	}
	for _, l := range after {
		if was, ok := known[l.id]; !ok || was.kind != l.kind || was.source != l.source || was.captured != l.captured {
			return model.Errorf(model.InvalidInput, "retain", "lesson %q would change its id, kind, source or time; remove rule text, context or whole entries", l.id)
		}
	}
	return nil
}

// onlyRemoves reports whether text is old with bytes removed, apart from marks of an erasure.
func onlyRemoves(old, text string) bool {
	text = strings.ReplaceAll(strings.ReplaceAll(text, model.Erased, ""), model.ErasedWord, "")
	i := 0
	for j := 0; i < len(text) && j < len(old); j++ {
		if text[i] == old[j] {
			i++
		}
	}
	return i == len(text)
}

// lesson is one entry of lessons.md, as far as memdesk checks it.
type lesson struct {
	id, kind, source, captured string
	rule                       bool
}

var (
	lessonKinds   = []string{"positive", "negative", "neutral"}
	lessonSources = []string{"manual", "skill_promote", "negative_learning", "consolidator", "user_feedback", "mission_outcome"}
)

// parseLessons reads the subset of YAML that the lesson writer produces
// (crewship-disk.md, File formats): a root `entries:`, a list of mappings of
// scalars. Anything else is an error with its line.
func parseLessons(text string) ([]lesson, error) {
	p := lessonParser{lines: strings.Split(text, "\n")}
	p.skipComments()
	root := p.line()
	p.at++
	switch strings.TrimRight(root, " \r") {
	case "entries: []":
		p.skipComments()
		if p.at < len(p.lines) {
			return nil, p.fail("text after an empty list")
		}
		return nil, nil
	case "entries:":
	default:
		p.at--
		return nil, p.fail("`entries:` expected")
	}
	var out []lesson
	for p.skipComments(); p.at < len(p.lines); p.skipComments() {
		l, err := p.entry()
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(o lesson) bool { return o.id == l.id }) {
			return nil, p.fail("an id stands twice")
		}
		out = append(out, l)
	}
	if len(out) == 0 {
		return nil, p.fail("no entry; write `entries: []`, or forget the item")
	}
	return out, nil
}

type lessonParser struct {
	lines []string
	at    int
}

func (p *lessonParser) line() string {
	if p.at < len(p.lines) {
		return p.lines[p.at]
	}
	return ""
}

func (p *lessonParser) skipComments() {
	for p.at < len(p.lines) {
		if l := strings.TrimSpace(p.lines[p.at]); l != "" && l[0] != '#' {
			return
		}
		p.at++
	}
}

func (p *lessonParser) fail(what string) error {
	return model.Errorf(model.InvalidInput, "", "line %d: %s", min(p.at+1, len(p.lines)), what)
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// entry reads `- key: value` and the keys below at the same column.
func (p *lessonParser) entry() (lesson, error) {
	var l lesson
	dash := indentOf(p.line())
	if !strings.HasPrefix(p.line()[dash:], "- ") {
		return l, p.fail("`- id:` expected")
	}
	column := dash + 2
	seen := map[string]bool{}
	first := true
	for p.at < len(p.lines) {
		line := p.line()
		if first {
			line = strings.Repeat(" ", column) + line[column:]
			first = false
		} else if strings.TrimSpace(line) == "" || indentOf(line) < column {
			break
		}
		if indentOf(line) != column {
			return l, p.fail("unexpected indentation")
		}
		key, value, ok := strings.Cut(line[column:], ":")
		if !ok || seen[key] {
			return l, p.fail("`key: value` expected, each key once")
		}
		seen[key] = true
		value, err := p.scalar(strings.TrimSpace(value), column)
		if err != nil {
			return l, err
		}
		if !l.set(key, value) {
			return l, p.fail("an entry has no such key")
		}
	}
	return l, l.check(p)
}

func (l *lesson) set(key, value string) bool {
	switch key {
	case "id":
		l.id = value
	case "kind":
		l.kind = value
	case "captured_at":
		l.captured = value
	case "source":
		l.source = value
	case "rule":
		l.rule = value != ""
	case "context":
	default:
		return false
	}
	return true
}

func (l *lesson) check(p *lessonParser) error {
	_, err := time.Parse(time.RFC3339Nano, l.captured)
	switch {
	case l.id == "":
		return p.fail("the entry has no id")
	case !slices.Contains(lessonKinds, l.kind):
		return p.fail("the entry has no valid kind")
	case !slices.Contains(lessonSources, l.source):
		return p.fail("the entry has no valid source")
	case err != nil:
		return p.fail("the entry has no valid captured_at")
	case !l.rule:
		return p.fail("the entry has no rule")
	}
	return nil
}

// scalar checks one value and moves behind it. Block scalars and quoted ones may
// run over several lines, which are indented deeper than their key.
func (p *lessonParser) scalar(value string, column int) (string, error) {
	p.at++
	switch {
	case value == "":
		return "", nil
	case value[0] == '|' || value[0] == '>':
		if strings.Trim(value[1:], "+-0123456789") != "" {
			p.at--
			return "", p.fail("a block scalar has a bad header")
		}
		var body strings.Builder
		for p.at < len(p.lines) && (strings.TrimSpace(p.line()) == "" || indentOf(p.line()) > column) {
			body.WriteString(strings.TrimSpace(p.line()))
			p.at++
		}
		return body.String(), nil
	case value[0] == '\'' || value[0] == '"':
		for !closed(value) {
			if p.at >= len(p.lines) || strings.TrimSpace(p.line()) != "" && indentOf(p.line()) <= column {
				p.at--
				return "", p.fail("a quote is never closed")
			}
			value += " " + strings.TrimSpace(p.line())
			p.at++
		}
		return value[1 : len(value)-1], nil
	case strings.ContainsRune("[]{}&*!%@`,", rune(value[0])), strings.Contains(value, ": "), strings.Contains(value, " #"), strings.HasSuffix(value, ":"):
		p.at--
		return "", p.fail("this value must be quoted")
	}
	return value, nil
}

// closed reports whether a quoted scalar ends exactly where the text ends.
func closed(v string) bool {
	quote := v[0]
	for i := 1; i < len(v); i++ {
		switch {
		case quote == '"' && v[i] == '\\':
			i++
		case v[i] == quote && quote == '\'' && i+1 < len(v) && v[i+1] == quote:
			i++
		case v[i] == quote:
			return i == len(v)-1
		}
	}
	return false
}

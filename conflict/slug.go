package conflict

import (
	"regexp"
	"strings"

	"memdesk/internal/frontmatter"
)

// slugLine is the front matter line by which an agent identifies a note (agentm.md, Frontmatter).
var slugLine = regexp.MustCompile(`(?m)^slug:[ \t]*["']?([^"'\r\n]*?)["']?[ \t]*\r?$`)

// slugMost is the longest slug that the agent accepts, in bytes.
const slugMost = 72

// slugAt is the place of the slug in a text; nil when it has none.
func slugAt(text string) []int {
	_, body := frontmatter.Split(text)
	at := slugLine.FindStringSubmatchIndex(text[:len(text)-len(body)])
	if at == nil || at[2] == at[3] {
		return nil
	}
	return at[2:]
}

func slugOf(text string) string {
	if at := slugAt(text); at != nil {
		return text[at[0]:at[1]]
	}
	return ""
}

func withSlug(text, slug string) string {
	at := slugAt(text)
	return text[:at[0]] + slug + text[at[1]:]
}

// newSlug adds to a slug the suffix that its file's name got.
func newSlug(slug, oldStem, newStem string) string {
	suffix, ok := strings.CutPrefix(newStem, oldStem)
	if !ok {
		suffix = "-version"
	}
	cut := slug[:min(len(slug), slugMost-len(suffix))]
	return strings.TrimRight(strings.ToValidUTF8(cut, ""), "-") + suffix
}

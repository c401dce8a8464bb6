package notes

import (
	"strings"

	"memdesk/backends/internal/title"
	"memdesk/internal/frontmatter"
)

// head holds the fields at the beginning of a note, for display only: the bytes are the document.
type head struct {
	kind   string // of the one type or kind line; empty for none or both
	status string
	title  string
}

// headBytes is the part of a file read for its front matter, in bytes. A front matter that does not end
// there does not count.
const headBytes = 8 << 10

// parseHead reads front matter as AgentM's own parsers do, line by line as `key: value` (agentm.md,
// Frontmatter); it never fails. It accepts CRLF and a byte order mark too.
func parseHead(text string) head {
	front, body := splitFront(text)
	h := parseFront(front)
	if h.title == "" {
		h.title = title.Heading(body)
	}
	return h
}

func parseFront(front string) (h head) {
	var typ, kind string
	for line := range strings.Lines(front) {
		switch name, value, _ := frontmatter.Pair(line); name {
		case "type":
			typ = value
		case "kind":
			kind = value
		case "status":
			h.status = strings.ToLower(value)
		case "title":
			h.title = title.Cut(value)
		}
	}
	if kind == "None" { // AgentM writes this when a `type:` note is superseded
		kind = ""
	}
	if typ == "" || kind == "" {
		if h.kind = typ + kind; !isKind(h.kind) {
			h.kind = ""
		}
	}
	return h
}

// splitFront divides a text into the lines between its fences and the rest; front is empty without fences. A
// fence has no blanks behind it (agentm.md), unlike those of package frontmatter.
func splitFront(text string) (front, body string) {
	text = strings.TrimPrefix(text, "\ufeff")
	first, rest, ok := strings.Cut(text, "\n")
	if !ok || strings.TrimSuffix(first, "\r") != "---" {
		return "", text
	}
	at := 0
	for line := range strings.Lines(rest) {
		if strings.TrimRight(line, "\r\n") == "---" {
			return rest[:at], rest[at+len(line):]
		}
		at += len(line)
	}
	return "", text
}

// statuses are the statuses that matter for lists and searches.
var statuses = []string{"deleted", "expired", "superseded", statusUnfiled}

const statusUnfiled = "unfiled" // in AgentM's review queue (agentm.md, Frontmatter)

// archived: its agent has put it away. Lists leave it out unless asked for.
func archived(status string) bool { return status == "deleted" || status == "expired" }

// recalled reports whether the agent's own search returns a note: it skips superseded notes and the folders
// _archive and _inbox, and returns deleted or expired ones.
func recalled(id, status string) bool {
	if status == "superseded" || hidden(id) {
		return false
	}
	for dir, rest, below := strings.Cut(id, "/"); below; dir, rest, below = strings.Cut(rest, "/") {
		if dir == "_archive" || dir == "_inbox" {
			return false
		}
	}
	return true
}

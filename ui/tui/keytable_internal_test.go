package tui

import (
	"strings"

	"memdesk/internal/safetext"
)

// KeyTableMarkdown is the table for docs/keys.md.
func KeyTableMarkdown() string {
	cell := strings.NewReplacer("|", `\|`, "\n", " ", "[", `\[`)
	var b strings.Builder
	b.WriteString("| where | key | what it does |\n|---|---|---|\n")
	for _, s := range KeyTable() {
		where := s.Title
		for _, k := range s.Acts {
			b.WriteString("| " + cell.Replace(where) + " | `" + strings.ReplaceAll(safetext.Line(k.Label()).String(), "|", `\|`) + "` | " + cell.Replace(k.Doc) + " |\n")
			where = ""
		}
	}
	return b.String()
}

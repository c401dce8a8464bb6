package tui

import (
	"cmp"
	"strings"

	"memdesk/internal/safetext"
)

// KeyTableMarkdown is the table for docs/keys.md.
func KeyTableMarkdown() string {
	cell := strings.NewReplacer("|", `\|`, "\n", " ", "[", `\[`)
	var b strings.Builder
	b.WriteString("| where | key | what it does | word |\n|---|---|---|---|\n")
	table := KeyTable()
	words := map[string]bool{} // of the places where [ui.keys] can give an act a further key
	for _, s := range places(table) {
		words[s.Title] = true
	}
	for _, s := range table {
		where := s.Title
		for _, k := range s.Acts {
			word := ""
			if words[s.Title] {
				word = cmp.Or(k.Verb, k.Name)
			}
			b.WriteString("| " + cell.Replace(where) + " | `" + strings.ReplaceAll(safetext.Line(k.Label()).String(), "|", `\|`) + "` | " + cell.Replace(k.Doc) + " | " + cell.Replace(word) + " |\n")
			where = ""
		}
	}
	return b.String()
}

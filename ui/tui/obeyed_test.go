package tui

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"memdesk/ui/act"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/text"
)

// OnObeyed sets a function that is called for each executed key and command, on the update loop.
func OnObeyed(f func(act.Act)) { obeyed = f }

// OnQuestion sets a function that is called for each question asked and each one cancelled, on the
// update loop. sort identifies a question by its title, buttons and beginning, without its target.
func OnQuestion(f func(sort string, cancelled bool)) {
	dialog.Questioned = func(d *dialog.Dialog, cancelled bool) { f(questionSort(d), cancelled) }
}

func questionSort(d *dialog.Dialog) string {
	out := d.Title.String()
	for _, c := range d.Choices {
		out += "/" + c.Verb
	}
	i := slices.IndexFunc(d.Lines, func(l text.Line) bool { return l.Kind == text.Title }) // a repeated question has a warning above its title
	if i < 0 {
		return out
	}
	words := strings.Fields(d.Lines[i].Value.String())
	for i, w := range words[:min(len(words), 2)] {
		switch {
		case w[0] >= '0' && w[0] <= '9':
			w = "#"
		case i > 0 && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "", strings.ContainsAny(w, "/._:"): // the target
			w = "*"
		}
		out += " " + w
	}
	return out
}

var titleOf = regexp.MustCompile(`\bTitle: (?:\w+\.)*[Ee]sc\.Const\("([A-Z][^"]*)"\)`)

// Questions are the titles of the questions in the program's source.
func Questions() []string {
	var out []string
	_ = filepath.WalkDir(".", func(name string, _ fs.DirEntry, _ error) error {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(name)
		for _, m := range titleOf.FindAllStringSubmatch(string(src), -1) {
			if !slices.Contains(out, m[1]) {
				out = append(out, m[1])
			}
		}
		return err
	})
	return out
}

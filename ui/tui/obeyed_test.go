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

// OnObeyed has f called for each key and command that is carried out, on the update
// loop.
func OnObeyed(f func(act.Act)) { obeyed = f }

// OnQuestion has f called for each question that is asked and for each that is
// cancelled, on the update loop. sort tells questions apart by their title, their
// buttons and how they begin, whatever they are about.
func OnQuestion(f func(sort string, cancelled bool)) {
	dialog.Questioned = func(d *dialog.Dialog, cancelled bool) { f(questionSort(d), cancelled) }
}

func questionSort(d *dialog.Dialog) string {
	out := d.Title.String()
	for _, c := range d.Choices {
		out += "/" + c.Verb
	}
	i := slices.IndexFunc(d.Lines, func(l text.Line) bool { return l.Kind == text.Title }) // a warning stands over a question that is asked again
	if i < 0 {
		return out
	}
	words := strings.Fields(d.Lines[i].Value.String())
	for i, w := range words[:min(len(words), 2)] {
		switch {
		case w[0] >= '0' && w[0] <= '9':
			w = "#"
		case i > 0 && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "", strings.ContainsAny(w, "/._:"): // what it is about
			w = "*"
		}
		out += " " + w
	}
	return out
}

var titleOf = regexp.MustCompile(`\bTitle: (?:\w+\.)*[Ee]sc\.Const\("([A-Z][^"]*)"\)`)

// Questions are the titles of the questions that the program asks, from its source.
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

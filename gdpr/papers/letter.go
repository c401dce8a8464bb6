// Package papers writes what a privacy officer sends and files: letters to the subject and the register of
// requests. It reads no store and changes nothing.
package papers

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"memdesk/gdpr/receipt"
	"memdesk/model"
)

//go:embed letters/*.md
var letters embed.FS

// Kinds and Languages of letters.
var (
	Kinds     = []string{"received", "extension", "refused", "done"}
	Languages = []string{"en", "de"}
)

// Letter holds the fields of a template. It holds no name: the letter is addressed by hand.
type Letter struct {
	Request, Received, Deadline, Finished string
	Paused, Extended, Ended               bool
	Forgotten, Redacted                   int64
	Stores                                []string
	Held                                  []receipt.Held
	Open                                  []receipt.Left
	Backups                               []receipt.Backup
	Recipients                            []receipt.Recipient
}

// Write renders a letter as Markdown. A template KIND.LANG.md in the directory own replaces the built-in one;
// own may be empty. A letter of an extension or an end that did not come is Conflict; a refusal is the operator's
// own word.
func (l Letter) Write(kind, lang, own string) (string, error) {
	const op = "gdpr-letter"
	switch {
	case !slices.Contains(Kinds, kind):
		return "", model.Errorf(model.InvalidInput, op, "there is no letter %q: %s", kind, strings.Join(Kinds, ", "))
	case !slices.Contains(Languages, lang):
		return "", model.Errorf(model.InvalidInput, op, "there is no letter in %q: %s", lang, strings.Join(Languages, ", "))
	case kind == "extension" && !l.Extended:
		return "", model.Errorf(model.Conflict, op, "the deadline of %s was not extended: `memdesk gdpr extend %s`", l.Request, l.Request)
	case kind == "done" && !l.Ended:
		return "", model.Errorf(model.Conflict, op, "%s has no receipt yet: `memdesk gdpr report %s`", l.Request, l.Request)
	}
	name := kind + "." + lang + ".md"
	text, err := letters.ReadFile("letters/" + name)
	if err != nil {
		return "", model.E(model.Internal, op, err)
	}
	if own != "" {
		edited, err := os.ReadFile(filepath.Join(own, name))
		if err == nil {
			text = edited
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", model.Errorf(model.Unavailable, op, "the template %s cannot be read", name)
		}
	}
	t, err := template.New(name).Funcs(template.FuncMap{"join": func(all []string) string { return strings.Join(all, ", ") }}).Parse(string(text))
	if err != nil {
		return "", model.Errorf(model.InvalidInput, op, "the template %s: %v", name, err)
	}
	l.Open = slices.Clone(l.Open)
	for i, o := range l.Open { // of whoever named a file
		l.Open[i].Layer, l.Open[i].Reason = receipt.Plain(o.Layer), receipt.Plain(o.Reason)
	}
	var out strings.Builder
	if err := t.Execute(&out, l); err != nil {
		return "", model.Errorf(model.InvalidInput, op, "the template %s: %v", name, err)
	}
	return out.String(), nil
}

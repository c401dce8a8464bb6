package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"memdesk/backends"
	"memdesk/internal/clock"
)

var (
	shownCommand = regexp.MustCompile("(?:memdesk|\\bmd)((?: +[^\\s`|#;)]+)+)")
	lowerWord    = regexp.MustCompile(`^[a-z-]+$`)
	longFlag     = regexp.MustCompile(`^--[a-z][a-z-]*`)
)

// TestCommandsOfThePages: every command that a page shows must exist, with its long flags. A first word that is no
// command begins a sentence.
func TestCommandsOfThePages(t *testing.T) {
	root := (&app{Program: Program{Kinds: backends.Builtin(), Clock: clock.System{}}}).root()
	root.InitDefaultHelpFlag()
	top := filepath.Join("..", "..")
	pages := []string{filepath.Join(top, "README.md"), filepath.Join(top, "config.toml.example")}
	err := filepath.WalkDir(filepath.Join(top, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	flags := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
	shown:
		for _, m := range shownCommand.FindAllStringSubmatch(string(text), -1) {
			at, value := root, false // value: the word before was a flag
			for _, word := range strings.Fields(m[1]) {
				flag, sub := longFlag.FindString(strings.TrimLeft(word, "[(")), child(at, word)
				switch {
				case flag != "":
					if flags++; at.Flag(flag[2:]) == nil && at.InheritedFlags().Lookup(flag[2:]) == nil {
						t.Errorf("%s: memdesk%s: %s has no flag %s", page, m[1], at.CommandPath(), flag)
					}
				case sub != nil:
					at = sub
				case !value && lowerWord.MatchString(word) && at.HasSubCommands():
					if at != root {
						t.Errorf("%s: memdesk%s: %s has no command %s", page, m[1], at.CommandPath(), word)
					}
					continue shown
				}
				value = strings.HasPrefix(word, "-")
			}
		}
	}
	if flags < 100 {
		t.Errorf("only %d flags were looked up", flags)
	}
}

// child is the command of a command with this name; nil: it has none.
func child(c *cobra.Command, name string) *cobra.Command {
	for _, sub := range c.Commands() {
		if sub.Name() == name {
			return sub
		}
	}
	return nil
}

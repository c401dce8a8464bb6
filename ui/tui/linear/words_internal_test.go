package linear

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// keyNamed finds what names a key or a command of the console in a sentence.
var keyNamed = regexp.MustCompile(`(?:^|[\s;:,(])(?::[a-z]{2,}|[a-zA-HJ-Z]|esc|enter|tab|ctrl\+[a-z]|[1-7] [A-Z][a-z]+) (?:[a-z]{2,}s|or|and [a-zA-Z])\b`)

// drawn are sentences that only a screen shows.
var drawn = []string{
	"memdesk needs %dx%d", "memdesk is locked. %s shows it", "%s; esc stops it", "under way; esc stops it", "esc closes this page", "ctrl+c again stops it",
	":jobs shows it", ":jobs lists", "q leaves", "Leave with q", "esc shows", "ctrl+r asks again", "esc goes back", "/ changes the filter", "a also looks at",
	"esc drops", "esc cancels it", "enter looks on through the list", ", a shows %s more", "K and J scroll it", "a opens the form as you left it", "enter opens it in the editor again; y copies the text.", "or a conflict: y copies it", "ctrl+r counts again", "enter lists the items", "ctrl+r asks the store again", "s sets them", "tab completes", "m shows the text as it is stored", "y copies its text", ":help lists", ":notices shows", "; a shows them", "? lists the keys", "/ opens an input", ":save keeps one",
}

// Whatever a message calls by a key has a word in the conversation too.
func TestEveryKeyInAMessageIsSpoken(t *testing.T) {
	looked := 0
	err := filepath.WalkDir("..", func(name string, f fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case f.IsDir() && f.Name() == "linear": // says what it has to say itself
			return filepath.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		tree, err := parser.ParseFile(gotoken.NewFileSet(), name, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok { // what the key table is made of
				if id, ok := kv.Key.(*ast.Ident); ok && (id.Name == "Doc") {
					return false
				}
			}
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != gotoken.STRING {
				return true
			}
			s, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			looked++
			for _, d := range drawn {
				if strings.Contains(s, d) {
					return true
				}
			}
			if said := spokenWords(s); keyNamed.MatchString(said) {
				t.Errorf("%s: %q names a key where there are none: give spokenFor the word for it", name, said)
			}
			return true
		})
		return nil
	})
	if err != nil || looked < 1000 {
		t.Fatalf("only %d texts were looked at: %v", looked, err)
	}
}

func TestSpokenWords(t *testing.T) {
	for in, want := range map[string]string{
		"saved %s; z undoes":                            "saved %s",
		"%s replaces theirs, z undoes.":                 "%s replaces theirs, undo takes that back.",
		"nothing was done; :undo lists earlier changes": "nothing was done; undos lists earlier changes",
		"the jazz puts it back":                         "the jazz puts it back",
		"%s has come back: 5 Conflicts lists it":        "%s has come back: conflicts lists it",
		"it is void: p makes one":                       "it is void: plan makes one",
	} {
		if got := spokenWords(in); got != want {
			t.Errorf("%q is said %q, want %q", in, got, want)
		}
	}
}

package names

import "strings"

// skips are names that no tool uses for a second copy: placeholders, files in transfer, editors' own files.
// The list leaves them out; residue sweeps cover them (conflict-names.md, Not copies).
var skips = []struct {
	what    string
	test    func(lower string) bool
	example string
}{
	{"an iCloud placeholder", func(s string) bool { return strings.HasPrefix(s, ".") && strings.HasSuffix(s, ".icloud") }, ".note (1).md.icloud"},
	{"a file that a writer has not finished", func(s string) bool { return strings.HasSuffix(s, ".tmp") }, "note.sync-conflict-20260527-083015-K3ZQ7AB.md.tmp"},
	{"a file that a writer has not finished", func(s string) bool { return strings.Contains(s, ".tmp.") && hexTail().MatchString(s) }, "note copy.md.tmp.0a1b2c3d"},
	{"a file that Syncthing has not finished", func(s string) bool { return strings.HasPrefix(s, "~syncthing~") || strings.HasPrefix(s, ".syncthing.") }, "~syncthing~note (1).md"},
	{"an editor's swap file", func(s string) bool { return strings.HasSuffix(s, ".swp") || strings.HasSuffix(s, ".swo") }, ".note 2.md.swp"},
	{"an editor's backup", func(s string) bool { return strings.HasSuffix(s, "~") }, "note (1).md~"},
	{"an editor's lock", func(s string) bool { return strings.HasPrefix(s, ".#") }, ".#note (1).md"},
	{"an editor's recovery file", func(s string) bool { return len(s) > 1 && strings.HasPrefix(s, "#") && strings.HasSuffix(s, "#") }, "#note (1).md#"},
}

var hexTail = re(`\.tmp\.[0-9a-f]{4,}$`)

// Skipped reports whether a basename is such a name.
func Skipped(name string) bool {
	lower := strings.ToLower(name)
	for _, s := range skips {
		if s.test(lower) {
			return true
		}
	}
	return false
}

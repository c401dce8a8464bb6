package conflict

import (
	"slices"

	"memdesk/conflict/names"
	"memdesk/model"
)

// caution is a warning, by a vendor or from experience, about resolving a tool's copies
// (conflict-names.md, Vendor cautions).
type caution struct {
	tools []string
	rows  []int // narrower than the tool; empty: all of its rows
	text  string
}

// renameOnly are tools whose copies must not be deleted.
var renameOnly = map[string]bool{"resilio": true}

var cautions = []caution{
	{[]string{"resilio"}, nil, "the vendor warns that deleting a .Conflict file deletes the real file on other peers: it is merged or renamed, never deleted"},
	{[]string{"nextcloud"}, nil, "the base holds the server's text, the copy holds the user's latest edit"},
	{[]string{"syncthing"}, nil, "Syncthing gives the name to the newer file. Newer is not always right."},
	{[]string{"google-drive"}, nil, "Another device may bring a deleted file back: look again after 2 min."},
	{[]string{"obsidian-sync"}, nil, "this tool mostly merges inside the file: no further copies does not mean no further conflicts"},
	{[]string{"nextcloud-case", "dropbox-case", "maestral"}, []int{3, 4, 7}, "two names that differ only in case or normal form are both live: on some file systems deleting one deletes the other"},
}

// comesBack is the caution for classes whose files a sync layer can restore.
const comesBack = "Sync may bring a deleted copy back: look again after 2 min."

// cautionsFor returns the cautions for a copy.
func cautionsFor(tool string, row int, class names.Class) []string {
	var out []string
	for _, c := range cautions {
		if slices.Contains(c.tools, tool) && (len(c.rows) == 0 || slices.Contains(c.rows, row)) {
			out = append(out, c.text)
		}
	}
	if class == names.Conflict && tool != "google-drive" {
		out = append(out, comesBack)
	}
	return out
}

// RenameOnly reports whether the copy's vendor warns against deleting it.
func (c Copy) RenameOnly() bool { return renameOnly[c.Tool] }

// textual reports whether a store's items are texts with readable names; ids of graphs and work items are no
// file names.
func textual(s model.Store) bool {
	for _, t := range s.Tiers {
		if t.Document == model.Opaque {
			return true
		}
	}
	return len(s.Tiers) == 0
}

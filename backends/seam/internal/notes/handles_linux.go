package notes

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/model"
)

// openHandles finds processes that still hold a removed note open: its bytes exist until they close it. It
// sees only processes that this user may inspect.
func openHandles(root string, removed []string) []model.LayerResult {
	if len(removed) == 0 {
		return nil
	}
	const layer = "(open handles)"
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return nil
	}
	n := int64(0)
	for _, l := range links {
		to, err := os.Readlink(l)
		if err != nil {
			continue
		}
		path, gone := strings.CutSuffix(to, " (deleted)")
		rel, rerr := filepath.Rel(root, path)
		if !gone || rerr != nil || strings.HasPrefix(rel, "..") {
			continue
		}
		rel = filepath.ToSlash(rel)
		if slices.ContainsFunc(removed, func(id string) bool { return rel == id || strings.HasPrefix(rel, id+".tmp.") }) {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []model.LayerResult{{
		Layer: layer, Method: "/proc read", Rows: n, Verdict: model.VerdictPending,
		Reason: "a process still holds a removed file open; its bytes stay until it lets go",
	}}
}

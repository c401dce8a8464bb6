package claude

import (
	"context"
	"errors"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/backends/seam/internal/notes"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// deep reads every item once and finds problems that the programs themselves do not report (CC13).
func (s *store) deep(ctx context.Context) []model.HealthFinding {
	dirs := map[string][]string{} // files of memory directories, indexes left out
	index := map[string]string{}  // the indexes' texts
	var long []model.HealthFinding
	out, ok := s.layout.Examine(ctx, s.path, func(id string, data []byte) {
		dir, in := s.memory(id)
		tier, _ := s.head(id, string(data))
		switch {
		case in && tier == tierIndex:
			index[dir] = string(data)
		case in:
			dirs[dir] = append(dirs[dir], id)
		}
		if tier == tierIndex && over(string(data)) {
			f := notes.Finding("over_cap", id, "%d lines, %d bytes: a session loads the first 200 lines or 25 KB", lineCount(string(data)), len(data))
			f.Lines = lineCount(string(data))
			long = append(long, f)
		}
	})
	if !ok {
		return nil // Health itself reports it
	}
	root, err := rootdir.Open(s.path, nil)
	if err != nil {
		return nil // as above
	}
	defer root.Close()
	out = append(out, long...)
	linked := map[string]bool{} // files named by an index
	for _, dir := range slices.Sorted(maps.Keys(index)) {
		out = append(out, s.checkIndex(root, dir, index[dir], linked)...)
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		if _, has := index[dir]; !has {
			out = append(out, notes.Finding("no_index", path.Join(".", dir), "files and no %s: a session loads none of them", indexName))
			continue
		}
		for _, id := range dirs[dir] {
			if !linked[id] {
				out = append(out, notes.Finding("unindexed", id, "no line of its directory's %s names it", indexName))
			}
		}
	}
	return out
}

// checkIndex checks the lines of one index and records their targets.
func (s *store) checkIndex(root *rootdir.Dir, dir, text string, linked map[string]bool) (out []model.HealthFinding) {
	at := path.Join(dir, indexName)
	seen := map[string]bool{}
	n := 0
	found := func(kind, target, format string, args ...any) {
		f := notes.Finding(kind, at, format, args...)
		f.Line, f.Target = n, target
		out = append(out, f)
	}
	for l := range strings.Lines(text) {
		n++
		line := strings.TrimRight(l, "\r\n")
		to := targets(line)
		if len(to) > 0 && seen[line] {
			found("duplicate_index", "", "line %d stands there twice", n)
		}
		seen[line] = true
		for _, t := range to {
			file := path.Join(dir, t)
			_, err := root.Stat(file)
			if i := strings.LastIndexByte(file, '#'); i > 0 && file[i-1] != '/' && errors.Is(err, model.NotFound) { // a link to a place in a file
				file = file[:i]
				_, err = root.Stat(file)
			}
			linked[file] = true
			switch {
			case path.IsAbs(t), !filepath.IsLocal(file):
				found("dangling_index", t, "line %d leads to %s, which is not looked at: link a file of this store, by a relative path", n, t)
			case errors.Is(err, model.NotFound):
				found("dangling_index", t, "line %d leads to %s, which is not there", n, t)
			case err != nil:
				found("dangling_index", t, "line %d leads to %s, which cannot be looked at: %s", n, t, model.KindOf(err))
			}
		}
	}
	return out
}

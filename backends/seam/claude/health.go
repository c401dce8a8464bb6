package claude

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/walk"
	"memdesk/model"
	"memdesk/quarantine"
)

// deep reads every item once and tells what the programs themselves do not (CC13).
func (s *store) deep(ctx context.Context) []model.HealthFinding {
	root, err := rootdir.Open(s.path, nil)
	if err != nil {
		return nil // Health itself says so
	}
	defer root.Close()
	var out []model.HealthFinding
	add := func(kind, ref, format string, args ...any) {
		out = append(out, model.HealthFinding{Kind: kind, Ref: ref, Message: fmt.Sprintf(format, args...), State: model.HealthDegraded})
	}
	dirs := map[string][]string{} // files of memory directories, indexes left out
	index := map[string]string{}  // the indexes' texts
	linked := map[string]bool{}   // files that an index names
	var names []string
	if _, err := walk.Names(ctx, "health", root, walk.Rules{Enter: open, Take: s.item}, nil, func(id string) bool {
		names = append(names, id)
		return true
	}); err != nil {
		return nil
	}
	slices.Sort(names)
	for _, id := range names {
		m, err := root.Stat(id)
		if err != nil {
			continue
		}
		if m.Kind != rootdir.File {
			add("symlink", id, "a symbolic link or a special file is no item: it is neither followed nor removed")
			continue
		}
		data, _, err := root.Read(id, 0)
		if err != nil {
			continue
		}
		dir, in := s.memory(id)
		tier, _ := s.head(id, string(data))
		switch {
		case in && tier == tierIndex:
			index[dir] = string(data)
		case in:
			dirs[dir] = append(dirs[dir], id)
		}
		if tier == tierIndex && over(string(data)) {
			add("over_cap", id, "%d lines, %d bytes: a session loads the first 200 lines or 25 KB", lineCount(string(data)), len(data))
		}
		if !utf8.Valid(data) {
			add("not_text", id, "the file is not UTF-8 text")
		} else if v, hit := quarantine.Scan(string(data)); hit {
			add("blocked", id, "the scanner rejects it: %s/%s", v.Category, v.Pattern)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(index)) {
		at := path.Join(dir, indexName)
		seen := map[string]bool{}
		n := 0
		for l := range strings.Lines(index[dir]) {
			n++
			text := strings.TrimRight(l, "\r\n")
			to := targets(text)
			if len(to) > 0 && seen[text] {
				add("duplicate_index", at, "line %d stands there twice", n)
			}
			seen[text] = true
			for _, t := range to {
				file := path.Join(dir, t)
				linked[file] = true
				if _, err := root.Stat(file); err != nil {
					add("dangling_index", at, "line %d leads to %s, which is not there", n, t)
				}
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		if _, has := index[dir]; !has {
			add("no_index", strings.TrimPrefix(path.Join("./", dir), "./"), "files and no %s: a session loads none of them", indexName)
			continue
		}
		for _, id := range dirs[dir] {
			if !linked[id] {
				add("unindexed", id, "no line of its directory's %s names it", indexName)
			}
		}
	}
	return out
}

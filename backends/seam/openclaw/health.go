package openclaw

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/backends/internal/litefile"
	"memdesk/backends/seam/internal/notes"
	"memdesk/model"
)

// deep compares the files with OpenClaw's index of them (OC9).
func (s *store) deep(ctx context.Context) []model.HealthFinding {
	hashes := map[string]map[string]string{} // by workspace and file
	out, ok := s.layout.Examine(ctx, s.path, func(id string, data []byte) {
		a, file, _ := s.at(id)
		if hashes[a.dir] == nil {
			hashes[a.dir] = map[string]string{}
		}
		sum := sha256.Sum256(data)
		hashes[a.dir][file] = hex.EncodeToString(sum[:])
	})
	if !ok {
		return nil // Health itself reports it
	}
	for _, id := range slices.Sorted(maps.Keys(s.indexes)) {
		out = append(out, s.compare(ctx, id, hashes)...)
	}
	return out
}

// compare checks one index against the files of its agent's workspaces; hashes are by workspace and file.
func (s *store) compare(ctx context.Context, id string, hashes map[string]map[string]string) []model.HealthFinding {
	workspace := -1
	files := map[string]string{}
	for i, a := range s.agents {
		if slices.Contains(s.homes[id], a.dir) {
			workspace = i
			maps.Copy(files, hashes[a.dir])
		}
	}
	if workspace < 0 {
		return nil // its workspace is not here
	}
	at := s.indexes[id]
	indexed, stale, err := readSources(ctx, filepath.Join(s.path, filepath.FromSlash(at)), files)
	if err != nil {
		return []model.HealthFinding{notes.Finding("index_unreadable", at, "who wrote what is unknown: %s", err)}
	}
	var out []model.HealthFinding
	if stale != "" {
		out = append(out, notes.Finding("stale_index", at, "it has text of %s as it is no more: openclaw memory index --force --agent %s", stale, id))
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		memory := file == "MEMORY.md" || file == "USER.md" || strings.HasPrefix(file, "memory/")
		if memory && len(indexed) > 0 && !indexed[file] {
			out = append(out, notes.Finding("not_indexed", path.Join(s.agents[workspace].dir, file), "a search of the agent does not find it: openclaw memory index --force --agent %s", id))
		}
	}
	return out
}

// readSources reads the files in the index, and the first of them that has changed since.
func readSources(ctx context.Context, file string, files map[string]string) (indexed map[string]bool, stale string, err error) {
	err = reading(ctx, file, func(q *litefile.Query) error {
		indexed, stale = map[string]bool{}, ""
		look := func(at, hash string) {
			if now, there := files[at]; stale == "" && (!there || hash != "" && !strings.EqualFold(now, hash)) {
				stale = at
			}
		}
		if err := q.Each(selectOrigins+` LIMIT 1`, nil, func(func(...any) error) error { return nil }); err != nil {
			return err // another version: the writers are unreadable
		}
		err := q.Each(`SELECT path, hash FROM memory_index_sources WHERE source = 'memory' ORDER BY path`, nil, func(scan func(...any) error) error {
			var at, hash string
			err := scan(&at, &hash)
			indexed[at] = true
			look(at, hash)
			return err
		})
		if err != nil {
			return err
		}
		chunks, err := litefile.Texts(q, `SELECT DISTINCT path FROM memory_index_chunks WHERE source = 'memory' ORDER BY path`)
		for _, at := range chunks {
			look(at, "")
		}
		return err
	})
	return indexed, stale, err
}

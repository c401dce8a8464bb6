package crewship

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"time"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/texts"
	"memdesk/backends/seam/internal/walk"
)

const indexName = "index.sqlite"

// indexed calls fn with Crewship's own index of a memory directory and reports whether it did: the index
// exists, has Crewship's shape, and is no older than the files. It writes nothing. fn may be called again,
// and then must reset its results.
func (s *store) indexed(ctx context.Context, snap *snapshot, p *memoryDir, fn func(*rankIndex) error) bool {
	dir, err := s.open(p)
	if err != nil {
		return false
	}
	defer dir.Close()
	if m, err := dir.Stat(indexName); err != nil || m.Kind != rootdir.File { // a link is not followed
		return false
	}
	path := filepath.Join(p.path(), indexName)
	if present(path+"-wal") && !present(path+"-shm") { // its writer died: the files are nearer than a copy
		return false
	}
	var fresh bool
	err = database{path}.read(ctx, func(db *sql.DB) (err error) {
		if fresh, err = s.isFresh(ctx, db, dir, snap.of(p).tree); err != nil || !fresh {
			return err
		}
		return fn(&rankIndex{db: db})
	})
	return err == nil && fresh
}

// isFresh reports whether an index holds every file in its current form: changed before the second in which
// Crewship recorded its indexing.
func (s *store) isFresh(ctx context.Context, db *sql.DB, dir *rootdir.Dir, tree *walk.Tree) (bool, error) {
	var schema, noted string
	err := db.QueryRowContext(ctx, `SELECT sql, (SELECT value FROM memory_meta WHERE key = 'last_indexed')
		FROM sqlite_master WHERE name = 'memory_chunks' AND type = 'table'`).Scan(&schema, &noted)
	if err != nil || oneLine(schema) != oneLine(rankSchema) {
		return false, err
	}
	at, err := time.Parse(time.RFC3339, noted)
	if err != nil || at.After(s.clock.Now()) {
		return false, nil
	}
	files := map[string]bool{}
	err = each(ctx, db, "SELECT DISTINCT coalesce(file, '') FROM memory_chunks", func(v []string) { files[v[0]] = true }, 1)
	if err != nil {
		return false, err
	}
	for _, f := range tree.All() {
		if !isRanked(f) {
			continue
		}
		label := f.Path()
		m, err := dir.Stat(label) // the snapshot looks at directories only
		if err == nil && m.Kind != rootdir.File {
			continue
		}
		if err != nil || m.Size > texts.ReadLimit || m.Size > 0 && !files[label] || !m.Modified.Before(at) {
			return false, nil
		}
	}
	return true, nil
}

// oneLine is a definition without insignificant spaces.
func oneLine(sql string) string {
	return strings.ToLower(strings.Join(strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ", ",", " , ", "=", " = ").Replace(sql)), " "))
}

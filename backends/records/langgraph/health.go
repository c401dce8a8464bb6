package langgraph

import (
	"fmt"
	"strings"

	"memdesk/backends/records"
	"memdesk/model"
)

// A thread is named where it holds at least so many checkpoints, or so many bytes. Each checkpoint
// repeats what changed of the conversation, and LangGraph deletes none by itself.
const (
	manyCheckpoints = 100
	manyBytes       = 10 << 20
	// named is how many of such threads are named, the largest first.
	named = 3
)

// observe says what the packages do not (LG9).
func (l layout) observe(tx records.Tx) ([]model.HealthFinding, error) {
	var out []model.HealthFinding
	for _, c := range append(l.storeChecks(), l.checkpointChecks()...) {
		var n int64
		if _, err := tx.One(c.sql, nil, &n); err != nil {
			return nil, err
		}
		if n > 0 {
			out = append(out, records.Finding(c.kind, "", fmt.Sprintf(c.message, n)))
		}
	}
	large, err := l.largeThreads(tx)
	if err != nil {
		return nil, err
	}
	rights, err := l.rights(tx)
	return append(append(out, large...), rights...), err
}

// check is a count that has to be 0.
type check struct{ kind, sql, message string }

func (l layout) storeChecks() []check {
	if !l.has("store") {
		return nil
	}
	out := []check{{"expired", `SELECT count(*) FROM ` + l.table("store") + ` WHERE expires_at < now()`, "%d expired rows are still on disk"}}
	if !l.has("store_vectors") {
		return out
	}
	ns, _ := l.namespace()
	vectors, rows, on := l.table("store_vectors"), l.table("store"), ` ON s.`+ns+` = v.`+ns+` AND s.key = v.key`
	return append(out,
		check{"orphan", `SELECT count(*) FROM ` + vectors + ` v LEFT JOIN ` + rows + ` s` + on + ` WHERE s.key IS NULL`, "%d vectors belong to no row"},
		check{"index", `SELECT count(*) FROM ` + vectors + ` v JOIN ` + rows + ` s` + on + ` WHERE s.updated_at > v.created_at + interval '1 second'`, "%d vectors are older than their row"},
		check{"index", `SELECT count(*) FROM ` + rows + ` s WHERE EXISTS (SELECT 1 FROM ` + vectors + `) AND NOT EXISTS (SELECT 1 FROM ` + vectors + ` v WHERE s.` + ns + ` = v.` + ns + ` AND s.key = v.key)`,
			"%d rows have no vector beside others that have one: semantic recall misses them"})
}

func (l layout) checkpointChecks() (out []check) {
	for _, t := range []string{"checkpoint_blobs", "checkpoint_writes"} {
		if l.has("checkpoints") && l.has(t) {
			out = append(out, check{"orphan", `SELECT count(*) FROM ` + l.table(t) + ` b WHERE NOT EXISTS (SELECT 1 FROM ` + l.table("checkpoints") + ` c WHERE c.thread_id = b.thread_id)`,
				"%d rows of " + t + " have no checkpoint: a deletion stopped half-way"})
		}
	}
	return out
}

// largeThreads names the threads that grow without bound, with their bytes.
func (l layout) largeThreads(tx records.Tx) (out []model.HealthFinding, err error) {
	if !l.has("checkpoints") {
		return nil, nil
	}
	parts := []string{`SELECT thread_id, 1 AS n, pg_column_size(checkpoint) + pg_column_size(metadata) AS b FROM ` + l.table("checkpoints")}
	for _, t := range []string{"checkpoint_blobs", "checkpoint_writes"} {
		if l.has(t) {
			parts = append(parts, `SELECT thread_id, 0, COALESCE(pg_column_size(blob), 0) FROM `+l.table(t))
		}
	}
	err = tx.Each(`SELECT thread_id, sum(n)::bigint, sum(b)::bigint FROM (`+strings.Join(parts, ` UNION ALL `)+`) x GROUP BY thread_id
		HAVING sum(n) >= ? OR sum(b) >= ? ORDER BY 3 DESC, 1 LIMIT ?`, []any{manyCheckpoints, manyBytes, named}, func(scan func(...any) error) error {
		var thread string
		var n, size int64
		err := scan(&thread, &n, &size)
		out = append(out, records.Finding("large", "thread/"+records.Escape(thread), fmt.Sprintf("the thread holds %d checkpoints in %d bytes, and LangGraph deletes none by itself", n, size)))
		return err
	})
	return out, err
}

// rights says which tables the role may not delete from.
func (l layout) rights(tx records.Tx) (out []model.HealthFinding, err error) {
	for _, t := range scanned {
		if !l.has(t) {
			continue
		}
		var may bool
		if _, err := tx.One(`SELECT has_table_privilege(?, 'DELETE')`, []any{l.table(t)}, &may); err != nil {
			return nil, err
		}
		if !may {
			out = append(out, records.Finding("rights", "", "the database role may not delete from "+t+": nothing of it can be forgotten or erased"))
		}
	}
	return out, nil
}

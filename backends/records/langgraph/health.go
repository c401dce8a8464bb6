package langgraph

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"memdesk/backends/records"
	"memdesk/model"
)

// A thread is named when it has this many checkpoints or bytes. Each checkpoint repeats the changed parts of
// the conversation, and LangGraph deletes none by itself.
const (
	manyCheckpoints = 100
	manyBytes       = 10 << 20
	// named bounds the threads that are named, the largest first.
	named = 3
)

// observe reports problems that the packages do not (LG9).
func (l layout) observe(tx records.Tx) ([]model.HealthFinding, error) {
	out, err := records.Checks(tx, append(l.storeChecks(), l.checkpointChecks()...)...)
	if err != nil {
		return nil, err
	}
	large, err := l.largeThreads(tx)
	if err != nil {
		return nil, err
	}
	live, err := l.liveThreads(tx)
	if err != nil {
		return nil, err
	}
	large = append(large, live...)
	rights, err := l.rights(tx)
	return append(append(out, large...), rights...), err
}

func (l layout) storeChecks() []records.Check {
	if !l.has("store") {
		return nil
	}
	out := []records.Check{{Kind: "expired", Message: "expired rows still on disk: %d", Count: `SELECT count(*) FROM ` + l.table("store") + ` m WHERE ` + l.column("expires_at") + ` < now()`}}
	if !l.has("store_vectors") || !slices.Contains(l.have["store"], "updated_at") {
		return out
	}
	ns, _ := l.namespace()
	vectors, rows, on := l.table("store_vectors"), l.table("store"), ` ON s.`+ns+` = v.`+ns+` AND s.key = v.key`
	return append(out,
		records.Check{Kind: "orphan", Message: "%d vectors belong to no row", Count: `SELECT count(*) FROM ` + vectors + ` v LEFT JOIN ` + rows + ` s` + on + ` WHERE s.key IS NULL`},
		records.Check{Kind: "index", Message: "%d vectors are older than their row", Count: `SELECT count(*) FROM ` + vectors + ` v JOIN ` + rows + ` s` + on + ` WHERE s.updated_at > v.created_at + interval '1 second'`},
		records.Check{Kind: "index", Message: "%d rows have no vector beside others that have one: semantic recall misses them", Count: `SELECT count(*) FROM ` + rows + ` s WHERE EXISTS (SELECT 1 FROM ` + vectors + `) AND NOT EXISTS (SELECT 1 FROM ` + vectors + ` v WHERE s.` + ns + ` = v.` + ns + ` AND s.key = v.key)`})
}

func (l layout) checkpointChecks() (out []records.Check) {
	for _, t := range []string{"checkpoint_blobs", "checkpoint_writes"} {
		if l.has("checkpoints") && l.has(t) {
			out = append(out, records.Check{Kind: "orphan", Message: "%d rows of " + t + " have no checkpoint: a deletion stopped half-way", Count: `SELECT count(*) FROM ` + l.table(t) + ` b WHERE NOT EXISTS (SELECT 1 FROM ` + l.table("checkpoints") + ` c WHERE c.thread_id = b.thread_id)`})
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

// liveThreads names the newest thread whose graph wrote within the last minute. Only where there is
// none does it name one that is dated in the future.
func (l layout) liveThreads(tx records.Tx) ([]model.HealthFinding, error) {
	if !l.has("checkpoints") {
		return nil, nil
	}
	const form = "2006-01-02T15:04:05"
	now := time.Now().UTC()
	future := now.Add(time.Minute).Format(form) // a clock may be a little fast
	var thread, ts string
	found, err := records.One(tx, `SELECT thread_id, checkpoint->>'ts' FROM `+l.table("checkpoints")+` WHERE checkpoint->>'ts' >= ? ORDER BY checkpoint->>'ts' > ?, checkpoint->>'ts' DESC LIMIT 1`,
		[]any{now.Add(-time.Minute).Format(form), future}, &thread, &ts)
	if err != nil || !found {
		return nil, err
	}
	age := "is younger than a minute"
	if ts > future {
		age = "is dated in the future, so that nobody can say whether it runs"
	}
	return []model.HealthFinding{records.Finding("live", "thread/"+records.Escape(thread), "its newest checkpoint "+age+": a graph that runs writes the next one from memory, and a thread that is forgotten meanwhile comes back")}, nil
}

// rights says which tables the role may not delete from.
func (l layout) rights(tx records.Tx) (out []model.HealthFinding, err error) {
	for _, t := range scanned {
		if !l.has(t) {
			continue
		}
		var may bool
		if _, err := records.One(tx, `SELECT has_table_privilege(?, 'DELETE')`, []any{l.table(t)}, &may); err != nil {
			return nil, err
		}
		if !may {
			out = append(out, records.Finding("rights", "", "the database role may not delete from "+t+": nothing of it can be forgotten or erased"))
		}
	}
	return out, nil
}

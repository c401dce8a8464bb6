package langgraph

import (
	"strings"

	"memdesk/backends/records"
	"memdesk/model"
)

// scanned are the tables that can hold a subject's text.
var scanned = []string{"store", "store_vectors", "checkpoints", "checkpoint_blobs", "checkpoint_writes"}

// medium are the tables in the form of a maintainer.
func (l layout) medium(db records.Server) records.ServerMedium {
	return records.ServerMedium{DB: db, Schema: l.schema, Tables: scanned, Columns: l.have, Vectors: []string{"embedding"}, Clean: l.orphans,
		Outside: "write-ahead log, replicas, base backups, dumps, LangSmith"}
}

// orphans removes the rows that an interrupted deletion of a thread left.
func (l layout) orphans(tx records.Tx, req model.ScrubRequest) (map[string]int64, error) {
	done := map[string]int64{}
	for _, t := range []string{"checkpoint_writes", "checkpoint_blobs"} {
		if !l.has(t) || !l.has("checkpoints") {
			continue
		}
		for _, id := range req.Removed {
			raw, ok := strings.CutPrefix(id, "thread/")
			key, good := records.Unescape(raw)
			if !ok || !good {
				continue
			}
			n, err := tx.Exec(`DELETE FROM `+l.table(t)+` WHERE thread_id = ?`, key)
			if err != nil {
				return nil, err
			}
			done[t] += n
		}
	}
	return done, nil
}

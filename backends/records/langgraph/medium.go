package langgraph

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"memdesk/backends/internal/snippet"
	"memdesk/backends/records"
	"memdesk/model"
)

// scanned are the tables that can hold a subject's text.
var scanned = []string{"store", "store_vectors", "checkpoints", "checkpoint_blobs", "checkpoint_writes"}

// medium are the tables in the form of a maintainer.
func (l layout) medium(db records.Server) records.ServerMedium {
	return records.ServerMedium{DB: db, Schema: l.schema, Tables: scanned, Columns: l.have, Vectors: []string{"embedding"}, Clean: l.orphans, SideRows: l.sideRows, Tell: l.mentions, Blob: readable, Unread: l.unread,
		Outside: "write-ahead log, replicas, base backups, dumps, LangSmith"}
}

// readTypes are the serialisations that show their texts. An encrypted one has the cipher behind a plus.
var readTypes = []string{"json", "msgpack", "pickle", "bytes", "bytearray", "null", "empty", ""}

// unread counts the values that may hold a text and show none: of another serialisation, or compressed (gzip,
// zlib, zstd).
func (l layout) unread(tx records.Tx) (map[string]string, error) {
	why := map[string]string{}
	for _, t := range []string{"checkpoint_writes", "checkpoint_blobs"} {
		if !l.has(t) {
			continue
		}
		var n int64
		_, err := records.One(tx, `SELECT count(*) FROM `+l.table(t)+` WHERE octet_length(blob) > 0 AND (COALESCE(type, '') <> ALL(?)
			OR substring(blob FOR 2) IN ('\x1f8b', '\x789c', '\x78da') OR substring(blob FOR 4) = '\x28b52ffd')`, []any{readTypes}, &n)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			why[t] = fmt.Sprintf("values that are encrypted, compressed or of an unknown serialisation: %d; read them with the program that wrote them, or forget their threads", n)
		}
	}
	return why, nil
}

// orphans removes the rows that an interrupted deletion of a thread left, and other rows without an owner
// that name the subject. Rows of a removed thread go with it, and are not asked about.
func (l layout) orphans(tx records.Tx, req model.ScrubRequest, may func(string) bool) (map[string]int64, error) {
	done := map[string]int64{}
	for _, t := range []string{"checkpoint_writes", "checkpoint_blobs"} {
		if req.Dry || !l.has(t) || !l.has("checkpoints") {
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
	return done, l.dropNamed(tx, req.Concerns, may, done)
}

// ownerless are rows whose thread or value is gone; group names it, and text is bytes of the row.
type ownerless struct{ table, group, text, where string }

func (l layout) ownerless() (out []ownerless) {
	for _, t := range []string{"checkpoint_writes", "checkpoint_blobs"} {
		if l.has(t) && l.has("checkpoints") {
			out = append(out, ownerless{t, "b.thread_id", "b.blob", `NOT EXISTS (SELECT 1 FROM ` + l.table("checkpoints") + ` c WHERE c.thread_id = b.thread_id)`})
		}
	}
	if ns, _ := l.namespace(); l.has("store") && l.has("store_vectors") {
		out = append(out, ownerless{"store_vectors", sqlKey("b", ns), `convert_to((to_jsonb(b) - 'embedding')::text, 'UTF8')`,
			`NOT EXISTS (SELECT 1 FROM ` + l.table("store") + ` s WHERE s.` + ns + ` = b.` + ns + ` AND s.key = b.key)`})
	}
	return out
}

// dropNamed removes the ownerless rows of every thread and value that the subject is named in.
func (l layout) dropNamed(tx records.Tx, concerns func([]byte) bool, may func(string) bool, done map[string]int64) error {
	if concerns == nil {
		return nil
	}
	named := map[string]bool{}
	for _, o := range l.ownerless() {
		err := tx.Each(`SELECT `+o.group+`, `+o.text+` FROM `+l.table(o.table)+` b WHERE `+o.where, nil, func(scan func(...any) error) error {
			var group string
			var text []byte
			err := scan(&group, &text)
			if err == nil && !named[group] && (concerns([]byte(group)) || concerns([]byte(readable(text)))) {
				named[group] = true
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	groups := slices.Collect(maps.Keys(named))
	for _, o := range l.ownerless() {
		these := ` FROM ` + l.table(o.table) + ` AS b WHERE ` + o.where + ` AND ` + o.group + ` = ANY(?)`
		var n int64
		if _, err := records.One(tx, `SELECT count(*)`+these, []any{groups}, &n); err != nil {
			return err
		}
		if n == 0 || !may(o.table) {
			continue
		}
		n, err := tx.Exec(`DELETE`+these, groups)
		if err != nil {
			return err
		}
		done[o.table] += n
	}
	return nil
}

// sideRows lists the rows of conversations as the scan reads them: msgpack, older versions, other channels and
// pending writes, which the item's text does not show; and so those of values on hold, or of all, with their vectors.
func (l layout) sideRows(tx records.Tx, req model.ScrubRequest) error {
	tell := func(layer, id, row string) {
		req.SideRows(model.SideRow{Layer: layer, Of: []string{id}, Cells: []model.SideCell{{Text: row, Words: row}}})
	}
	for _, t := range checkpointTables {
		if err := l.eachRow(tx, t, func(id, row string) { tell(t, id, row) }); err != nil {
			return err
		}
	}
	ns, sep := l.namespace()
	keys, all := []string{}, req.Concerns != nil
	for _, id := range req.Held {
		if key, ok := keyOf(id, sep); ok && !strings.HasPrefix(id, "thread/") {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 && !all {
		return nil
	}
	for _, t := range []string{"store", "store_vectors"} {
		key := sqlKey("b", ns)
		if err := l.each(tx, t, key, ` WHERE ? OR `+key+` = ANY(?)`, []any{all, keys}, func(key, row string) { tell(t, idOf(key, sep), row) }); err != nil {
			return err
		}
	}
	return nil
}

func (l layout) eachRow(tx records.Tx, table string, yield func(id, row string)) error {
	return l.each(tx, table, "thread_id", "", nil, func(thread, row string) { yield("thread/"+records.Escape(thread), row) })
}

// each reads a table's rows b without their vectors.
func (l layout) each(tx records.Tx, table, key, where string, args []any, yield func(key, row string)) error {
	if !l.has(table) {
		return nil
	}
	var columns []string
	blob := `NULL::bytea`
	for _, c := range l.have[table] {
		if c == "blob" {
			blob = c
		} else if c != "embedding" {
			columns = append(columns, "b."+pgx.Identifier{c}.Sanitize()+`::text`)
		}
	}
	return tx.Each(`SELECT `+key+`, concat_ws(chr(9), `+strings.Join(columns, `, `)+`), `+blob+` FROM `+l.table(table)+` b`+where, args, func(scan func(...any) error) error {
		var key, row string
		var blob []byte
		err := scan(&key, &row, &blob)
		if err == nil {
			yield(key, row+"\t"+readable(blob))
		}
		return err
	})
}

// mentions names the conversations whose rows name the subject.
func (l layout) mentions(tx records.Tx, concerns func([]byte) bool) (map[string]string, error) {
	why := map[string]string{}
	for _, t := range checkpointTables {
		named := map[string]bool{}
		err := l.eachRow(tx, t, func(id, row string) {
			if !named[id] && concerns([]byte(row)) {
				named[id] = true
			}
		})
		if err != nil {
			return nil, err
		}
		if ids := slices.Sorted(maps.Keys(named)); len(ids) > 0 {
			why[t] = "rows of these conversations name the person: " + snippet.Names(ids, 10) + "; no part of one can be edited: forget each as a whole, then run this again"
		}
	}
	return why, nil
}

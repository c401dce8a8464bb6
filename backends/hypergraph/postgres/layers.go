package postgres

import (
	"context"
	"fmt"
	"strings"

	"memdesk/model"
)

// Maintainer shows and cleans the storage beneath the items on the server. The role decides how much: a
// superuser may read files, the owner of the tables may rewrite them.
func (s *Store) Maintainer() model.Maintainer { return maintainer{s} }

type maintainer struct{ s *Store }

// The layers that are not tables of the schema.
const (
	layerStatistics = "statistics"
	layerWAL        = "wal"
	layerLog        = "server log"
	layerNotify     = "notifications"
)

// onlySuperuser says why a file's bytes are not shown.
const onlySuperuser = "only a superuser may read the server's files"

// SearchSQL searches the files of every table, index and overflow table of the schema for one identifier,
// psql's variable id; a superuser runs it after a CHECKPOINT. found is f in every row where no trace is left.
const SearchSQL = `SELECT c.oid::regclass AS file, position(convert_to(:'id', 'UTF8') IN pg_read_binary_file(pg_relation_filepath(c.oid))) > 0 AS found ` +
	`FROM pg_class c WHERE pg_relation_filepath(c.oid) IS NOT NULL AND (c.relnamespace = 'memdesk'::regnamespace ` +
	`OR c.oid IN (SELECT reltoastrelid FROM pg_class WHERE relnamespace = 'memdesk'::regnamespace));`

// askSuperuser is the advice for files that this role cannot read (erasure-physical.md, PostgreSQL).
const askSuperuser = "a superuser, once: put a superuser's connection string where the store's dsn_env or dsn_file points, and memdesk rewrites and looks itself. " +
	"To look by hand before, in psql as superuser, for each identifier: \\set id 'THE IDENTIFIER'  CHECKPOINT;  " + SearchSQL + "  found has to be f in every row"

// hide says of the layers of tables which role may read their files, and the commands to run.
func hide(layers []model.Layer) {
	for i := range layers {
		l := &layers[i]
		table, _, _ := strings.Cut(l.ID, " (")
		l.Reason = fmt.Sprintf("%s: a superuser runs VACUUM (FULL, ANALYZE) memdesk.%s; CHECKPOINT; and looks", onlySuperuser, table)
		l.Readable, l.Advice = false, askSuperuser
	}
}

// relation is one server file with pages of a layer.
type relation struct {
	layer, table, path string
	bytes              int64
	owner              bool // the role may rewrite it
}

// relations are the tables of the schema with their partitions, TOAST and indexes; they hold the rows
// of every workspace.
const relations = `WITH RECURSIVE mine AS (
		SELECT c.oid, c.oid AS root FROM pg_class c
		WHERE c.relnamespace = to_regnamespace('memdesk') AND c.relkind IN ('r', 'p', 'm') AND NOT c.relispartition
		UNION SELECT i.inhrelid, m.root FROM mine m JOIN pg_inherits i ON i.inhparent = m.oid
	), toast AS (
		SELECT m.root, c.reltoastrelid AS oid FROM mine m JOIN pg_class c ON c.oid = m.oid WHERE c.reltoastrelid <> 0
	), files AS (
		SELECT root, oid, '' AS part FROM mine
		UNION ALL SELECT m.root, i.indexrelid, ' (indexes)' FROM mine m JOIN pg_index i ON i.indrelid = m.oid
		UNION ALL SELECT root, oid, ' (toast)' FROM toast
		UNION ALL SELECT t.root, i.indexrelid, ' (toast)' FROM toast t JOIN pg_index i ON i.indrelid = t.oid
	)
	SELECT c.relname || f.part, c.relname, pg_relation_filepath(f.oid), COALESCE(pg_relation_size(f.oid), 0), pg_has_role(c.relowner, 'USAGE')
	FROM files f JOIN pg_class c ON c.oid = f.root WHERE pg_relation_filepath(f.oid) IS NOT NULL ORDER BY 1, 3`

// samples are the catalogue's tables that hold values of sampled rows, for the whole database.
const samples = `SELECT 'statistics', 'pg_statistic', pg_relation_filepath(f.oid), COALESCE(pg_relation_size(f.oid), 0), false
	FROM pg_class c CROSS JOIN LATERAL (SELECT c.oid UNION ALL SELECT c.reltoastrelid WHERE c.reltoastrelid <> 0) f
	WHERE c.oid IN (to_regclass('pg_catalog.pg_statistic'), to_regclass('pg_catalog.pg_statistic_ext_data')) ORDER BY 3`

// logFiles, walFiles and notifyFiles need a superuser to list them.
const (
	walFiles = `SELECT 'wal', '', 'pg_wal/' || name, size, false FROM pg_ls_waldir() ORDER BY 3`
	logFiles = `SELECT 'server log', '', current_setting('log_directory') || '/' || name, size, false FROM pg_ls_logdir()
		WHERE current_setting('logging_collector') = 'on' ORDER BY 3`
	notifyFiles = `SELECT 'notifications', '', 'pg_notify/' || name, (pg_stat_file('pg_notify/' || name)).size, false FROM pg_ls_dir('pg_notify') name ORDER BY 3`
)

func readRelations(q *query, text string) ([]relation, error) {
	var out []relation
	err := q.Each(text, nil, func(scan func(...any) error) error {
		var r relation
		err := scan(&r.layer, &r.table, &r.path, &r.bytes, &r.owner)
		out = append(out, r)
		return err
	})
	return out, err
}

// grouped makes one layer of the files with the same layer name.
func grouped(files []relation, kind model.LayerKind, readable bool, reason string) []model.Layer {
	var out []model.Layer
	for _, f := range files {
		if n := len(out); n > 0 && out[n-1].ID == f.layer {
			out[n-1].Bytes += f.bytes
			continue
		}
		out = append(out, model.Layer{ID: f.layer, Kind: kind, Bytes: f.bytes, Readable: readable, Reason: reason})
	}
	return out
}

// Layers lists the schema's tables, their TOAST and indexes, the catalogue's samples and the
// write-ahead log, then the layers beyond any scrub, as far as the server shows them. For a superuser,
// pages that are only in memory are written first (CHECKPOINT), so that the files match the tables.
func (m maintainer) Layers(ctx context.Context) ([]model.Layer, error) {
	var out []model.Layer
	err := m.s.ops.read(ctx, "layers", func(q *query) error {
		out = nil
		super, err := m.s.seesFiles(q)
		if err != nil {
			return err
		}
		if super {
			if _, err := q.Exec(`CHECKPOINT`); err != nil {
				return err
			}
		}
		files, err := readRelations(q, relations)
		if err != nil {
			return err
		}
		if out = grouped(files, model.LayerDerived, true, ""); !super {
			hide(out)
		}
		if err := numberLayers(q, &out); err != nil {
			return err
		}
		set, err := settings(q)
		if err != nil {
			return err
		}
		if super {
			err = shownToSuperuser(q, set, &out)
		} else {
			hiddenFromOthers(set, &out)
		}
		if err != nil {
			return err
		}
		if m.s.isDistributed() {
			out = append(out, otherServers())
		}
		return elsewhere(q, set, &out)
	})
	return out, err
}

// seesFiles reports whether the role may read the files that hold the rows.
func (s *Store) seesFiles(q *query) (bool, error) {
	if s.isDistributed() {
		return false, nil
	}
	var super bool
	_, err := q.One(`SELECT current_setting('is_superuser') = 'on'`, nil, &super)
	return super, err
}

// settings are the server's settings that say where texts go; those hidden from the role are missing.
func settings(q *query) (map[string]string, error) {
	out := map[string]string{}
	err := q.Each(`SELECT name, current_setting(name) FROM pg_settings WHERE name IN ('archive_mode', 'checkpoint_timeout', 'max_wal_size', 'log_statement',
		'log_min_duration_statement', 'log_min_error_statement', 'logging_collector', 'log_destination', 'wal_keep_size', 'summarize_wal')`, nil,
		func(scan func(...any) error) error {
			var name, value string
			err := scan(&name, &value)
			out[name] = value
			return err
		})
	return out, err
}

func shownToSuperuser(q *query, set map[string]string, out *[]model.Layer) error {
	for _, l := range []struct {
		files  string
		kind   model.LayerKind
		reason string
	}{
		{samples, model.LayerDerived, ""},
		{walFiles, model.LayerDerived, ""},
		{notifyFiles, model.LayerExternal, "ids of changes told to watchers stay in the server's queue until it has moved on by 256 kB or whoever runs the server restarts it"},
		{logFiles, model.LayerExternal, logReason(set)},
	} {
		files, err := readRelations(q, l.files)
		if err != nil {
			return err
		}
		*out = append(*out, grouped(files, l.kind, true, l.reason)...)
	}
	if set["logging_collector"] != "on" {
		*out = append(*out, model.Layer{ID: layerLog, Kind: model.LayerExternal, Reason: logReason(set)})
	}
	return nil
}

func hiddenFromOthers(set map[string]string, out *[]model.Layer) {
	*out = append(*out,
		model.Layer{ID: layerStatistics, Kind: model.LayerExternal, Reason: statisticsReason},
		model.Layer{ID: layerWAL, Kind: model.LayerExternal, Reason: walReason(set)},
		model.Layer{ID: layerNotify, Kind: model.LayerExternal, Reason: "ids of changes told to watchers stay in the server's queue until it moves on or whoever runs the server restarts it; " + onlySuperuser},
		model.Layer{ID: layerLog, Kind: model.LayerExternal, Reason: logReason(set) + "; " + onlySuperuser})
}

const statisticsReason = "samples of replaced rows stay in pg_statistic until it is vacuumed, and those of a table without a row stay for good: a superuser runs " +
	dropEmpty + "; VACUUM FULL pg_catalog.pg_statistic"

func walReason(set map[string]string) string {
	return fmt.Sprintf("the log of changes can be emptied by a superuser only; the server overwrites it as it goes on: checkpoint_timeout is %s, max_wal_size %s. To hurry, a superuser runs SELECT pg_switch_wal(); CHECKPOINT; three times over",
		set["checkpoint_timeout"], set["max_wal_size"])
}

func logReason(set map[string]string) string {
	words := []string{}
	for _, name := range []string{"log_statement", "log_min_duration_statement", "log_min_error_statement"} {
		words = append(words, name+" is "+set[name])
	}
	where := "goes to " + set["log_destination"] + " of the server's machine"
	if set["logging_collector"] == "on" {
		where = "is kept in files by the server"
	}
	return "the server's log " + where + " and may quote statements and refused rows (" + strings.Join(words, ", ") + "): its rotation removes them. A superuser runs SELECT pg_rotate_logfile(); and whoever runs the machine removes the files before"
}

// elsewhere names the copies that other programs hold or may hold.
func elsewhere(q *query, set map[string]string, out *[]model.Layer) error {
	add := func(id, reason string) {
		*out = append(*out, model.Layer{ID: id, Kind: model.LayerExternal, Reason: reason})
	}
	named := func(text string, words func(name, more string) string) error {
		return q.Each(text, nil, func(scan func(...any) error) error {
			var id, name, more string
			err := scan(&id, &name, &more)
			add(id+" "+name, words(name, more))
			return err
		})
	}
	if err := named(`SELECT 'replication slot', slot_name, CASE WHEN active THEN 'in use' ELSE 'not in use' END FROM pg_replication_slots ORDER BY 2`, func(name, state string) string {
		return fmt.Sprintf("it is %s: what reads it gets every change and keeps its own copy, and the server keeps log until it was read. If nobody needs it, a superuser runs SELECT pg_drop_replication_slot('%s');",
			state, strings.ReplaceAll(name, "'", "''"))
	}); err != nil {
		return err
	}
	if err := named(`SELECT DISTINCT 'replica', application_name, COALESCE(state, '') FROM pg_stat_replication ORDER BY 2`, func(_, _ string) string {
		return "it follows this server with files, log and statistics of its own: scrub what is on its machine there"
	}); err != nil {
		return err
	}
	if err := beside(q, out); err != nil {
		return err
	}
	if set["archive_mode"] != "off" {
		add("archived wal", "archive_mode is "+set["archive_mode"]+": the log is copied to an archive before it is overwritten, and stays there for as long as the archive is kept")
	}
	if set["summarize_wal"] == "on" {
		add("wal summaries", "summarize_wal is on: they hold numbers of blocks, no text")
	}
	var statements bool
	if _, err := q.One(`SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'pg_stat_statements')`, nil, &statements); err != nil {
		return err
	}
	if statements {
		add("pg_stat_statements", "it keeps texts of statements; memdesk's have no values in them, those of other programs may: a superuser runs SELECT pg_stat_statements_reset();")
	}
	add("backups", "dumps, base backups and snapshots of the disk cannot be seen from here: they hold what is erased until they expire")
	return nil
}

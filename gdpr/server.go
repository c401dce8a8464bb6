package gdpr

import (
	"fmt"
	"strings"

	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// serverKind is the kind of a store on a database server, where what is beyond memdesk's
// role is not beyond somebody else's: there the words name who runs what
// (erasure-physical.md, PostgreSQL).
const serverKind = "postgres"

// SearchSQL looks through the files of every table, index and overflow table of a
// server's store for one identifier, psql's variable id; a superuser runs it after a
// CHECKPOINT. found is f in every row where no trace is left.
const SearchSQL = `SELECT c.oid::regclass AS file, position(convert_to(:'id', 'UTF8') IN pg_read_binary_file(pg_relation_filepath(c.oid))) > 0 AS found ` +
	`FROM pg_class c WHERE pg_relation_filepath(c.oid) IS NOT NULL AND (c.relnamespace = 'memdesk'::regnamespace ` +
	`OR c.oid IN (SELECT reltoastrelid FROM pg_class WHERE relnamespace = 'memdesk'::regnamespace));`

// whoRuns says of a layer of a server that memdesk cannot look at or clean what to run,
// and who; empty where there is nothing to run.
func whoRuns(kind string, l model.Layer) string {
	if kind != serverKind {
		return ""
	}
	table, _, _ := strings.Cut(l.ID, " (")
	name := l.ID[strings.LastIndexByte(l.ID, ' ')+1:]
	switch {
	case l.Kind != model.LayerExternal && !l.Readable:
		return fmt.Sprintf("a superuser runs VACUUM (FULL, ANALYZE) memdesk.%s; CHECKPOINT; and looks, as `memdesk gdpr report` says", table)
	case l.Kind != model.LayerExternal:
		return ""
	case l.ID == "wal":
		return "a superuser runs SELECT pg_switch_wal(); CHECKPOINT; three times over"
	case l.ID == "server log":
		return "a superuser runs SELECT pg_rotate_logfile(); and whoever runs the machine removes the files before"
	case l.ID == "notifications":
		return "whoever runs the server restarts it"
	case l.ID == "pg_stat_statements":
		return "a superuser runs SELECT pg_stat_statements_reset();"
	case strings.HasPrefix(l.ID, "replication slot "):
		return fmt.Sprintf("a superuser, if nobody needs it, runs SELECT pg_drop_replication_slot('%s');", strings.ReplaceAll(name, "'", "''"))
	case strings.HasPrefix(l.ID, "materialized view "):
		return fmt.Sprintf("its owner runs REFRESH MATERIALIZED VIEW %s; VACUUM FULL %s;", name, name)
	}
	return ""
}

// withWho adds that to a layer's reason.
func withWho(kind string, l model.Layer) string {
	who := whoRuns(kind, l)
	switch {
	case who == "":
		return l.Reason
	case l.Reason == "":
		return who
	}
	return l.Reason + ": " + who
}

// unseenOnServer is what there is to do about the layers of a server's store that only a
// superuser may look at, said once for all of them.
func unseenOnServer(out Outcome, plan string) []receipt.Left {
	var all []receipt.Left
	for _, s := range out.Stores {
		if s.Kind != serverKind {
			continue
		}
		n := 0
		for _, l := range out.Layers {
			if l.Store == s.Store && l.Verdict == model.VerdictUnaudited && strings.Contains(l.Reason, "a superuser runs ") {
				n++
			}
		}
		if n == 0 {
			continue
		}
		all = append(all, receipt.Left{Store: s.Store, Verdict: model.VerdictUnaudited,
			Reason: fmt.Sprintf("%d of its layers are files of the server, which only a superuser of the database may look at", n),
			Do: "a superuser, once: put a superuser's connection string where the store's dsn_env or dsn_file points, then " + plan + " and carry that plan out; memdesk rewrites and looks itself, and the receipt needs that. " +
				"To look by hand before, in psql as superuser, for each identifier: \\set id 'THE IDENTIFIER'  CHECKPOINT;  " + SearchSQL + "  found has to be f in every row"})
	}
	return all
}

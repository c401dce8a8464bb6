// Package mastra opens the memory of Mastra's agents in a libSQL file: threads, messages, working memory and
// observations (mastra.md). It never changes the schema, and the owner's program keeps working beside it.
package mastra

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"memdesk/backends/internal/litefile"
	"memdesk/backends/internal/unreached"
	"memdesk/backends/records"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Kind is the kind's name in a configuration.
const Kind = "mastra"

// Config says which file to open and how.
type Config struct {
	Name     string
	Path     string
	ReadOnly bool
	Clock    clock.Clock
}

// needed are the columns without which a file is not of this kind, and usual those of every version so far: a
// file that lacks one is opened read-only (MA1).
var (
	needed = map[string][]string{"mastra_threads": {"id", "resourceId"}, "mastra_messages": {"id", "thread_id", "content"}}
	usual  = map[string][]string{"mastra_threads": {"title", "metadata", "createdAt", "updatedAt"}, "mastra_messages": {"role", "type", "createdAt"}}
)

// optional are tables that older files may lack.
var optional = map[string][]string{
	"mastra_resources": {"id", "workingMemory", "metadata", "createdAt", "updatedAt"},
	"mastra_observational_memory": {"id", "lookupKey", "scope", "resourceId", "threadId", "activeObservations", "generationCount",
		"isObserving", "isReflecting", "isBufferingObservation", "isBufferingReflection", "bufferedObservations", "bufferedObservationChunks", "createdAt", "updatedAt"},
	"mastra_thread_state": {"threadId", "type", "value"},
}

// items are the tables of items, with the columns that the items are made of.
var items = map[string][]string{
	"mastra_threads":              append(slices.Clone(needed["mastra_threads"]), usual["mastra_threads"]...),
	"mastra_messages":             append(append(slices.Clone(needed["mastra_messages"]), usual["mastra_messages"]...), "resourceId"),
	"mastra_resources":            optional["mastra_resources"],
	"mastra_observational_memory": optional["mastra_observational_memory"],
}

// layout says which optional parts a file has.
type layout struct {
	owner, resources, observations, state bool     // owner: messages carry resourceId
	observed                              bool     // observation records name their source messages
	without                               []string // usual columns that are missing
	vectors                               []string
}

// Open opens the file. InvalidInput for one without threads and messages of Mastra's; one that lacks a column
// is opened read-only, with the reason.
func Open(ctx context.Context, c Config) (model.Store, error) {
	f, err := litefile.Open(c.Path, c.ReadOnly)
	if err != nil {
		return model.Store{}, err
	}
	db := records.Lite{File: f}
	var has layout
	reason := f.ReadOnlyReason()
	err = db.View(ctx, "open", func(tx records.Tx) error {
		missing, err := records.Missing(tx, needed)
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			return model.Errorf(model.InvalidInput, "open", "%q is no memory of Mastra's: it lacks %s", f.Name, strings.Join(missing, ", "))
		}
		has, reason, err = look(tx, reason)
		return err
	})
	if err == nil {
		err = f.GuardTriggers(ctx, nil)
	}
	if err != nil {
		_ = f.Close() // the first error counts
		return model.Store{}, f.Explain(err)
	}
	return records.New(records.Config{
		Name: c.Name, Kind: Kind, Location: c.Path, DB: db, Tables: has.tables(), ReadOnlyReason: cmp.Or(reason, f.ReadOnlyReason()), Clock: c.Clock,
		Notes: []string{"an agent that runs keeps working memory and recent messages in its own memory: it can write over a change made meanwhile",
			"an erasure takes the workflow snapshots of the person: a run that is suspended then cannot resume"},
		Concerning: has.concerning, Observe: has.observe,
		Maintainer: litefile.Media{litefile.Medium{
			File: f, Items: items,
			Tied: []string{"threadId", "thread_id"}, Raw: threadKey, Owners: []string{"resourceId", "userId"}, OwnedRows: vectorRows(has, ownedVector), TiedRows: vectorRows(has, tiedVector), Own: ownRow, Edited: true, Leads: map[string]string{
				"threadId": `threadId IN (SELECT id FROM mastra_threads)`, "thread_id": `thread_id IN (SELECT id FROM mastra_threads)`, "lookupKey": `lookupKey IN (SELECT 'thread:' || id FROM mastra_threads)`},
		}, unreached.Named("vectors in other files, tracing services, backups", "they lie outside of this file: what Mastra wrote or exported there is erased where it lies")},
	}), nil
}

const unknown = "the file's version is not known: it lacks "

// column is a usual column of the table's row m; empty text where the table lacks it.
func (l layout) column(table, name string) string {
	if slices.Contains(l.without, table+"."+name) {
		return "''"
	}
	return "m." + name
}

// look reads which optional tables exist. One that lacks a column makes the store read-only (MA1).
func look(tx records.Tx, reason string) (layout, string, error) {
	var has layout
	lacks := func(missing []string) bool {
		if len(missing) > 0 && reason == "" {
			reason = unknown + strings.Join(missing, ", ")
		}
		return len(missing) > 0
	}
	var err error
	if has.without, err = records.Missing(tx, usual); err != nil {
		return has, reason, err
	}
	lacks(has.without)
	for _, t := range []struct { // in order: the first that lacks a column is the reason
		table  string
		usable *bool
	}{{"mastra_resources", &has.resources}, {"mastra_observational_memory", &has.observations}, {"mastra_thread_state", &has.state}} {
		if there, err := records.Columns(tx, t.table); err != nil || len(there) == 0 {
			if err != nil {
				return has, reason, err
			}
			continue
		}
		missing, err := records.Missing(tx, map[string][]string{t.table: optional[t.table]})
		if err != nil {
			return has, reason, err
		}
		*t.usable = !lacks(missing)
	}
	if has.owner, err = hasColumn(tx, "mastra_messages", "resourceId"); err == nil {
		has.observed, err = hasColumn(tx, "mastra_observational_memory", "observedMessageIds")
	}
	if err == nil {
		has.vectors, err = litefile.Texts(tx, `SELECT t.name FROM sqlite_master t WHERE t.type = 'table' AND 2 = (SELECT count(*) FROM pragma_table_info(t.name) c WHERE c.name IN ('vector_id', 'metadata'))`)
	}
	return has, reason, err
}

func hasColumn(tx records.Tx, table, column string) (bool, error) {
	missing, err := records.Missing(tx, map[string][]string{table: {column}})
	return len(missing) == 0, err
}

// The condition of rows of Mastra's vector tables in this file whose metadata names a resource, and the thread and the
// message that it names: redacting a text would leave its vector.
const ownedVector = `json_valid(metadata) AND ? IN (json_extract(metadata, '$.resource_id'), json_extract(metadata, '$.resourceId'))`

var tiedVector = []string{
	`CASE WHEN json_valid(metadata) THEN 'thread/' || COALESCE(json_extract(metadata, '$.thread_id'), json_extract(metadata, '$.threadId')) END`,
	`CASE WHEN json_valid(metadata) THEN 'message/' || json_extract(metadata, '$.message_id') END`,
}

// vectorRows says the same of the rows of each vector table.
func vectorRows[T any](l layout, of T) map[string]T {
	out := map[string]T{}
	for _, table := range l.vectors {
		out[table] = of
	}
	return out
}

// threadKey is the raw id of a thread's item.
func threadKey(_, id string) (string, bool) {
	raw, ok := strings.CutPrefix(id, "thread/")
	if !ok {
		return "", false
	}
	return records.Unescape(raw)
}

var ownRow = records.OwnRow(map[string]string{
	"thread/": "mastra_threads", "message/": "mastra_messages", "resource/": "mastra_resources", "observation/": "mastra_observational_memory"})

// concerning finds a resource's own rows: by resourceId, by threads of the resource, and by the lookup key of
// observations (MA8).
func (l layout) concerning(tx records.Tx, subjects []string, yield func(id, subject, reason string)) error {
	for _, s := range subjects {
		for _, q := range l.owned() {
			args := slices.Repeat([]any{s}, strings.Count(q.sql, "?"))
			ids, err := records.IDs(tx, q.prefix, `SELECT id FROM (`+q.sql+`) WHERE id IS NOT NULL`, args...)
			if err != nil {
				return err
			}
			for _, id := range ids {
				yield(id, s, q.reason)
			}
		}
	}
	return nil
}

// observedThread is the thread of an observation record; NULL for a resource's record.
const observedThread = `COALESCE(threadId, CASE WHEN lookupKey LIKE 'thread:%' THEN substr(lookupKey, 8) END)`

type ownedBy struct{ prefix, reason, sql string }

func (l layout) owned() []ownedBy {
	const mine = `(SELECT id FROM mastra_threads WHERE resourceId = ?)`
	out := []ownedBy{{"thread/", "its resourceId", `SELECT id FROM mastra_threads WHERE resourceId = ?`}}
	if l.owner {
		out = append(out, ownedBy{"message/", "its resourceId", `SELECT id FROM mastra_messages WHERE resourceId = ?`},
			ownedBy{"message/", "in a thread of the person", `SELECT id FROM mastra_messages WHERE resourceId IS NULL AND thread_id IN ` + mine})
	} else {
		out = append(out, ownedBy{"message/", "in a thread of the person", `SELECT id FROM mastra_messages WHERE thread_id IN ` + mine})
	}
	if l.resources {
		out = append(out, ownedBy{"resource/", "its id", `SELECT id FROM mastra_resources WHERE id = ?`})
	}
	if l.observations {
		out = append(out, ownedBy{"observation/", "its resourceId", `SELECT id FROM mastra_observational_memory WHERE resourceId = ? OR lookupKey = 'resource:' || ?`},
			ownedBy{"observation/", "of a thread of the person", `SELECT id FROM mastra_observational_memory WHERE ` + observedThread + ` IN ` + mine})
	}
	return out
}

// observe reports problems that the owner's own tools do not (MA7).
func (l layout) observe(tx records.Tx) ([]model.HealthFinding, error) {
	var out []model.HealthFinding
	add := func(kind, ref, format string, args ...any) {
		out = append(out, records.Finding(kind, ref, fmt.Sprintf(format, args...)))
	}
	type check struct {
		sql string
		say func(key, more string)
	}
	checks := []check{
		{`SELECT id, thread_id FROM mastra_messages WHERE thread_id NOT IN (SELECT id FROM mastra_threads)`,
			func(key, more string) {
				add("orphan", "message/"+records.Escape(key), "the message's thread %.200q is gone", more)
			}},
		{`SELECT id, '' FROM mastra_messages WHERE NOT json_valid(content)`,
			func(key, _ string) {
				add("unreadable", "message/"+records.Escape(key), "the message's content is not JSON: the program cannot read it")
			}},
	}
	if l.observations {
		checks = append(checks,
			check{`SELECT id, ` + observedThread + ` FROM mastra_observational_memory WHERE ` + observedThread + ` NOT IN (SELECT id FROM mastra_threads)`,
				func(key, more string) {
					add("orphan", "observation/"+records.Escape(key), "the observations outlived their thread %.200q", more)
				}},
			check{`SELECT id, '' FROM mastra_observational_memory WHERE (isObserving <> 0 OR isReflecting <> 0) AND updatedAt < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 hour')`,
				func(key, _ string) {
					add("stuck", "observation/"+records.Escape(key), "it is marked as being observed or reflected for more than an hour")
				}})
	}
	if l.resources {
		checks = append(checks, check{`SELECT id, '' FROM mastra_resources WHERE id NOT IN (SELECT resourceId FROM mastra_threads)`,
			func(key, _ string) {
				add("orphan", "resource/"+records.Escape(key), "working memory of a resource without a thread")
			}})
	}
	for _, c := range checks {
		err := tx.Each(c.sql+` AND id IS NOT NULL ORDER BY 1`, nil, func(scan func(...any) error) error {
			var key, more string
			err := scan(&key, &more)
			c.say(key, more)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for _, kept := range [][2]string{{"mastra_ai_spans", "startedAt"}, {"mastra_scorers", "createdAt"}} {
		table, column := kept[0], kept[1]
		if there, err := hasColumn(tx, table, column); err != nil || !there {
			if err != nil {
				return nil, err
			}
			continue
		}
		var n int64
		var oldest string
		if _, err := records.One(tx, `SELECT count(*), COALESCE(CAST(min(`+column+`) AS TEXT), '') FROM `+table+` WHERE `+column+` < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-90 days')`, nil, &n, &oldest); err != nil {
			return nil, err
		}
		if n > 0 {
			add("kept", "", "%d rows of %s are older than 90 days, the oldest of %.10s: they repeat what was said, and nothing deletes them", n, table, oldest)
		}
	}
	return out, nil
}

package demodata

import (
	"crypto/md5"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"
)

// schemas are the tables of other programs, as those make them.
//
//go:embed schema/*.sql
var schemas embed.FS

// milli is how the JavaScript programs write a time.
const milli = "2006-01-02T15:04:05.000Z"

// fileOf makes a database with a program's tables and hands it to fill.
func fileOf(path, schema string, fill func(*sql.Tx) error) (err error) {
	text, err := schemas.ReadFile("schema/" + schema + ".sql")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := db.Close(); err == nil {
			err = cerr
		}
	}()
	if _, err := db.Exec(string(text)); err != nil {
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	if err := fill(tx); err != nil {
		_ = tx.Rollback() // the first error is the one that counts
		return err
	}
	return tx.Commit()
}

// seedMemoryFile writes what an assistant noted through the official memory server.
func seedMemoryFile(path string, now time.Time) error {
	t := &tree{root: filepath.Dir(path)}
	t.write(filepath.Base(path), `{"type":"entity","name":"Evening boat","entityType":"boat","observations":["leaves pier 5 an hour before high water","takes at most 40 crates"]}
{"type":"entity","name":"Pier 5","entityType":"place","observations":["the yard","dries out at springs"]}
{"type":"entity","name":"Oven 1","entityType":"machine","observations":["runs 4 degrees hot","rye needs 12 minutes more\nthan the card says"]}
{"type":"relation","from":"Evening boat","to":"Pier 5","relationType":"leaves from"}`, now.Add(-26*time.Hour))
	return t.err
}

// seedChats writes conversations of the web shop's agent, as Mastra keeps them.
func seedChats(path string, now time.Time) error {
	return fileOf(path, "mastra", func(tx *sql.Tx) error {
		at := func(days int) string { return now.AddDate(0, 0, -days).Format(milli) }
		for i, c := range []struct{ who, title, asked, answered string }{
			{"shop_inga", "Bread for a christening", "Can you bring 60 rolls to pier 7 on Sunday?", "Sunday boats leave at eight. 60 rolls fit in one crate."},
			{"shop_olav", "Wrong crate", "The crate had somebody else's name on it.", "I have asked the yard. The next boat brings yours."},
			{"shop_olav", "Opening hours", "Is the yard open on the holiday?", "Until noon."},
		} {
			thread, day := fmt.Sprintf("chat-%d", i+1), at(20-6*i)
			if _, err := tx.Exec(`INSERT INTO mastra_threads VALUES (?, ?, ?, NULL, ?, ?)`, thread, c.who, c.title, day, day); err != nil {
				return err
			}
			for j, text := range []string{c.asked, c.answered} {
				content, err := json.Marshal(map[string]any{"format": 2, "parts": []any{map[string]string{"type": "text", "text": text}}, "content": text})
				if err != nil {
					return err
				}
				if _, err := tx.Exec(`INSERT INTO mastra_messages VALUES (?, ?, ?, ?, 'v2', ?, ?)`, fmt.Sprintf("%s-%d", thread, j+1), thread, string(content), []string{"user", "assistant"}[j], day, c.who); err != nil {
					return err
				}
			}
		}
		_, err := tx.Exec(`INSERT INTO mastra_resources VALUES ('shop_olav', ?, NULL, ?, ?)`, "# Customer\n- pier 2\n- pays on account\n", at(8), at(8))
		return err
	})
}

// seedPreferences writes what the shop remembers of its customers, as mem0 keeps it.
func seedPreferences(dir string, now time.Time) error {
	type memory struct{ id, user, text string }
	memories := []memory{
		{"6a1f5b1c-93c8-4d4e-8a55-0a4f1d5b7c01", "shop_inga", "Inga orders rolls, never rye"},
		{"6a1f5b1c-93c8-4d4e-8a55-0a4f1d5b7c02", "shop_inga", "Inga's boat lies at pier 7"},
		{"6a1f5b1c-93c8-4d4e-8a55-0a4f1d5b7c03", "shop_olav", "Olav wants his invoice by post"},
	}
	at := now.AddDate(0, 0, -11).Format(milli)
	err := fileOf(filepath.Join(dir, "vector_store.db"), "mem0", func(tx *sql.Tx) error {
		for _, m := range memories {
			sum := md5.Sum([]byte(m.text))
			payload := fmt.Sprintf(`{"user_id":%q,"data":%q,"hash":%q,"createdAt":%q,"updatedAt":%q}`, m.user, m.text, hex.EncodeToString(sum[:]), at, at)
			if _, err := tx.Exec(`INSERT INTO vectors VALUES (?, ?, ?)`, m.id, []byte{0, 0, 128, 63, 0, 0, 0, 63}, payload); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return fileOf(filepath.Join(dir, "memory.db"), "mem0-history", func(tx *sql.Tx) error {
		for _, m := range memories {
			if _, err := tx.Exec(`INSERT INTO memory_history (memory_id, new_value, action, created_at) VALUES (?, ?, 'ADD', ?)`, m.id, m.text, at); err != nil {
				return err
			}
		}
		_, err := tx.Exec(`INSERT INTO messages VALUES ('said-1', 'user_id=shop_olav', 'user', 'Please send the invoice by post.', NULL, ?)`, at)
		return err
	})
}

// seedSessions writes what a coding agent noted, as Engram keeps it.
func seedSessions(path string, now time.Time) error {
	return fileOf(path, "engram", func(tx *sql.Tx) error {
		at := now.AddDate(0, 0, -5).Format(time.DateTime)
		if _, err := tx.Exec(`INSERT INTO sessions VALUES ('tides-1', 'tides', '/srv/tides', ?, ?, 'The tide table is read once a day.')`, at, at); err != nil {
			return err
		}
		for _, o := range [][3]string{
			{"decision", "Tide table is cached", "The table changes once a year: reading it per route took 40 ms of 55."},
			{"bugfix", "Neap tides were a day late", "The offset was added twice. The test now covers a whole month."},
		} {
			if _, err := tx.Exec(`INSERT INTO observations (session_id, type, title, content, project, created_at, updated_at) VALUES ('tides-1', ?, ?, ?, 'tides', ?, ?)`, o[0], o[1], o[2], at, at); err != nil {
				return err
			}
		}
		_, err := tx.Exec(`INSERT INTO user_prompts (session_id, content, project, created_at) VALUES ('tides-1', 'Why is the route planner slow at neaps?', 'tides', ?)`, at)
		return err
	})
}

// seedProject writes the memory of a Claude Code project.
func seedProject(dir string, now time.Time) error {
	t := &tree{root: dir}
	at := now.AddDate(0, 0, -3)
	t.write("MEMORY.md", "- [Tide tables](tide-tables.md) — where they come from\n- [Releases](releases.md) — who may make one\n", at)
	t.write("tide-tables.md", "---\nname: tide-tables\ndescription: where the tables come from\ntype: reference\n---\nThe harbour office sends them in November. Check the time zone.\n", at)
	t.write("releases.md", "---\nname: releases\ndescription: who may make one\ntype: project\n---\nThe platform crew, not on Fridays.\n", at)
	return t.err
}

// seedClaw writes the workspace of an OpenClaw agent and the index that says who wrote what.
func seedClaw(dir string, now time.Time) error {
	t := &tree{root: dir}
	at := now.AddDate(0, 0, -2)
	day := at.Format(time.DateOnly)
	t.write("openclaw.json", "{agents: {defaults: {workspace: 'workspace'}}}\n", at)
	t.write("workspace/AGENTS.md", "Keep notes short. Ask before anything leaves the yard.\n", at)
	notes := []struct{ id, path, text, class string }{
		{"c1", "MEMORY.md", "# Long term\n\n- The pump at pier 5 is primed by hand.\n- Deliveries are unloaded from the left.\n", "owner"},
		{"c2", "USER.md", "Reads reports in the evening. Wants numbers, not adjectives.\n", "owner"},
		{"c3", "memory/" + day + ".md", "Checked the forecast: wind from the north-west until Thursday.\n", "agent"},
		{"c4", "memory/" + day + "-supplier-page.md", "Copied from a supplier's page: seals last four seasons in salt water.\n", "untrusted"},
	}
	for _, n := range notes {
		t.write("workspace/"+n.path, n.text, at)
	}
	if t.err != nil {
		return t.err
	}
	return fileOf(filepath.Join(dir, "agents", "main", "agent", "openclaw-agent.sqlite"), "openclaw", func(tx *sql.Tx) error {
		for _, n := range notes {
			sum := sha256.Sum256([]byte(n.text))
			hash := hex.EncodeToString(sum[:])
			for _, row := range []struct {
				text string
				args []any
			}{
				{`INSERT INTO memory_index_sources (path, source, hash, mtime, size) VALUES (?, 'memory', ?, ?, ?)`, []any{n.path, hash, float64(at.UnixMilli()), len(n.text)}},
				{`INSERT INTO memory_index_chunks VALUES (?, ?, 'memory', 1, ?, ?, 'none', ?, x'0000', ?)`, []any{n.id, n.path, strings.Count(n.text, "\n"), hash, n.text, at.UnixMilli()}},
				{`INSERT INTO memory_index_chunks_fts VALUES (?, ?, ?)`, []any{n.text, n.id, n.path}},
				{`INSERT INTO memory_index_chunk_provenance VALUES (?, ?, 'interactive', ?, NULL)`, []any{n.id, n.class, at.Unix()}},
			} {
				if _, err := tx.Exec(row.text, row.args...); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

package records_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"memdesk/backends/records/engram"
	"memdesk/backends/records/mastra"
	"memdesk/backends/records/mcpgraph"
	"memdesk/backends/records/mem0"
	"memdesk/model"
)

// sizes are the numbers of items in a store; the second only with MEMDESK_SOAK.
func sizes() []int {
	if os.Getenv("MEMDESK_SOAK") == "" {
		return []int{1000}
	}
	return []int{1000, 100_000}
}

// bench is a kind with rows, and its owner's statements without memdesk.
type bench struct {
	name, schema string
	fill         string // one statement with `?` for the number of rows; the first 100 are ada's
	open         func(ctx context.Context, path string) (model.Store, error)
	id           func(i int) string
	page, recall string // statements
	edit, erase  string
}

const numbers = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?) `

var benches = []bench{
	{"mastra", "mastra", numbers + `INSERT INTO mastra_messages SELECT printf('m%07d', i), 't', json_object('format', 2, 'parts', json_array(json_object('type', 'text', 'text', 'note ' || i || ' about the tide' || CASE i % 997 WHEN 5 THEN ' herring' ELSE '' END))), 'user', 'v2', '2026-01-01T00:00:00.000Z', CASE WHEN i < 100 THEN 'ada' ELSE 'brin' END FROM n`,
		func(ctx context.Context, p string) (model.Store, error) {
			return mastra.Open(ctx, mastra.Config{Path: p})
		},
		func(i int) string { return fmt.Sprintf("message/m%07d", i) },
		`SELECT id, content FROM mastra_messages ORDER BY id LIMIT 20`, `SELECT id, content FROM mastra_messages WHERE content LIKE '%herring%'`,
		`UPDATE mastra_messages SET content = json_set(content, '$.parts[0].text', ?) WHERE id = 'm0000150'`, `DELETE FROM mastra_messages WHERE resourceId = 'ada'`},
	{"mem0", "mem0", numbers + `INSERT INTO vectors SELECT printf('m%07d', i), x'0000803f', json_object('user_id', CASE WHEN i < 100 THEN 'ada' ELSE 'brin' END, 'data', 'note ' || i || ' about the tide' || CASE i % 997 WHEN 5 THEN ' herring' ELSE '' END) FROM n`,
		func(ctx context.Context, p string) (model.Store, error) { return mem0.Open(ctx, mem0.Config{Path: p}) },
		func(i int) string { return fmt.Sprintf("m%07d", i) },
		`SELECT id, payload FROM vectors ORDER BY id LIMIT 20`, `SELECT id, payload FROM vectors WHERE payload LIKE '%herring%'`,
		`UPDATE vectors SET payload = json_set(payload, '$.data', ?) WHERE id = 'm0000150'`, `DELETE FROM vectors WHERE json_extract(payload, '$.user_id') = 'ada'`},
	{"engram", "engram", numbers + `INSERT INTO observations (id, session_id, type, title, content, project) SELECT i + 1, 's', 'note', 'note ' || i, 'about the tide' || CASE i % 997 WHEN 5 THEN ' herring' ELSE '' END, CASE WHEN i < 100 THEN 'ada' ELSE 'brin' END FROM n`,
		func(ctx context.Context, p string) (model.Store, error) {
			return engram.Open(ctx, engram.Config{Path: p})
		},
		func(i int) string { return fmt.Sprintf("observation/%d", i+1) },
		`SELECT id, content FROM observations ORDER BY id LIMIT 20`, `SELECT o.id, o.content FROM observations_fts f JOIN observations o ON o.id = f.rowid WHERE observations_fts MATCH 'herring'`,
		`UPDATE observations SET content = ? WHERE id = 151`, `DELETE FROM observations WHERE project = 'ada'`},
}

func check(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSQLite measures each act beside an administrator's own statement.
func BenchmarkSQLite(b *testing.B) {
	for _, k := range benches {
		for _, n := range sizes() {
			b.Run(fmt.Sprintf("%s/%d", k.name, n), func(b *testing.B) { k.run(b, n) })
		}
	}
}

func (k bench) run(b *testing.B, n int) {
	path := filepath.Join(b.TempDir(), k.name+".db")
	schema, err := os.ReadFile("../demodata/schema/" + k.schema + ".sql")
	check(b, err)
	db, err := sql.Open("sqlite3", path)
	check(b, err)
	defer db.Close()
	_, err = db.Exec(string(schema))
	check(b, err)
	refill := func() {
		_, err := db.Exec(k.fill, n)
		check(b, err)
	}
	refill()
	var s model.Store
	rows := func(query string) func() {
		return func() {
			r, err := db.Query(query)
			check(b, err)
			var id, text string
			for r.Next() {
				check(b, r.Scan(&id, &text))
			}
			check(b, r.Close())
		}
	}
	open := func() {
		s, err = k.open(b.Context(), path)
		check(b, err)
		_, err := s.Browser.List(b.Context(), model.PageRequest{Limit: 20})
		check(b, err)
	}
	text := 0
	steps := []step{
		{"open", open, func() {
			other, err := sql.Open("sqlite3", path)
			check(b, err)
			r, err := other.Query(k.page)
			check(b, err)
			for r.Next() {
			}
			check(b, r.Close())
			check(b, other.Close())
		}, func() { check(b, s.Close()) }},
		{"recall", func() {
			_, err := s.Provider.Recall(b.Context(), model.RecallRequest{Query: "herring"})
			check(b, err)
		}, rows(k.recall), nil},
		{"edit", func() {
			text++
			_, err := s.Provider.Retain(b.Context(), model.RetainRequest{ID: k.id(160), Mode: model.Replace, Content: fmt.Sprint("text ", text)})
			check(b, err)
		}, func() {
			text++
			_, err := db.Exec(k.edit, fmt.Sprint("text ", text))
			check(b, err)
		}, nil},
	}
	open()
	heap := heapNow()
	runtime.KeepAlive(s)
	check(b, s.Close())
	report(b, steps[:1])
	open()
	defer func() { _ = s.Close() }()
	report(b, steps[1:])
	ours := spent(func() {
		for i := range 100 {
			_, err := s.Provider.Forget(b.Context(), model.ForgetRequest{ID: k.id(i)})
			check(b, err)
		}
	})
	_, err = db.Exec(strings.SplitN(k.erase, " WHERE", 2)[0])
	check(b, err)
	refill()
	peer := spent(func() {
		_, err := db.Exec(k.erase)
		check(b, err)
	})
	b.ReportMetric(float64(ours)/float64(peer), "forget100-x")
	b.ReportMetric(float64(ours.Milliseconds()), "forget100-ms")
	b.ReportMetric(heap, "heap-MB")
	b.ReportMetric(0, "ns/op")
}

// step is one act by memdesk and by the peer, with the undo in between.
type step struct {
	name              string
	ours, peer, after func()
}

// report runs each step in turn and reports the best of five as a ratio.
func report(b *testing.B, steps []step) {
	for _, s := range steps {
		ours, peer := time.Duration(1<<62), time.Duration(1<<62)
		for range 5 {
			ours = min(ours, spent(s.ours))
			if s.after != nil {
				s.after()
			}
			peer = min(peer, spent(s.peer))
		}
		b.ReportMetric(float64(ours)/float64(peer), s.name+"-x")
		b.ReportMetric(float64(ours.Microseconds())/1000, s.name+"-ms")
	}
}

func spent(fn func()) time.Duration {
	start := time.Now()
	fn()
	return time.Since(start)
}

func heapNow() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

// BenchmarkMemoryFile measures a memory.jsonl against the server's work on every call: it reads the
// file, parses each line and, for a change, writes the whole file.
func BenchmarkMemoryFile(b *testing.B) {
	for _, n := range sizes() {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "memory.jsonl")
			var text bytes.Buffer
			for i := range n {
				more := ""
				if i%997 == 5 {
					more = " herring"
				}
				fmt.Fprintf(&text, `{"type":"entity","name":"e%07d","entityType":"note","observations":["note %d about the tide%s"]}`+"\n", i, i, more)
			}
			check(b, os.WriteFile(path, text.Bytes(), 0o600))
			var s model.Store
			open := func() {
				var err error
				s, err = mcpgraph.Open(b.Context(), mcpgraph.Config{Path: path, Locks: filepath.Join(b.TempDir(), "memdesk", "locks")})
				check(b, err)
				_, err = s.Browser.List(b.Context(), model.PageRequest{Limit: 20})
				check(b, err)
			}
			call := func(write bool) func() {
				return func() {
					data, err := os.ReadFile(path)
					check(b, err)
					var all []map[string]any
					for l := range bytes.SplitSeq(data, []byte("\n")) {
						var o map[string]any
						if json.Unmarshal(l, &o) == nil {
							all = append(all, o)
						}
					}
					if !write {
						return
					}
					var out bytes.Buffer
					for _, o := range all {
						l, err := json.Marshal(o)
						check(b, err)
						out.Write(append(l, '\n'))
					}
					check(b, os.WriteFile(path+".tmp2", out.Bytes(), 0o600))
					check(b, os.Remove(path+".tmp2"))
				}
			}
			open()
			heap := heapNow()
			check(b, s.Close())
			report(b, []step{{"open", open, call(false), func() { check(b, s.Close()) }}})
			open()
			defer func() { _ = s.Close() }()
			text2 := 0
			report(b, []step{
				{"recall", func() {
					_, err := s.Provider.Recall(b.Context(), model.RecallRequest{Query: "herring"})
					check(b, err)
				}, call(false), nil},
				{"edit", func() {
					text2++
					_, err := s.Provider.Retain(b.Context(), model.RetainRequest{ID: "e0000160", Mode: model.Replace, Content: fmt.Sprint("- text ", text2)})
					check(b, err)
				}, call(true), nil},
			})
			const few = 5 // of the 100 mentioned
			ours := spent(func() {
				for i := range few {
					_, err := s.Provider.Forget(b.Context(), model.ForgetRequest{ID: fmt.Sprintf("e%07d", i)})
					check(b, err)
				}
			}) * (100 / few)
			peer := spent(call(true)) * 100
			b.ReportMetric(float64(ours)/float64(peer), "forget100-x")
			b.ReportMetric(float64(ours.Milliseconds()), "forget100-ms")
			b.ReportMetric(heap, "heap-MB")
			b.ReportMetric(0, "ns/op")
		})
	}
}

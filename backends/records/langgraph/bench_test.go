package langgraph_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"memdesk/backends/records/langgraph"
	"memdesk/internal/testpg"
	"memdesk/model"
)

// BenchmarkStore measures each act beside the statement that an administrator would type; 100,000
// rows only with MEMDESK_SOAK.
func BenchmarkStore(b *testing.B) {
	sizes := []int{1000}
	if os.Getenv("MEMDESK_SOAK") != "" {
		sizes = append(sizes, 100_000)
	}
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchStore(b, n) })
	}
}

func benchStore(b *testing.B, n int) {
	check := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	schema, err := os.ReadFile("testdata/javascript.sql")
	check(err)
	dsn := testpg.DSN(b)
	testpg.Exec(b, dsn, string(schema))
	testpg.Exec(b, dsn, fmt.Sprintf(`INSERT INTO store (namespace_path, key, value) SELECT CASE WHEN i < 100 THEN 'users:ada' ELSE 'users:brin' END, lpad(i::text, 7, '0'),
		jsonb_build_object('text', 'note ' || i || ' about the tide' || CASE WHEN i %% 997 = 5 THEN ' herring' ELSE '' END) FROM generate_series(0, %d) i`, n-1))
	testpg.Exec(b, dsn, `ANALYZE store`)
	conn, err := pgx.Connect(b.Context(), dsn)
	check(err)
	defer conn.Close(b.Context())
	query := func(text string) func() {
		return func() {
			rows, err := conn.Query(b.Context(), text)
			check(err)
			for rows.Next() {
			}
			check(rows.Err())
		}
	}
	var s model.Store
	text := 0
	spent := func(fn func()) time.Duration {
		start := time.Now()
		fn()
		return time.Since(start)
	}
	for _, step := range []struct {
		name       string
		ours, peer func()
	}{
		{"open", func() {
			if s.Provider != nil {
				check(s.Close())
			}
			s, err = langgraph.Open(b.Context(), langgraph.Config{DSN: model.NewSecret(dsn)})
			check(err)
			_, err = s.Browser.List(b.Context(), model.PageRequest{Limit: 20})
			check(err)
		}, query(`SELECT namespace_path, key, value FROM store ORDER BY namespace_path, key LIMIT 20`)},
		{"recall", func() {
			_, err := s.Provider.Recall(b.Context(), model.RecallRequest{Query: "herring"})
			check(err)
		}, query(`SELECT namespace_path, key, value FROM store WHERE value::text ILIKE '%herring%'`)},
		{"edit", func() {
			text++
			_, err := s.Provider.Retain(b.Context(), model.RetainRequest{ID: "users/brin/0000160", Mode: model.Replace, Content: fmt.Sprintf(`{"text":"%d"}`, text)})
			check(err)
		}, query(`UPDATE store SET value = '{"text":"x"}' WHERE namespace_path = 'users:brin' AND key = '0000161'`)},
	} {
		ours, peer := time.Duration(1<<62), time.Duration(1<<62)
		for range 5 {
			ours, peer = min(ours, spent(step.ours)), min(peer, spent(step.peer))
		}
		b.ReportMetric(float64(ours)/float64(peer), step.name+"-x")
		b.ReportMetric(float64(ours.Microseconds())/1000, step.name+"-ms")
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "heap-MB")
	ours := spent(func() {
		for i := range 100 {
			_, err := s.Provider.Forget(b.Context(), model.ForgetRequest{ID: fmt.Sprintf("users/ada/%07d", i)})
			check(err)
		}
	})
	testpg.Exec(b, dsn, `UPDATE store SET namespace_path = 'users:ada' WHERE key < '0000200'`)
	peer := spent(query(`DELETE FROM store WHERE namespace_path = 'users:ada'`))
	check(s.Close())
	b.ReportMetric(float64(ours)/float64(peer), "forget100-x")
	b.ReportMetric(float64(ours.Milliseconds()), "forget100-ms")
	b.ReportMetric(0, "ns/op")
}

package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/postgres"
	"memdesk/internal/testpg"
	"memdesk/model"
)

const (
	hers = "qxzcanaryhers"
	his  = "qxzcanaryhis"
)

func naming(removed ...string) model.ScrubRequest {
	return model.ScrubRequest{
		Removed:  removed,
		Concerns: func(b []byte) bool { return bytes.Contains(b, []byte(hers)) },
		Redact:   func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(hers), []byte("[erased]")) },
	}
}

// onDisk counts a word in the server's files, by top-level folder.
func onDisk(t *testing.T, srv *testpg.Server, word string) map[string]int {
	t.Helper()
	found := map[string]int{}
	err := filepath.WalkDir(srv.DataDir(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // removed meanwhile
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		if n := bytes.Count(data, []byte(word)); n > 0 {
			rel, _ := filepath.Rel(srv.DataDir(), path)
			found[strings.Split(rel, string(filepath.Separator))[0]] += n
		}
		return nil
	})
	must(t, err)
	return found
}

// inLayers counts a word in the readable layers.
func inLayers(t *testing.T, m model.Maintainer, word string) map[string]int {
	t.Helper()
	layers, err := m.Layers(t.Context())
	must(t, err)
	found := map[string]int{}
	for _, l := range layers {
		if !l.Readable && l.Reason == "" || l.Readable && l.Reason != "" && l.Kind != model.LayerExternal {
			t.Errorf("layer %+v: a reason belongs to what cannot be read", l)
		}
		r, err := m.OpenLayer(t.Context(), l.ID)
		if !l.Readable {
			if err == nil {
				t.Errorf("layer %s opens though it says %q", l.ID, l.Reason)
			}
			continue
		}
		must(t, err)
		data, err := io.ReadAll(r)
		must(t, err)
		must(t, r.Close())
		if n := bytes.Count(data, []byte(word)); n > 0 {
			found[l.ID] = n
		}
	}
	return found
}

func verdicts(t *testing.T, res []model.LayerResult, err error) map[string]model.LayerResult {
	t.Helper()
	must(t, err)
	out := map[string]model.LayerResult{}
	for _, r := range res {
		out[r.Layer] = r
		if (r.Reason == "") != (r.Verdict == model.VerdictClean) {
			t.Errorf("%+v: a reason belongs to every verdict but clean", r)
		}
	}
	return out
}

// plant stores the subject's and a bystander's words in every kind of place, and returns the ids of the
// subject's nodes.
func plant(t *testing.T, s *postgres.Store, dsn string) (removed []string) {
	t.Helper()
	must(t, s.WithTx(t.Context(), func(tx hypergraph.Ops) error {
		removed = nil
		for i := range 300 {
			who := his
			if i%10 == 0 {
				who = hers
			}
			n := fact(fmt.Sprintf("%s-%d", who, i), fmt.Sprintf("%s met %s%d %s", who, who, i, noise(i, 300*(i%20))))
			n.SubjectID, n.Metadata = who, `{"by":"`+who+`"}`
			if who == hers {
				removed = append(removed, n.ID)
			}
			if err := tx.CreateNode(t.Context(), n); err != nil {
				return err
			}
			if i%30 == 0 || i%31 == 0 {
				if err := tx.SetEmbedding(t.Context(), n.ID, who, []float32{1, 2, float32(i + 1)}); err != nil {
					return err
				}
			}
		}
		for _, who := range []string{hers, his} {
			e := hypergraph.Edge{ID: "e-" + who, Type: "relation", Label: who, Weight: 1, Metadata: `{"x":"` + who + `"}`}
			for _, i := range []int{1, 2} {
				id := fmt.Sprintf("%s-%d", his, i+1)
				if who == hers {
					id = fmt.Sprintf("%s-%d", hers, 10*i)
				}
				e.Members = append(e.Members, hypergraph.Membership{NodeID: id, Role: "participant"})
			}
			if err := tx.CreateEdge(t.Context(), e); err != nil {
				return err
			}
		}
		return nil
	}))
	testpg.Exec(t, dsn, `CREATE TABLE memdesk.history (n serial PRIMARY KEY, workspace text, node_id text, node_ids jsonb, note text);
		INSERT INTO memdesk.history (workspace, node_id, node_ids, note) VALUES ('w', '`+hers+`-0', NULL, 'was hers'), ('w', 'x', '["`+hers+`-0","x"]', 'about `+hers+`'),
			('w', 'y', '["y"]', 'about `+his+`'), ('other', 'z', NULL, 'another workspace');
		ANALYZE; CHECKPOINT`)
	return removed
}

// noise is text that does not compress.
func noise(seed, n int) string {
	x, out := uint64(seed+1)*0x9e3779b97f4a7c15, make([]byte, n)
	for i := range out {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		out[i] = 'a' + byte(x%26)
	}
	return string(out)
}

// TestScrub erases the subject from a private server and checks every file of the cluster.
func TestScrub(t *testing.T) {
	t.Parallel()
	srv := testpg.New(t)
	srv.Stop() // a small log of changes is overwritten sooner
	must(t, srv.Start("-c", "max_wal_size=64MB", "-c", "min_wal_size=32MB"))
	t.Run("a superuser leaves no byte", func(t *testing.T) { scrubLeavesNoByte(t, srv) })
	t.Run("a reader of an older state", func(t *testing.T) { scrubWithAReader(t, srv) })
	t.Run("the tables' owner", func(t *testing.T) { scrubByTheOwner(t, srv) })
	t.Run("numbers of side tables", func(t *testing.T) { sideNumbers(t, srv) })
	t.Run("a node and an edge of one name", func(t *testing.T) { sideTies(t, srv) })
	t.Run("a row of a held and of a removed item", func(t *testing.T) { sideOfBoth(t, srv) })
	t.Run("a side table that is dropped meanwhile", func(t *testing.T) { sideDropped(t, srv) })
	t.Run("side tables with rules", func(t *testing.T) { sideRules(t, srv) })
	t.Run("tables of other programs", func(t *testing.T) { besideOthers(t, srv) })
	t.Run("elsewhere", func(t *testing.T) { namedElsewhere(t, srv) })
}

func database(t *testing.T, srv *testpg.Server, name, owner string) string {
	t.Helper()
	testpg.Exec(t, srv.DSN("postgres", "postgres"), `CREATE DATABASE `+name+` OWNER `+owner)
	t.Cleanup(func() { testpg.Exec(t, srv.DSN("postgres", "postgres"), `DROP DATABASE `+name+` WITH (FORCE)`) })
	return srv.DSN(owner, name)
}

func scrubLeavesNoByte(t *testing.T, srv *testpg.Server) {
	dsn := database(t, srv, "scrubbed", "postgres")
	s := create(t, dsn)
	removed := plant(t, s, dsn)
	m := s.Maintainer()
	before := inLayers(t, m, hers)
	for _, layer := range []string{"nodes", "nodes (indexes)", "hyperedges", "membership", "membership (indexes)", "node_embeddings", "history", "statistics"} {
		if before[layer] == 0 {
			t.Errorf("layer %s holds nothing of hers: the test proves nothing of it (%v)", layer, before)
		}
	}
	for _, id := range removed {
		must(t, s.DeleteNode(t.Context(), id))
	}
	if after := onDisk(t, srv, hers); after["base"] == 0 || after["pg_wal"] == 0 {
		t.Fatalf("a plain delete left nothing: %v", after)
	}
	res, err := m.Scrub(t.Context(), naming(removed...))
	for layer, r := range verdicts(t, res, err) {
		if r.Verdict != model.VerdictClean {
			t.Errorf("%s: %+v", layer, r)
		}
	}
	if left := inLayers(t, m, hers); len(left) > 0 {
		t.Errorf("left in layers: %v", left)
	}
	if left := onDisk(t, srv, hers); len(left) > 0 {
		t.Errorf("left on disk: %v", left)
	}
	for i := range 300 {
		if n, err := s.GetNode(t.Context(), fmt.Sprintf("%s-%d", his, i)); i%10 != 0 && (err != nil || !strings.HasPrefix(n.Content, fmt.Sprintf("%s met %s%d ", his, his, i)) || n.SubjectID != his) {
			t.Fatalf("the bystander's node %d: %.80q, %v", i, n.Content, err)
		}
	}
	bystander := inLayers(t, m, his)
	for _, layer := range []string{"nodes", "nodes (indexes)", "hyperedges", "membership", "node_embeddings", "history"} {
		if bystander[layer] == 0 {
			t.Errorf("the bystander is gone from %s", layer)
		}
	}
	var history string
	conn, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	defer conn.Close(t.Context())
	must(t, conn.QueryRow(t.Context(), `SELECT string_agg(workspace || node_id || COALESCE(node_ids::text, '') || note, '|' ORDER BY n) FROM memdesk.history`).Scan(&history))
	if want := `wx["x"]about [erased]|wy["y"]about ` + his + `|otherzanother workspace`; history != want {
		t.Errorf("history:\n got %s\nwant %s", history, want)
	}
	again, err := m.Scrub(t.Context(), naming(removed...))
	for layer, r := range verdicts(t, again, err) {
		if r.Verdict != model.VerdictClean || r.Rows > 0 {
			t.Errorf("again, %s: %+v", layer, r)
		}
	}
}

// scrubWithAReader holds an older snapshot, once with the table and once without.
func scrubWithAReader(t *testing.T, srv *testpg.Server) {
	dsn := database(t, srv, "looked_at", "postgres")
	s := create(t, dsn)
	must(t, s.CreateNode(t.Context(), fact("a", hers)))
	must(t, s.CreateNode(t.Context(), fact("b", his)))
	for _, touches := range []string{`SELECT 1`, `SELECT count(*) FROM memdesk.nodes`} {
		conn, err := pgx.Connect(t.Context(), dsn+"&application_name=onlooker")
		must(t, err)
		tx, err := conn.BeginTx(context.Background(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
		must(t, err)
		_, err = tx.Exec(t.Context(), touches)
		must(t, err)
		if _, err := s.GetNode(t.Context(), "a"); err == nil {
			must(t, s.DeleteNode(t.Context(), "a"))
		}
		must(t, s.DeleteNode(t.Context(), "b"))
		must(t, s.CreateNode(t.Context(), fact("b", his)))
		res, err := s.Maintainer().Scrub(t.Context(), naming("a"))
		if r := verdicts(t, res, err)["nodes"]; r.Verdict != model.VerdictPending || !strings.Contains(r.Reason, "onlooker") || !strings.Contains(r.Reason, "scrub again") {
			t.Errorf("%s: %+v, want pending and the reader's name", touches, r)
		}
		must(t, conn.Close(t.Context()))
	}
	res, err := s.Maintainer().Scrub(t.Context(), naming("a"))
	for layer, r := range verdicts(t, res, err) {
		if r.Verdict != model.VerdictClean {
			t.Errorf("after the reader left, %s: %+v", layer, r)
		}
	}
	if left := onDisk(t, srv, hers); len(left) > 0 {
		t.Errorf("left on disk: %v", left)
	}
}

// scrubByTheOwner has no right to the server's files: the result must say which parts it cannot reach.
func scrubByTheOwner(t *testing.T, srv *testpg.Server) {
	testpg.Exec(t, srv.DSN("postgres", "postgres"), `CREATE ROLE landlord LOGIN; CREATE ROLE tenant LOGIN`)
	dsn := database(t, srv, "owned", "landlord")
	s := create(t, dsn)
	must(t, s.CreateNode(t.Context(), fact("a", hers)))
	must(t, s.CreateNode(t.Context(), fact("b", his)))
	must(t, s.DeleteNode(t.Context(), "a"))
	res, err := s.Maintainer().Scrub(t.Context(), naming("a"))
	got := verdicts(t, res, err)
	for layer, want := range map[string]model.Verdict{"nodes": model.VerdictClean, "nodes (indexes)": model.VerdictClean, "nodes (toast)": model.VerdictClean,
		"wal": model.VerdictOutOfScope, "statistics": model.VerdictOutOfScope} {
		if got[layer].Verdict != want {
			t.Errorf("%s: %+v, want %s", layer, got[layer], want)
		}
	}
	if !strings.Contains(got["wal"].Reason, "checkpoint_timeout is 5min") || !strings.Contains(got["statistics"].Reason, "superuser") {
		t.Errorf("reasons: %+v, %+v", got["wal"], got["statistics"])
	}
	inLayers(t, s.Maintainer(), hers) // each must say why it cannot be read
}

// sideNumbers must find and clean a subject's number in number columns: the file's bytes do not show it.
func sideNumbers(t *testing.T, srv *testpg.Server) {
	dsn := database(t, srv, "numbers", "postgres")
	s := create(t, dsn)
	testpg.Exec(t, dsn, `CREATE TABLE memdesk.chats (id bigint PRIMARY KEY, phone numeric, n int, x float8, note text);
		INSERT INTO memdesk.chats VALUES (123456789, 123456789.00, 1, 123456789, 'a'), (1234567890, 123456789.5, 123456789, 'NaN', 'b'), (0, 9123456789, 2, 1e300, '123456789')`)
	m := s.Maintainer()
	const hers = "123456789"
	names := regexp.MustCompile(`(^|[^0-9.])(00?)?` + hers + `($|[^0-9.])`)
	look := func() int {
		t.Helper()
		r, err := m.OpenLayer(t.Context(), "chats (rows)")
		must(t, err)
		b, err := io.ReadAll(r)
		must(t, errors.Join(err, r.Close()))
		return len(names.FindAll(bytes.ReplaceAll(b, []byte(";"), []byte(";;")), -1))
	}
	if n := look(); n != 12 {
		t.Errorf("found %d times", n)
	}
	res, err := m.Scrub(t.Context(), model.ScrubRequest{Concerns: names.Match, Redact: func(b []byte) []byte { return names.ReplaceAll(b, []byte("gone")) }})
	if got := verdicts(t, res, err)["chats (rows)"]; got.Verdict != model.VerdictClean || got.Rows != 3 {
		t.Errorf("%+v", got)
	}
	var rows string
	conn, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	defer conn.Close(t.Context())
	must(t, conn.QueryRow(t.Context(), `SELECT string_agg(concat_ws(' ', id, COALESCE(phone::text, 'NULL'), COALESCE(n::text, 'NULL'), COALESCE(x::text, 'NULL'), note), '; ' ORDER BY note) FROM memdesk.chats`).Scan(&rows))
	if want := "-1 NULL 1 NULL a; 1234567890 123456789.5 NULL NaN b; 0 9123456789 2 1e+300 gone"; rows != want || look() != 0 {
		t.Errorf("rows %q, want %q; found %d times", rows, want, look())
	}
}

// sideTies must leave the rows of a node whose name a removed edge has, and lists that are no lists of items.
func sideTies(t *testing.T, srv *testpg.Server) {
	dsn := database(t, srv, "ties", "postgres")
	s := create(t, dsn)
	testpg.Exec(t, dsn, `CREATE TABLE memdesk.ties (n int PRIMARY KEY, node_id text, hyperedge_id text);
		INSERT INTO memdesk.ties VALUES (1, 'ada', NULL), (2, NULL, 'ada'), (3, 'bo', NULL), (4, NULL, 'bo');
		CREATE TABLE memdesk.orders (customer text, tags jsonb);
		INSERT INTO memdesk.orders VALUES ('Ben', '["bo"]'), ('Ida', '["bo", "rye"]')`)
	res, err := s.Maintainer().Scrub(t.Context(), model.ScrubRequest{Removed: []string{"edge/ada", "bo"}})
	if got := verdicts(t, res, err)["ties (rows)"]; got.Verdict != model.VerdictClean || got.Rows != 2 {
		t.Errorf("%+v", got)
	}
	if got := testpg.Value(t, dsn, `SELECT string_agg(n::text, ' ' ORDER BY n) FROM memdesk.ties`); got != "1 4" {
		t.Errorf("rows %q are left, want 1 and 4", got)
	}
	if got := testpg.Value(t, dsn, `SELECT string_agg(customer || tags, ' ' ORDER BY customer) FROM memdesk.orders`); got != `Ben["bo"] Ida["bo", "rye"]` {
		t.Errorf("the lists of another program are now %s", got)
	}
}

// sideOfBoth must remove a row of a removed edge that also names a node on hold, of this workspace alone.
func sideOfBoth(t *testing.T, srv *testpg.Server) {
	dsn := database(t, srv, "ofboth", "postgres")
	s := create(t, dsn)
	testpg.Exec(t, dsn, `CREATE TABLE memdesk.ties (workspace text, n int PRIMARY KEY, node_id text, hyperedge_id text);
		INSERT INTO memdesk.ties VALUES ('w', 1, 'ada', 'met'), ('w', 2, 'ada', NULL), ('w', 3, NULL, 'met'), ('another', 4, 'ada', 'met')`)
	res, err := s.Maintainer().Scrub(t.Context(), model.ScrubRequest{Removed: []string{"edge/met"}, Held: []string{"ada"}})
	if got := verdicts(t, res, err)["ties (rows)"]; got.Verdict != model.VerdictClean || got.Rows != 2 {
		t.Errorf("%+v", got)
	}
	if got := testpg.Value(t, dsn, `SELECT string_agg(n::text, ' ' ORDER BY n) FROM memdesk.ties`); got != "2 4" {
		t.Errorf("rows %q are left, want 2 and 4", got)
	}
}

// sideDropped must clean the other side tables.
func sideDropped(t *testing.T, srv *testpg.Server) {
	dsn := database(t, srv, "dropped", "postgres")
	s := create(t, dsn)
	testpg.Exec(t, dsn, `CREATE TABLE memdesk.a (words text); CREATE TABLE memdesk.b (words text); CREATE TABLE memdesk.c (words text); INSERT INTO memdesk.c VALUES ('`+hers+`')`)
	req := naming()
	req.Step = func(layer, what string) {
		if layer == "a" && strings.HasPrefix(what, "rows") {
			testpg.Exec(t, dsn, `DROP TABLE memdesk.b`)
		}
	}
	res, err := s.Maintainer().Scrub(t.Context(), req)
	got := verdicts(t, res, err)
	if b, c := got["b (rows)"], got["c (rows)"]; b.Verdict != model.VerdictOutOfScope || c.Verdict != model.VerdictClean || c.Rows != 1 {
		t.Errorf("the dropped table %+v, the other %+v", b, c)
	}
}

// sideRules must change every row that a table's rules let it, count the others, and empty a text that still
// names the subject after its redaction.
func sideRules(t *testing.T, srv *testpg.Server) {
	dsn := database(t, srv, "rules", "postgres")
	s := create(t, dsn)
	testpg.Exec(t, dsn, `CREATE TABLE memdesk.once (n int PRIMARY KEY, k text UNIQUE, j jsonb); CREATE TABLE memdesk.fixed (n int PRIMARY KEY, k text CHECK (k = 'Teo'));
		INSERT INTO memdesk.once VALUES (1, 'Teo Alvarez', '{"a": 1}'), (2, 'Teo  Alvarez', '["T-e-o"]'), (3, 'T-e-o', NULL); INSERT INTO memdesk.fixed VALUES (1, 'Teo'), (2, NULL);
		CREATE TABLE memdesk.hist (n int PRIMARY KEY, node_id text, before int REFERENCES memdesk.hist); CREATE TABLE memdesk.hist2 (h int REFERENCES memdesk.hist);
		INSERT INTO memdesk.hist VALUES (1, 'gone', NULL), (2, 'gone', NULL), (3, 'gone', 2), (4, 'stays', NULL); INSERT INTO memdesk.hist2 VALUES (1)`)
	names := regexp.MustCompile(`Teo( +Alvarez)?|T-e-o`)
	res, err := s.Maintainer().Scrub(t.Context(), model.ScrubRequest{Removed: []string{"gone"}, Concerns: names.Match, Redact: func(b []byte) []byte {
		return regexp.MustCompile(`Teo( +Alvarez)?`).ReplaceAll(b, []byte("[erased]"))
	}})
	got := verdicts(t, res, err)
	if r := got["once (rows)"]; r.Verdict != model.VerdictClean || r.Rows != 3 {
		t.Errorf("%+v", r)
	}
	if r := got["fixed (rows)"]; r.Verdict != model.VerdictFailed || !strings.Contains(r.Reason, "1 rows cannot be changed") {
		t.Errorf("%+v", r)
	}
	if r := got["hist (rows)"]; r.Verdict != model.VerdictFailed || r.Rows != 2 || !strings.Contains(r.Reason, "1 rows cannot be changed") {
		t.Errorf("%+v", r)
	}
	if rows := testpg.Value(t, dsn, `SELECT string_agg(n::text, ' ' ORDER BY n) FROM memdesk.hist`); rows != "1 4" {
		t.Errorf("rows %q are left, want 1 and 4", rows)
	}
	if rows := testpg.Value(t, dsn, `SELECT string_agg(concat_ws(' ', n, k, j), '; ' ORDER BY n) FROM memdesk.once`); rows != `1 [erased] {"a": 1}; 2 [erased]-2 ""; 3 ` {
		t.Errorf("rows %q", rows)
	}
}

// besideOthers must read every row of other programs' tables, and name the tables it cannot read.
func besideOthers(t *testing.T, srv *testpg.Server) {
	testpg.Exec(t, srv.DSN("postgres", "postgres"), `CREATE ROLE host LOGIN; CREATE ROLE guest LOGIN`)
	dsn := database(t, srv, "beside", "host")
	s := create(t, dsn)
	testpg.Exec(t, dsn, `CREATE TABLE public."Odd name""s" (who text); INSERT INTO public."Odd name""s" VALUES ('`+hers+`'), (E'two\nlines '||'`+hers+`');
		CREATE TABLE public.parts (n int, who text) PARTITION BY RANGE (n); CREATE TABLE public.part1 PARTITION OF public.parts FOR VALUES FROM (0) TO (9);
		INSERT INTO public.parts VALUES (1, '`+hers+`'); CREATE TABLE public.calm (who text); INSERT INTO public.calm VALUES ('`+his+`');
		CREATE MATERIALIZED VIEW public.unfilled AS SELECT * FROM public.calm WITH NO DATA`)
	testpg.Exec(t, srv.DSN("postgres", "beside"), `CREATE SCHEMA shut; CREATE TABLE shut.away (who text); INSERT INTO shut.away VALUES ('`+hers+`');
		CREATE TABLE public.rows (who text); INSERT INTO public.rows VALUES ('`+hers+`'); ALTER TABLE public.rows ENABLE ROW LEVEL SECURITY; GRANT SELECT ON public.rows TO host`)
	m := s.Maintainer()
	found := inLayers(t, m, hers)
	layers, err := m.Layers(t.Context())
	must(t, err)
	got := map[string]model.Layer{}
	for _, l := range layers {
		got[l.ID] = l
	}
	for id, hits := range map[string]int{`table "Odd name""s"`: 2, "table parts": 1, "table calm": 0, "materialized view unfilled": 0} {
		if l := got[id]; !l.Readable || l.Kind != model.LayerExternal || found[id] != hits || !strings.Contains(l.Advice, "host") {
			t.Errorf("%s: %+v, %d times; want %d", id, l, found[id], hits)
		}
	}
	for id, why := range map[string]string{"table shut.away": "GRANT SELECT", "table rows": "row security"} {
		if l := got[id]; l.Readable || l.Kind != model.LayerDerived || !strings.Contains(l.Reason, why) {
			t.Errorf("%s: %+v; want it unread for %s", id, l, why)
		}
		_, err := m.OpenLayer(t.Context(), id)
		wantError(t, id, err, model.Unsupported, why)
	}
	if _, twice := got["table part1"]; twice {
		t.Error("a partition is read twice")
	}
	for range 50 { // closed early, each returns its connection
		r, err := m.OpenLayer(t.Context(), "table parts")
		must(t, err)
		must(t, r.Close())
	}
}

func namedElsewhere(t *testing.T, srv *testpg.Server) {
	dsn := database(t, srv, "copied", "postgres")
	s := create(t, dsn)
	testpg.Exec(t, dsn, `CREATE MATERIALIZED VIEW public.shown AS SELECT content FROM memdesk.nodes`)
	layers, err := s.Maintainer().Layers(t.Context())
	must(t, err)
	got := map[string]model.Layer{}
	for _, l := range layers {
		if _, twice := got[l.ID]; twice {
			t.Errorf("layer %s stands twice", l.ID)
		}
		got[l.ID] = l
	}
	for _, id := range []string{"backups", "server log", "materialized view shown"} {
		if l := got[id]; l.Kind != model.LayerExternal || l.Reason == "" {
			t.Errorf("%s: %+v", id, l)
		}
	}
	for _, id := range []string{"nodes", "wal", "statistics"} {
		if l := got[id]; l.Kind != model.LayerDerived || !l.Readable {
			t.Errorf("%s: %+v", id, l)
		}
	}
	testpg.Exec(t, dsn, `CREATE TABLE memdesk.statistics (body text); INSERT INTO memdesk.statistics VALUES ('`+hers+`'); CREATE TABLE memdesk.wal (body text); INSERT INTO memdesk.wal VALUES ('`+hers+`')`)
	if found := inLayers(t, s.Maintainer(), hers); found["statistics"] < 1 || found["wal"] < 1 {
		t.Errorf("tables with the names of layers: %v", found)
	}
	for _, id := range []string{"", "backups", "../postgresql.conf", "PG_VERSION"} {
		if _, err := s.Maintainer().OpenLayer(t.Context(), id); model.KindOf(err) != model.NotFound {
			t.Errorf("OpenLayer(%q): %v", id, err)
		}
	}
}

// TestATableRewrittenWhileItIsRead: the server leaves an empty file of it, whose end must not count as the end of the table.
func TestATableRewrittenWhileItIsRead(t *testing.T) {
	dsn := testpg.New(t).DSN("postgres", "postgres")
	s := create(t, dsn)
	must(t, s.WithTx(t.Context(), func(tx hypergraph.Ops) error {
		for i := range 600 {
			if err := tx.CreateNode(t.Context(), fact(fmt.Sprint("n", i), hers+noise(i, 1800))); err != nil {
				return err
			}
		}
		return nil
	}))
	for _, first := range []int64{0, 1} {
		_, err := s.Maintainer().Layers(t.Context()) // with its checkpoint
		must(t, err)
		r, err := s.Maintainer().OpenLayer(t.Context(), "nodes")
		must(t, err)
		_, err = io.CopyN(io.Discard, r, first)
		must(t, err)
		testpg.Exec(t, dsn, `VACUUM FULL memdesk.nodes`)
		_, err = io.Copy(io.Discard, r)
		wantError(t, fmt.Sprintf("after %d bytes", first), err, model.Unavailable, "look again")
		must(t, r.Close())
	}
	if n := inLayers(t, s.Maintainer(), hers)["nodes"]; n != 600 {
		t.Errorf("read anew: %d of 600", n)
	}
}

// TestScrubOfAnEmptiedTable: ANALYZE leaves the samples of a table without rows as they are.
func TestScrubOfAnEmptiedTable(t *testing.T) {
	srv := testpg.New(t)
	dsn := srv.DSN("postgres", "postgres")
	s, err := postgres.Create(t.Context(), postgres.Config{DSN: model.NewSecret(dsn)})
	must(t, err)
	defer s.Close()
	for i := range 20 {
		must(t, s.CreateNode(t.Context(), hypergraph.Node{ID: fmt.Sprint(hers, i), Type: "fact", Tier: "task", Content: fmt.Sprint(hers, " ", i), Confidence: 1}))
	}
	testpg.Exec(t, dsn, `ANALYZE memdesk.nodes`)
	for i := range 20 {
		must(t, s.DeleteNode(t.Context(), fmt.Sprint(hers, i)))
	}
	m := s.Maintainer()
	res, err := m.Scrub(t.Context(), naming())
	verdicts(t, res, err)
	if left := inLayers(t, m, hers); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestScrubOfSideTablesIsPlanned: a dry run asks for each table that names the subject, also a partitioned one,
// and what is refused stays. Rows of one partition never stand for those of another.
func TestScrubOfSideTablesIsPlanned(t *testing.T) {
	t.Parallel()
	dsn := testpg.DSN(t)
	m := create(t, dsn).Maintainer()
	testpg.Exec(t, dsn, `CREATE TABLE memdesk.log (n int, node_id text, hyperedge_id text, note text) PARTITION BY RANGE (n);
		CREATE TABLE memdesk.log_a PARTITION OF memdesk.log FOR VALUES FROM (0) TO (10); CREATE TABLE memdesk.log_b PARTITION OF memdesk.log FOR VALUES FROM (10) TO (20);
		INSERT INTO memdesk.log VALUES (1, 'x', NULL, 'about `+hers+`'), (2, NULL, 'gone', 'tied'), (11, 'y', NULL, 'stays'), (12, 'gone', NULL, 'a node')`)
	rows := func() string {
		return testpg.Value(t, dsn, `SELECT string_agg(n || note, '|' ORDER BY n) FROM memdesk.log`)
	}
	before := rows()
	for _, dry := range []bool{true, false} {
		var asked []string
		req := naming("edge/gone")
		req.Dry, req.May = dry, func(layer string, _ []byte) bool {
			asked = append(asked, layer)
			return dry
		}
		res, err := m.Scrub(t.Context(), req)
		must(t, err)
		if !slices.Equal(asked, []string{"log"}) {
			t.Errorf("dry %t: asked for %q", dry, asked)
		}
		if dry && rows() != before {
			t.Errorf("a dry run left %s", rows())
		}
		if i := slices.IndexFunc(res, func(r model.LayerResult) bool { return r.Layer == "log (rows)" }); !dry && (i < 0 || res[i].Verdict != model.VerdictResidue || rows() != "1about "+hers+"|11stays|12a node") {
			t.Errorf("refused: %+v, left %s", res, rows())
		}
	}
	res, err := m.Scrub(t.Context(), naming("edge/gone"))
	verdicts(t, res, err)
	if got := rows(); got != "1about [erased]|11stays|12a node" {
		t.Errorf("left %s", got)
	}
}

// TestTheListOfSideRows: the name of the workspace is no cell of a row, for a scrub leaves it too, and bytes are told.
func TestTheListOfSideRows(t *testing.T) {
	t.Parallel()
	dsn := testpg.DSN(t)
	s, err := postgres.Create(t.Context(), postgres.Config{DSN: model.NewSecret(dsn), Workspace: hers})
	must(t, err)
	defer s.Close()
	testpg.Exec(t, dsn, `CREATE TABLE memdesk.scans (workspace text, node_id text, note text, page bytea);
		INSERT INTO memdesk.scans VALUES ('`+hers+`', 'x', 'a pier', '\x00ff01'), ('`+hers+`', 'x', 'a blank page', NULL), ('other', 'x', 'a quay', '\x00')`)
	var got []string
	req := model.ScrubRequest{Dry: true, Held: []string{hypergraph.NodeItemID("x")}, SideRows: func(row model.SideRow) {
		for _, c := range row.Cells {
			got = append(got, fmt.Sprintf("%s: %q, %q", c.Column, c.Text, c.Words))
		}
	}}
	_, err = s.Maintainer().Scrub(t.Context(), req)
	must(t, err)
	if want := []string{`node_id: "x", "x"`, `note: "a pier", "a pier"`, `page: "(3 bytes that are no text)", ""`,
		`node_id: "x", "x"`, `note: "a blank page", "a blank page"`, `page: "", ""`}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

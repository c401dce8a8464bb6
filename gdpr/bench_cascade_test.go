package gdpr_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/gdpr"
	"memdesk/gdpr/subject"
	"memdesk/internal/clock"
	"memdesk/model"
)

// sample is a database of the own schema; the subject has a part of its rows.
type sample struct {
	rows, share int    // one row in share is the subject's
	words       int    // in a text
	wide        int    // one of wide subject rows has a body of 9 KB; 0: none
	path        string // of the template
}

var sampleWords = strings.Fields(`cache loader planner broker exporter scheduler merges splits orders prints measures retries
	small large wide nested empty partial files rows tables calls tokens writes reads queue index page cursor memory agent
	session tier decision option goal because after before never always under over quickly slowly`)

// seed makes the whole template. Every row of the subject contains its own word, as in the measurements
// of erasure-physical.md.
func (s *sample) seed(b *testing.B) {
	b.Helper()
	s.path = filepath.Join(memDir(b), "template.sqlite")
	db, err := sqlite.Open(b.Context(), sqlite.Config{Path: s.path, Create: true})
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	tiers := []string{"task", "session", "longterm", "archive"}
	_, err = db.CreateNodes(b.Context(), func(yield func(hypergraph.Node) bool) {
		for i := range s.rows {
			words := make([]string, 0, s.words+2)
			for range s.words/2 + r.IntN(s.words) {
				words = append(words, sampleWords[r.IntN(len(sampleWords))])
			}
			n := hypergraph.Node{ID: fmt.Sprintf("%08x-%07d", r.Uint32(), i), Type: "fact", Subtype: "learned_fact", Tier: tiers[i%len(tiers)], Confidence: 1}
			if i%s.share == 0 {
				n.SubjectID = ana
				words = append(words, fmt.Sprintf("marker%06dq", i), ana)
				if s.wide > 0 && i/s.share%s.wide == 0 {
					words = append(words, strings.Repeat("overflow ", 1000))
				}
			} else {
				words = append(words, fmt.Sprintf("other%06dq", i))
			}
			n.Content = strings.Join(words, " ")
			if !yield(n) {
				return
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
}

func (s *sample) copyTo(b *testing.B, path string) {
	b.Helper()
	in, err := os.Open(s.path)
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		b.Fatal(err)
	}
	if err := out.Close(); err != nil {
		b.Fatal(err)
	}
}

// byHand is the same erasure by hand, with knowledge of the schema: one transaction, every row deleted
// from the text index, the index merged, the file rewritten, the log emptied (erasure-physical.md,
// "Recommended recipe").
func (s *sample) byHand(b *testing.B) spent {
	b.Helper()
	path := filepath.Join(memDir(b), "hand.sqlite")
	s.copyTo(b, path)
	defer os.Remove(path) // in memory, and large
	db, err := sql.Open("sqlite3", "file:"+path+"?_synchronous=FULL")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	begun := now()
	for _, text := range []string{
		`BEGIN IMMEDIATE`,
		`INSERT INTO nodes_fts (nodes_fts, rowid, content, metadata) SELECT 'delete', seq, content, metadata FROM nodes WHERE subject_id = '` + ana + `' ORDER BY seq`,
		`UPDATE counters SET items = items - d.n, bytes = bytes - d.b FROM (SELECT tier AS t, type AS k, subtype AS u, count(*) AS n, sum(length(CAST(content AS BLOB))) AS b
			FROM nodes WHERE subject_id = '` + ana + `' GROUP BY 1, 2, 3) AS d WHERE tier = d.t AND type = d.k AND subtype = d.u`,
		`DELETE FROM membership WHERE node_id IN (SELECT id FROM nodes WHERE subject_id = '` + ana + `')`,
		`DELETE FROM node_embeddings WHERE node_id IN (SELECT id FROM nodes WHERE subject_id = '` + ana + `')`,
		`DELETE FROM nodes WHERE subject_id = '` + ana + `'`,
		`COMMIT`,
		`INSERT INTO nodes_fts (nodes_fts) VALUES ('optimize')`,
		`VACUUM`,
	} {
		if _, err := db.Exec(text); err != nil {
			b.Fatal(text, err)
		}
	}
	var busy, log, moved int
	if err := db.QueryRow(`PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &moved); err != nil || busy != 0 {
		b.Fatal("the log is not empty: ", busy, err)
	}
	took := now().since(begun)
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	s.clean(b, path)
	return took
}

// clean fails where a byte of the subject is left.
func (s *sample) clean(b *testing.B, path string) {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	m, err := subject.New(ana, fmt.Sprintf("marker%06dq", 0), fmt.Sprintf("marker%06dq", s.share*(s.rows/s.share/2)))
	if err != nil {
		b.Fatal(err)
	}
	if rep, err := m.Scan(context.Background(), f, nil); err != nil || rep.Hits > 0 {
		b.Fatalf("%s: %+v, %v", filepath.Base(path), rep, err)
	}
}

// oneByOne measures deletion by ids, on a part of them.
func (s *sample) oneByOne(b *testing.B, times int) (each time.Duration) {
	b.Helper()
	path := filepath.Join(memDir(b), "each.sqlite")
	s.copyTo(b, path)
	defer os.Remove(path)
	store := rawStore(b, path)
	defer store.Close()
	var ids []string
	if err := store.Subjects.Concerning(b.Context(), []string{ana}, func(h model.SubjectHit) bool {
		ids = append(ids, h.ID)
		return len(ids) < times
	}); err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	for _, id := range ids {
		if res, err := store.Provider.Forget(b.Context(), model.ForgetRequest{ID: id}); err != nil || res.Removed != 1 {
			b.Fatal(res, err)
		}
	}
	return time.Since(begun) / time.Duration(len(ids))
}

// spent is clock time and processor time: other programs affect only the clock.
type spent struct{ clock, cpu time.Duration }

func (s spent) and(o spent) spent { return spent{s.clock + o.clock, s.cpu + o.cpu} }

// mark is a moment on both clocks.
type mark struct {
	clock time.Time
	cpu   time.Duration
}

func (m mark) since(o mark) spent { return spent{m.clock.Sub(o.clock), m.cpu - o.cpu} }

// deskRun is the time of each phase of an erasure through the desk.
type deskRun struct{ plan, forget, scrub, verify spent }

func (r deskRun) act() spent { return r.forget.and(r.scrub) }

func (r deskRun) whole() spent { return r.plan.and(r.act()).and(r.verify) }

// byDesk erases the subject through the desk.
func (s *sample) byDesk(b *testing.B) deskRun {
	b.Helper()
	w := newWorld(b)
	if err := w.fleet.Close(); err != nil {
		b.Fatal(err)
	}
	s.copyTo(b, w.path("db"))
	defer os.Remove(w.path("db"))
	w.open()
	w.desk.Clock = clock.System{} // a clock behind the files' would have every check of a hold read the requests again
	due, err := w.desk.File(b.Context(), gdpr.Intake{Subject: ana, Received: "2026-02-20", Ground: "consent withdrawn"})
	if err != nil {
		b.Fatal(err)
	}
	var run deskRun
	begun := now()
	p := w.plan(due.ID)
	run.plan = now().since(begun)
	var scrub, verify mark
	begun = now()
	out, err := w.desk.Erase(b.Context(), order(p), w.fleet, func(_ context.Context, p gdpr.Progress) error {
		switch {
		case p.What == string(gdpr.Scrub) && scrub.clock.IsZero():
			scrub = now()
		case p.What == "verify" && verify.clock.IsZero():
			verify = now()
		}
		return nil
	})
	run.forget, run.scrub, run.verify = scrub.since(begun), verify.since(scrub), now().since(verify)
	if err != nil || out.Status != gdpr.StateComplete || out.Forgotten != int64((s.rows+s.share-1)/s.share) {
		b.Fatalf("%s, %d, %q, %v", out.Status, out.Forgotten, out.Problems, err)
	}
	if err := w.fleet.Close(); err != nil {
		b.Fatal(err)
	}
	s.clean(b, w.path("db"))
	return run
}

// BenchmarkCascade erases every tenth of many rows: 10,000 of 100,000, ten times as many with
// MEMDESK_SOAK. The peers are the same erasure by hand, and a Forget for each id, measured on five
// hundred ids. Both sides are the best of three, in turn.
func BenchmarkCascade(b *testing.B) {
	s := sample{rows: 100_000, share: 10, words: 30}
	if os.Getenv("MEMDESK_SOAK") != "" {
		s.rows *= 10
	}
	s.seed(b)
	each := s.oneByOne(b, 500) * time.Duration(s.rows/s.share)
	for b.Loop() {
		s.compare(b, 3, each)
	}
}

func (s *sample) compare(b *testing.B, times int, each time.Duration) {
	b.Helper()
	var hand, act spent
	var desk deskRun
	for i := range times {
		h, d := s.byHand(b), s.byDesk(b)
		if i == 0 {
			hand, act = h, d.act()
		}
		hand, act.cpu = spent{min(hand.clock, h.clock), min(hand.cpu, h.cpu)}, min(act.cpu, d.act().cpu)
		if i == 0 || d.act().clock < desk.act().clock {
			desk = d
		}
	}
	b.Logf("by hand %v; desk: plan %v, forget %v, scrub %v, verify %v; one by one %v", hand, desk.plan, desk.forget, desk.scrub, desk.verify, each)
	ratio := func(d time.Duration, h time.Duration) float64 { return float64(d) / float64(h) }
	b.ReportMetric(ratio(desk.act().clock, hand.clock), "x/hand")
	b.ReportMetric(ratio(act.cpu, hand.cpu), "x/hand-cpu")
	b.ReportMetric(ratio(desk.whole().clock, hand.clock), "x/hand-all-steps")
	b.ReportMetric(desk.act().clock.Seconds(), "s/act")
	if each > 0 {
		b.ReportMetric(ratio(each+desk.scrub.clock, desk.act().clock), "x-faster-than-each")
	}
}

// BenchmarkFew erases 500 of 50,000 rows, one in ten of them with a body of 9 KB,
// the measurement of erasure-physical.md: its cheapest complete recipe is the peer.
func BenchmarkFew(b *testing.B) {
	s := sample{rows: 50_000, share: 100, words: 80, wide: 10}
	s.seed(b)
	for b.Loop() {
		s.compare(b, 5, 0)
	}
}

package cli_test

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The calls at which an erasure is killed: all that change a disk, and those between them.
var eraseKilledAt = []string{"renameat2", "renameat", "unlinkat", "linkat", "fsync", "fdatasync", "write", "pwrite64", "ftruncate", "mkdirat", "flock", "openat", "fcntl", "lseek"}

const (
	killPerson = "usr_ida9931"
	killAlias  = "Ida Quill-9931"
)

// killDesk is a machine with a database, an agent's directory, a vault, a tracker and an agent's
// curated files, each with data of the subject.
type killDesk struct {
	*desk
	opens    []string
	id, hash string
	count    string
	image    string // of the whole machine right after planning
}

func newKillDesk(t *testing.T) *killDesk {
	t.Helper()
	k := &killDesk{desk: newDesk(t)}
	k.write("daily/2026-07-01.md", "- "+killAlias+" called\n- quiet\n")
	k.write("daily/2026-07-02.md", "- "+killAlias+" called\n")
	k.write("learned-"+killPerson+".md", "likes rain\n")
	k.write("AGENT.md.tmp.0123456789abcdef", "asks "+killAlias+"\n")
	files := map[string]string{
		"vault/memory/idea/hers.md": "# Of " + killAlias + "\n", "vault/memory/idea/call-" + killPerson + ".md": "# A call\n\nrain\nand tea\n", "vault/memory/idea/x.md.bak": "once " + killAlias + "\n",
		"vault/memory/idea/his.md": "# A note\n\nof bob\n", "vault/memory/idea/list.md": "# A list\n\n- " + killAlias + "\n- bob\n- tea\n",
		"work/.beads/issues.jsonl": `{"id":"x-1","title":"about ` + killPerson + `","status":"open","priority":2,"issue_type":"task"}` + "\n" +
			`{"id":"x-2","title":"about bob","status":"open","priority":2,"issue_type":"task"}` + "\n",
		"work/.beads/interactions.jsonl": `{"id":"i-1","prompt":"for ` + killAlias + `"}` + "\n" + `{"id":"i-2","prompt":"for bob"}` + "\n",
		"agent2/memories/MEMORY.md":      "knows " + killAlias + "\n§\nknows bob\n", "agent2/memories/MEMORY.md.bak.1": "knew " + killAlias + "\n",
	}
	for i := range 12 {
		files[fmt.Sprintf("vault/memory/idea/n%d.md", i)] = fmt.Sprintf("# Note %d\n\non rain\n", i)
		k.write(fmt.Sprintf("daily/2026-06-%02d.md", i+1), "- quiet\n")
	}
	for name, body := range files {
		path := filepath.Join(k.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := os.ReadFile(filepath.Join("..", "..", "backends", "hypergraph", "sqlite", "testdata", "recurse.sql"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(k.dir, "rlm.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range []string{"PRAGMA journal_mode = WAL", string(schema),
		`INSERT INTO nodes (id, type, content, metadata) VALUES ('h1', 'fact', 'prefers ` + killPerson + `', '{}'), ('h2', 'fact', 'a note
of ` + killAlias + `
and of rain
and tea', '{}'), ('h3', 'fact', 'x', '{"subject":"` + killPerson + `"}')`,
		`INSERT INTO hyperedges (id, type, label) VALUES ('he', 'relation', 'a friend of ` + killAlias + `')`,
		`INSERT INTO membership VALUES ('he', 'a-rfc', 'subject', 0), ('he', 'h1', 'object', 1)`,
		`INSERT INTO evolution_log (operation, node_ids, reasoning) VALUES ('decay', '["h1"]', 'of ` + killAlias + `')`} {
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	k.opens = []string{"--open", "crewship=" + k.mem, "--open", "vault=" + filepath.Join(k.dir, "vault"), "--open", "sqlite=" + filepath.Join(k.dir, "rlm.db"),
		"--open", "beads=" + filepath.Join(k.dir, "work"), "--open", "curated=" + filepath.Join(k.dir, "agent2", "memories")}
	req := k.on("gdpr", "request", "--subject", killPerson, "--alias", killAlias, "--received", "2026-01-31", "--ground", "asked", "--yes", "--json").want(t, 0)
	k.id, _ = req.last(t, "request")["request"].(string)
	sum := k.on("gdpr", "plan", k.id, "--json").want(t, 0).last(t, "summary")
	k.hash, _ = sum["plan_hash"].(string)
	k.count = fmt.Sprint(sum["items"])
	k.image = t.TempDir()
	if err := os.CopyFS(filepath.Join(k.image, "all"), os.DirFS(k.dir)); err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *killDesk) on(args ...string) result {
	return k.bare(append(slices.Clone(k.opens), args...)...)
}

func (k *killDesk) erase() []string {
	return append(slices.Clone(k.opens), "--timeout", "2m", "gdpr", "erase", k.id, "--plan-hash", k.hash, "--confirm-count", k.count, "--yes", "--json")
}

// restore resets the machine to its state after planning. The audit log rejects copies of its files, so
// those are overwritten in place.
func (k *killDesk) restore() {
	k.t.Helper()
	all := filepath.Join(k.image, "all")
	check := func(err error) {
		k.t.Helper()
		if err != nil {
			k.t.Fatal(err)
		}
	}
	check(filepath.WalkDir(k.dir, func(path string, e os.DirEntry, err error) error {
		rel, _ := filepath.Rel(k.dir, path)
		if err != nil || rel == "." {
			return err
		}
		if _, err := os.Lstat(filepath.Join(all, rel)); err == nil && (e.IsDir() || strings.Contains(rel, "/audit/")) {
			return nil
		}
		if e.IsDir() {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
			return fs.SkipDir
		}
		return os.Remove(path)
	}))
	check(filepath.WalkDir(all, func(path string, e os.DirEntry, err error) error {
		rel, _ := filepath.Rel(all, path)
		if err != nil || rel == "." {
			return err
		}
		to := filepath.Join(k.dir, rel)
		if e.IsDir() {
			return os.MkdirAll(to, 0o700)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(rel, "state/") {
			mode = 0o600
		}
		return os.WriteFile(to, b, mode)
	}))
}

// process runs the program as another process with the arguments.
func (k *killDesk) process(before []string, args []string) *exec.Cmd {
	k.t.Helper()
	self, err := os.Executable()
	if err != nil {
		k.t.Fatal(err)
	}
	line := append(slices.Clone(before), self, "-test.run=^$")
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir = k.dir
	cmd.Env = []string{playEnv + "=" + strings.Join(args, "\n"), "GOMAXPROCS=1"}
	for name, v := range k.env {
		cmd.Env = append(cmd.Env, name+"="+v)
	}
	return cmd
}

// end is the state after an erasure: text files with their content, databases row by row, temporary
// files included.
func (k *killDesk) end() map[string]string {
	k.t.Helper()
	out := map[string]string{}
	for _, top := range []string{"agent", "agent2", "vault", "work"} {
		err := filepath.WalkDir(filepath.Join(k.dir, top), func(path string, e os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(k.dir, path)
			if e.IsDir() {
				out[rel+"/"] = ""
				return nil
			}
			b, err := os.ReadFile(path)
			out[rel] = changedAt.ReplaceAllString(string(b), "")
			return err
		})
		if err != nil {
			k.t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(k.dir, "rlm.db")+"?mode=ro")
	if err != nil {
		k.t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{"SELECT group_concat(id || content || coalesce(metadata, ''), x'0a') FROM (SELECT * FROM nodes ORDER BY id)",
		"SELECT group_concat(id || coalesce(label, ''), x'0a') FROM (SELECT * FROM hyperedges ORDER BY id)", "SELECT group_concat(coalesce(reasoning, ''), x'0a') FROM evolution_log"} {
		var text string
		if err := db.QueryRow(q).Scan(&text); err != nil {
			k.t.Fatal(err)
		}
		out[q] = text
	}
	return out
}

// killTraces are the files that contain the subject, and temporary files that contain anything.
func (k *killDesk) killTraces(dirs ...string) []string {
	k.t.Helper()
	var out []string
	needles := map[string][]byte{}
	for _, term := range []string{killPerson, killAlias} {
		sum := sha256.Sum256([]byte(term))
		needles["clear "+term], needles["folded "+term], needles["upper "+term] = []byte(term), []byte(strings.ToLower(term)), []byte(strings.ToUpper(term))
		needles["sha256 "+term] = []byte(hex.EncodeToString(sum[:]))
		for skip := range 3 {
			enc := base64.StdEncoding.EncodeToString(append(bytes.Repeat([]byte{' '}, skip), term+"   "...))
			needles[fmt.Sprint("base64 ", skip, term)] = []byte(enc[(skip*8+5)/6 : (skip+len(term))*8/6])
		}
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if e.IsDir() {
				return nil
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(k.dir, path)
			for what, n := range needles {
				if bytes.Contains(b, n) || strings.Contains(path, string(n)) {
					out = append(out, rel+": "+what)
				}
			}
			if len(b) > 0 && orphanForm.MatchString(filepath.Base(path)) {
				out = append(out, rel+": a temporary file is left")
			}
			return nil
		})
		if err != nil {
			k.t.Fatal(err)
		}
	}
	return out
}

// changedAt matches a tracker item's time of change: the time of the run.
var changedAt = regexp.MustCompile(`,"updated_at":"[^"]*"`)

var orphanForm = regexp.MustCompile(`\.tmp(\.|$)|^\.memdesk-|-journal$`)

// TestAKilledErasureIsFinished kills a real process at its system calls while it erases a subject from
// five stores, and lets another one continue: the end must always be the same, without a trace of the
// subject or of the interrupted work. 50 seeded calls, always; 600 with MEMDESK_SOAK. Package gdpr has
// 50 more, and 500, between the steps of a run inside one process.
func TestAKilledErasureIsFinished(t *testing.T) {
	afterFault(t, faults{n: 50, many: 600, calls: eraseKilledAt, kills: true, at: func(call string, nth int) string { return fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, nth) }})
}

// TestAFullDiskStopsAnErasure lets every write fail from some call on, as a full disk does, or a single call,
// as a bad sector does: the run must end, and with space again another one must reach the same end.
func TestAFullDiskStopsAnErasure(t *testing.T) {
	calls := []string{"write", "pwrite64", "ftruncate", "fsync", "fdatasync", "mkdirat", "renameat", "renameat2"}
	t.Run("full", func(t *testing.T) {
		afterFault(t, faults{n: 8, many: 150, calls: calls, at: func(call string, nth int) string { return fmt.Sprintf("inject=%s:error=ENOSPC:when=%d+", call, nth) }})
	})
	t.Run("one call", func(t *testing.T) {
		afterFault(t, faults{n: 8, many: 150, calls: calls, at: func(call string, nth int) string { return fmt.Sprintf("inject=%s:error=EIO:when=%d", call, nth) }})
	})
}

// TestAFullDiskFromTheStart fills the disk from one of a thread's first writes on, before the run's own
// journal exists: the program must end and say so.
func TestAFullDiskFromTheStart(t *testing.T) {
	strace := tracer(t)
	k := newKillDesk(t)
	for n := 1; n <= 8; n++ {
		k.restore()
		begun := time.Now()
		cmd := k.process(slices.Concat([]string{"timeout", "-k", "5", "30"}, strace, []string{"-e", "trace=write", "-e", fmt.Sprintf("inject=write:error=ENOSPC:when=%d+", n)}), k.erase())
		if out, _ := cmd.CombinedOutput(); time.Since(begun) >= 30*time.Second {
			t.Fatalf("from write %d on: the run does not end: %s", n, out)
		}
	}
}

// faults says how many faults are tried: n, or many in a soak.
type faults struct {
	n, many int
	calls   []string
	kills   bool // the fault ends the process
	at      func(call string, nth int) string
}

// afterFault runs erasures with a fault at a seeded call and checks the result of a second run. Two
// machines run in parallel.
func afterFault(t *testing.T, f faults) {
	t.Helper()
	strace := tracer(t)
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() { // flushes do not change what a killed process leaves
		t.Setenv("TMPDIR", "/dev/shm")
	}
	if soak := os.Getenv("MEMDESK_SOAK"); soak != "" {
		f.n = f.many
	}
	const hands = 2
	for hand := range hands {
		t.Run(fmt.Sprint(hand), func(t *testing.T) {
			t.Parallel()
			mine := f
			mine.n = (f.n + hand) / hands
			mine.run(t, strace, rand.New(rand.NewPCG(6, 2026+uint64(hand))))
		})
	}
}

func (f faults) run(t *testing.T, strace []string, r *rand.Rand) {
	t.Helper()
	k := newKillDesk(t)
	// A run without a kill, to learn the calls and the end.
	list := filepath.Join(k.image, "calls")
	if out, err := k.process(slices.Concat(strace, []string{"-o", list, "-e", "trace=" + strings.Join(f.calls, ",")}), k.erase()).CombinedOutput(); err != nil {
		t.Fatalf("unharmed: %v\n%s", err, out)
	}
	want, done := k.end(), k.on("gdpr", "verify", k.receipt(), "--json").want(t, 0).last(t, "verify")
	points := killPoints(t, list)
	met := 0
	for tried := 0; met < f.n; tried++ {
		if tried > 20*f.n {
			t.Fatalf("only %d of %d faults came up", met, f.n)
		}
		call := f.calls[r.IntN(len(f.calls))]
		if points[call] == 0 {
			continue
		}
		if f.once(t, k, strace, call, 1+r.IntN(points[call]), want, done) {
			met++
		}
	}
	t.Logf("%d faults", met)
}

// once is one run with a fault and a second run after it. False: the fault did not occur, because that
// thread made fewer calls this time.
func (f faults) once(t *testing.T, k *killDesk, strace []string, call string, nth int, want map[string]string, done map[string]any) bool {
	t.Helper()
	k.restore()
	begun := time.Now()
	cmd := k.process(slices.Concat([]string{"timeout", "-k", "5", "600"}, strace, []string{"-e", "trace=" + call, "-e", f.at(call, nth)}), k.erase())
	out, err := cmd.CombinedOutput()
	at := fmt.Sprintf("fault at %s %d", call, nth)
	if time.Since(begun) >= 10*time.Minute { // under strace, on a busy machine
		t.Fatalf("%s: the run does not end", at)
	}
	if err == nil && f.kills {
		return false
	}
	if code := cmd.ProcessState.ExitCode(); f.kills && code > 0 && code != 137 {
		t.Fatalf("%s: it was not killed, it failed with %d: %s", at, code, out)
	}
	// An unclean layer must not count as done, and the typed id must find it.
	row := k.on("gdpr", "status", killPerson, "--json").want(t, 0).last(t, "request")
	state := row["state"]
	if state == "running" && !strings.Contains(fmt.Sprint(row["reason"]), "broken off") {
		t.Errorf("%s: status says running, reason %q, and nobody works on it", at, row["reason"])
	}
	if state != "complete" {
		if left := k.leaks(); len(left) > 0 {
			t.Errorf("%s: before it goes on: %q", at, left)
		}
		again := k.bare(k.erase()...).want(t, 0)
		if t.Failed() {
			t.Logf("the run with the fault: %v\n%s", err, out)
			t.Logf("the next: %s%s", again.out, again.err)
		}
	}
	if t.Failed() {
		t.Fatal(at)
	}
	// The next checkpoint signs a record whose own checkpoint was interrupted, and tidies the tree.
	k.on("audit", "checkpoint").want(t, 0)
	end := k.end()
	for name, body := range end {
		if w, ok := want[name]; !ok || w != body {
			t.Errorf("%s: %s is %q, want %q", at, name, body, w)
		}
	}
	if len(end) != len(want) {
		t.Errorf("%s: %d files are left, want %d", at, len(end), len(want))
	}
	if left := k.killTraces(k.dir); len(left) > 0 {
		t.Errorf("%s: %q", at, left)
	}
	now := k.on("gdpr", "verify", k.receipt(), "--json").want(t, 0).last(t, "verify")
	for _, field := range []string{"forgotten", "redacted", "held", "plan_hash"} {
		if now[field] != done[field] {
			t.Errorf("%s: the receipt says %s %v, want %v", at, field, now[field], done[field])
		}
	}
	k.on("audit", "verify").want(t, 0)
	if t.Failed() {
		t.FailNow()
	}
	return true
}

func (k *killDesk) receipt() string {
	return filepath.Join(k.dir, "state", "memdesk", "gdpr", "receipts", k.id+".json")
}

// leaks are traces of the subject in memdesk's own files, except in the request, its plan and the clear
// names beside the log, which contain the subject until the end.
func (k *killDesk) leaks() []string {
	k.t.Helper()
	var out []string
	for _, l := range k.killTraces(filepath.Join(k.dir, "state")) {
		if strings.Contains(l, "temporary") || strings.Contains(l, "gdpr/requests/") || strings.Contains(l, "gdpr/plans/") || strings.Contains(l, "audit/names.jsonl") {
			continue
		}
		out = append(out, l)
	}
	return out
}

// killPoints counts the calls of the busiest thread, by name.
func killPoints(t *testing.T, path string) map[string]int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]map[string]int{}
	for line := range strings.Lines(string(b)) {
		thread, rest, ok := strings.Cut(line, " ")
		if !ok {
			continue
		}
		call, _, ok := strings.Cut(strings.TrimSpace(rest), "(")
		if !ok || strings.Contains(call, " ") {
			continue
		}
		if of[call] == nil {
			of[call] = map[string]int{}
		}
		of[call][thread]++
	}
	out := map[string]int{}
	for call, threads := range of {
		for _, n := range threads {
			out[call] = max(out[call], n)
		}
	}
	return out
}

package cli_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/internal/testnpm"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/quarantine"
	"memdesk/quarantine/signal"
	"memdesk/undo"
)

const (
	doorCalls  = 90 // of one caller: fewer than its burst of writes
	doorSeed   = 200
	doorAtOnce = 32
)

// doorText is a memory of typical length.
func doorText(i int) string {
	return fmt.Sprintf("The harbour team keeps note %04d about the northern quay: the crane is checked on Mondays, the lamps on Thursdays, "+
		"and whoever finds one dark tells pier %d before six.\n", i, i%9)
}

// took returns the durations of n calls, in order.
func took(b *testing.B, n int, call func(i int) error) []time.Duration {
	b.Helper()
	out := make([]time.Duration, n)
	for i := range n {
		began := time.Now()
		if err := call(i); err != nil {
			b.Fatal(err)
		}
		out[i] = time.Since(began)
	}
	slices.Sort(out)
	return out
}

func half(d []time.Duration) time.Duration { return d[len(d)/2] }
func p99(d []time.Duration) time.Duration  { return d[len(d)*99/100] }

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// doorServer runs `memdesk serve mcp` over one store, in its own process.
func doorServer(b *testing.B, args ...string) *exec.Cmd {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	home := b.TempDir()
	cmd := exec.CommandContext(b.Context(), self, "-test.run=^$")
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "XDG_STATE_HOME=" + home, "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH"), playEnv + "=" + strings.Join(args, "\n")}
	return cmd
}

func stdioClient(b *testing.B, cmd *exec.Cmd) *mcp.ClientSession {
	b.Helper()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	return c
}

// httpServer starts a server for some tokens and returns its address.
func httpServer(b *testing.B, open string, callers int) (url string, secret func(i int) string, pid int) {
	b.Helper()
	secret = func(i int) string { return fmt.Sprintf("a-token-of-this-benchmark-%03d", i) }
	var lines bytes.Buffer
	for i := range callers {
		fmt.Fprintf(&lines, "agent%d %s\n", i, secret(i))
	}
	tokens := filepath.Join(b.TempDir(), "tokens")
	if err := os.WriteFile(tokens, lines.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := doorServer(b, "--open", open, "serve", "mcp", "--listen", "127.0.0.1:0", "--tokens", tokens)
	talk, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	buf, said := make([]byte, 4096), ""
	for {
		n, err := talk.Read(buf)
		said += string(buf[:n])
		if m := regexp.MustCompile(`on (http://\S+) to`).FindStringSubmatch(said); m != nil {
			go func() { _, _ = io.Copy(io.Discard, talk) }()
			return m[1], secret, cmd.Process.Pid
		}
		if err != nil {
			b.Fatalf("no server: %s", said)
		}
	}
}

// asked calls a tool and checks that the answer contains a word.
func asked(ctx context.Context, c *mcp.ClientSession, tool, word string, args map[string]any) error {
	res, err := c.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err == nil && (res.IsError || !strings.Contains(said(res), word)) {
		err = fmt.Errorf("%s: %.300s", tool, said(res))
	}
	return err
}

// doorPeer is a store with its own agents' way of writing and searching it.
type doorPeer struct {
	open           string         // for --open
	where          map[string]any // arguments of memory_retain
	retain, search func(i int) error
}

func crewshipPeer(b *testing.B) doorPeer {
	dir := filepath.Join(b.TempDir(), ".memory")
	daily := filepath.Join(dir, "daily")
	if err := os.MkdirAll(daily, 0o755); err != nil {
		b.Fatal(err)
	}
	for i := range doorSeed {
		name := time.Date(2020, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly) + ".md"
		if err := os.WriteFile(filepath.Join(daily, name), []byte(doorText(i)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return doorPeer{"crewship=" + dir, map[string]any{"tier": "daily"}, func(i int) error {
		f, err := os.OpenFile(filepath.Join(daily, "2031-03-01.md"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = f.WriteString(doorText(i))
		return errors.Join(err, f.Sync(), f.Close())
	}, func(int) error {
		files, err := os.ReadDir(daily)
		hits := 0
		for _, f := range files {
			text, rerr := os.ReadFile(filepath.Join(daily, f.Name()))
			if rerr != nil {
				return rerr
			}
			if bytes.Contains(text, []byte("note 0042")) {
				hits++
			}
		}
		if err == nil && hits == 0 {
			err = fmt.Errorf("nothing found")
		}
		return err
	}}
}

// rowPeer writes and searches rows of an SQLite database beside the store, with the database's own index.
func rowPeer(b *testing.B, path string) doorPeer {
	db, err := sql.Open("sqlite3", path+"?_busy_timeout=5000")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE TABLE IF NOT EXISTS plain(id INTEGER PRIMARY KEY, text TEXT); CREATE VIRTUAL TABLE IF NOT EXISTS plain_fts USING fts5(text)`); err != nil {
		b.Fatal(err)
	}
	insert := func(i int) error {
		_, err := db.Exec(`BEGIN; INSERT INTO plain(text) VALUES(?1); INSERT INTO plain_fts(rowid, text) VALUES(last_insert_rowid(), ?1); COMMIT`, doorText(i), doorText(i))
		return err
	}
	return doorPeer{where: map[string]any{"tier": "task"}, retain: insert, search: func(int) error {
		var n int
		rows, err := db.Query(`SELECT p.text FROM plain_fts f JOIN plain p ON p.id = f.rowid WHERE plain_fts MATCH 'note AND 0042' ORDER BY rank LIMIT 8`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			n++
		}
		return rows.Err()
	}}
}

func sqlitePeer(b *testing.B) doorPeer {
	dir := b.TempDir()
	kind, _ := backends.Builtin().Kind("sqlite")
	path := filepath.Join(dir, "notes.db")
	if err := kind.Create(b.Context(), backends.StoreConfig{Name: "sqlite", Kind: "sqlite", Path: path}, backends.Env{}); err != nil {
		b.Fatal(err)
	}
	p := rowPeer(b, filepath.Join(dir, "plain.db"))
	p.open = "sqlite=" + path
	for i := range doorSeed {
		if err := p.retain(i); err != nil {
			b.Fatal(err)
		}
	}
	return p
}

// memoryPeer is the official memory server, used over stdio as its clients do.
func memoryPeer(b *testing.B) doorPeer {
	file := filepath.Join(b.TempDir(), "memory.jsonl")
	node, dir := testnpm.Require(b, "@modelcontextprotocol/server-memory@2026.8.31")
	cmd := exec.Command(node, filepath.Join(dir, "node_modules/@modelcontextprotocol/server-memory/dist/index.js"))
	own := filepath.Join(b.TempDir(), "own.jsonl")
	cmd.Env = append(os.Environ(), "MEMORY_FILE_PATH="+own)
	var seed bytes.Buffer
	for i := range doorSeed {
		fmt.Fprintf(&seed, "{\"type\":\"entity\",\"name\":\"seed %d\",\"entityType\":\"note\",\"observations\":[%q]}\n", i, strings.TrimSpace(doorText(i)))
	}
	for _, path := range []string{file, own} {
		if err := os.WriteFile(path, seed.Bytes(), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	c := stdioClient(b, cmd)
	return doorPeer{"mcpgraph=" + file, map[string]any{"tier": "entity"}, func(i int) error {
		return asked(b.Context(), c, "create_entities", "note", map[string]any{"entities": []any{map[string]any{"name": fmt.Sprintf("n %d", i), "entityType": "note", "observations": []string{doorText(i)}}}})
	}, func(int) error {
		return asked(b.Context(), c, "search_nodes", "note", map[string]any{"query": "note 0042"})
	}}
}

// BenchmarkDoor is one retain and one recall by an agent, over stdio and over HTTP. The peer is the
// store's own way: a flushed append to the file and a read of all files, a row and its index, or the
// official memory server over stdio. The peer scans nothing, records nothing and keeps no undo.
func BenchmarkDoor(b *testing.B) {
	for _, store := range []struct {
		name string
		open func(*testing.B) doorPeer
	}{{"crewship", crewshipPeer}, {"sqlite", sqlitePeer}, {"server-memory", memoryPeer}} {
		b.Run(store.name, func(b *testing.B) {
			for b.Loop() {
				p := store.open(b)
				stdio := stdioClient(b, doorServer(b, "--open", p.open, "serve", "mcp"))
				url, secret, _ := httpServer(b, p.open, 1)
				web := doorClient(b, url, secret(0))
				retain := func(c *mcp.ClientSession, shift int) func(int) error {
					return func(i int) error {
						args := map[string]any{"content": doorText(i + shift)}
						for k, v := range p.where {
							args[k] = v
						}
						switch store.name {
						case "server-memory":
							args["content"] = "- " + doorText(i+100*shift)
							args["key"] = fmt.Sprintf("n %d", i+100*shift)
						case "crewship": // a day's note has a cap
							args["key"] = fmt.Sprintf("2031-02-%02d", 1+shift)
						}
						return asked(b.Context(), c, "memory_retain", "retained", args)
					}
				}
				recall := func(c *mcp.ClientSession) func(int) error {
					return func(int) error {
						return asked(b.Context(), c, "memory_recall", "note 0042", map[string]any{"query": "note 0042"})
					}
				}
				writes, reads := took(b, doorCalls, p.retain), []time.Duration(nil)
				ws, wh := took(b, doorCalls, retain(stdio, 0)), took(b, doorCalls, retain(web, 7))
				reads = took(b, doorCalls, p.search)
				rs, rh := took(b, doorCalls, recall(stdio)), took(b, doorCalls, recall(web))
				for name, d := range map[string][2][]time.Duration{"stdio-retain": {ws, writes}, "http-retain": {wh, writes}, "stdio-recall": {rs, reads}, "http-recall": {rh, reads}} {
					b.ReportMetric(float64(half(d[0]))/float64(half(d[1])), "x-"+name)
					b.ReportMetric(float64(p99(d[0]))/float64(p99(d[1])), "x-"+name+"-p99")
					b.ReportMetric(micros(half(d[0])), "µs-"+name)
				}
				b.ReportMetric(micros(half(writes)), "µs-own-retain")
				b.ReportMetric(micros(half(reads)), "µs-own-recall")
			}
		})
	}
}

// BenchmarkDoorAtOnce is 32 agents over HTTP, each with its own session, against one of them alone, and
// the memory that each costs.
func BenchmarkDoorAtOnce(b *testing.B) {
	for b.Loop() {
		p := sqlitePeer(b)
		url, secret, pid := httpServer(b, p.open, doorAtOnce+1)
		const each = 30
		run := func(c *mcp.ClientSession, who int) (writes, reads []time.Duration, err error) {
			for i := range each {
				began := time.Now()
				if err = asked(b.Context(), c, "memory_retain", "retained", map[string]any{"tier": "task", "content": doorText(1000*who + i)}); err != nil {
					return nil, nil, err
				}
				between := time.Now()
				if err = asked(b.Context(), c, "memory_recall", `"status":"ok"`, map[string]any{"query": "northern quay"}); err != nil {
					return nil, nil, err
				}
				writes, reads = append(writes, between.Sub(began)), append(reads, time.Since(between))
			}
			return writes, reads, nil
		}
		alone, aloneReads, err := run(doorClient(b, url, secret(doorAtOnce)), doorAtOnce)
		if err != nil {
			b.Fatal(err)
		}
		one := residentOf(b, pid)
		clients := make([]*mcp.ClientSession, doorAtOnce)
		for i := range clients {
			clients[i] = doorClient(b, url, secret(i))
			if err := asked(b.Context(), clients[i], "memory_health", "ok", nil); err != nil {
				b.Fatal(err)
			}
		}
		idle := residentOf(b, pid)
		var mu sync.Mutex
		var all sync.WaitGroup
		var writes, reads []time.Duration
		began := time.Now()
		for i, c := range clients {
			all.Go(func() {
				w, r, err := run(c, i)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					b.Error(err)
				}
				writes, reads = append(writes, w...), append(reads, r...)
			})
		}
		all.Wait()
		spent := time.Since(began)
		for _, d := range [][]time.Duration{alone, aloneReads, writes, reads} {
			slices.Sort(d)
		}
		if len(writes) != doorAtOnce*each {
			b.Fatalf("%d writes of %d", len(writes), doorAtOnce*each)
		}
		rate := func(n int, d time.Duration) float64 { return float64(n) / d.Seconds() }
		var single time.Duration
		for i := range alone {
			single += alone[i] + aloneReads[i]
		}
		b.ReportMetric(rate(2*len(writes), spent)/rate(2*each, single), "x-calls/s")
		b.ReportMetric(rate(2*len(writes), spent), "calls/s")
		b.ReportMetric(float64(half(writes))/float64(half(alone)), "x-retain")
		b.ReportMetric(float64(half(reads))/float64(half(aloneReads)), "x-recall")
		b.ReportMetric(micros(p99(writes))/1e3, "ms-retain-p99")
		b.ReportMetric(micros(p99(reads))/1e3, "ms-recall-p99")
		b.ReportMetric((idle-one)/doorAtOnce/1024, "kB-client")
		b.ReportMetric(residentOf(b, pid)/(1<<20), "MB-after")
	}
}

// residentOf is a process's memory in bytes.
func residentOf(b *testing.B, pid int) float64 {
	b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skip("no /proc on this system")
	}
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	kb, _ := strconv.Atoi(strings.Fields(rest)[0])
	return float64(kb) * 1024
}

// BenchmarkDoorMillion is an agent's retain and recall over stdio on a million items, against the same
// on two hundred.
func BenchmarkDoorMillion(b *testing.B) {
	big := filepath.Join(b.TempDir(), "store.db")
	from, err := os.Open(millionStore(b))
	if err != nil {
		b.Fatal(err)
	}
	to, err := os.Create(big)
	if err == nil {
		_, err = io.Copy(to, from)
	}
	if err != nil || to.Close() != nil || from.Close() != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var writes, reads [2][]time.Duration
		for n, open := range []string{sqlitePeer(b).open, "sqlite=" + big} {
			c := stdioClient(b, doorServer(b, "--open", open, "serve", "mcp"))
			writes[n] = took(b, doorCalls, func(i int) error {
				return asked(b.Context(), c, "memory_retain", "retained", map[string]any{"tier": "task", "content": doorText(i)})
			})
			reads[n] = took(b, doorCalls, func(int) error {
				return asked(b.Context(), c, "memory_recall", "northern", map[string]any{"query": "northern quay"})
			})
		}
		b.ReportMetric(float64(half(writes[1]))/float64(half(writes[0])), "x-retain")
		b.ReportMetric(float64(half(reads[1]))/float64(half(reads[0])), "x-recall")
		b.ReportMetric(micros(half(writes[1]))/1e3, "ms-retain")
		b.ReportMetric(micros(half(reads[1]))/1e3, "ms-recall")
	}
}

// BenchmarkDoorStart is the time from the start of a process to its first answer over stdio, against
// the official memory server.
func BenchmarkDoorStart(b *testing.B) {
	node, dir := testnpm.Require(b, "@modelcontextprotocol/server-memory@2026.8.31")
	open := sqlitePeer(b).open
	start := func(cmd *exec.Cmd) error {
		c, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.Context(), &mcp.CommandTransport{Command: cmd}, nil)
		if err == nil {
			go func() { _ = c.Close() }()
		}
		return err
	}
	for b.Loop() {
		ours := took(b, 15, func(int) error { return start(doorServer(b, "--open", open, "serve", "mcp")) })
		peer := took(b, 15, func(int) error {
			cmd := exec.Command(node, filepath.Join(dir, "node_modules/@modelcontextprotocol/server-memory/dist/index.js"))
			cmd.Env = append(os.Environ(), "MEMORY_FILE_PATH="+filepath.Join(b.TempDir(), "m.jsonl"))
			return start(cmd)
		})
		b.ReportMetric(float64(half(ours))/float64(half(peer)), "x-server-memory")
		b.ReportMetric(micros(half(ours))/1e3, "ms-first-answer")
		b.ReportMetric(micros(ours[0])/1e3, "ms-best")
	}
}

// BenchmarkGate measures the cost that each part of the gate adds to one Retain in SQLite, in this
// process. The peer is the store's Retain alone.
func BenchmarkGate(b *testing.B) {
	state := b.TempDir()
	ready := func() error { return os.MkdirAll(state, 0o700) }
	log, err := audit.Open(audit.Options{Dir: filepath.Join(state, "audit"), Tool: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	gate := origin.Gate(origin.Rules{Ledger: origin.OpenLedger(state, ready), Shelf: origin.OpenShelf(filepath.Join(state, "held"), ready), Clock: clock.System{}})
	keeper := undo.New(filepath.Join(state, "undo"), 0, clock.System{}, ready)
	ctx := origin.With(b.Context(), origin.Writer{Actor: "bench", Channel: origin.Unknown, Trust: origin.Untrusted, Agent: true})
	stores := map[string]model.Store{}
	for name, policy := range map[string]backends.Policy{
		"alone": {Audit: backends.Unrecorded}, "origin": {Audit: backends.Unrecorded, Origin: gate}, "audit": {Audit: audit.Middleware(log)},
	} {
		fleet := backends.Open(ctx, backends.Builtin(), []backends.StoreConfig{{Name: "sqlite", Kind: "sqlite", Path: strings.TrimPrefix(sqlitePeer(b).open, "sqlite=")}}, backends.Env{}, policy)
		b.Cleanup(func() { _ = fleet.Close() })
		if stores[name], err = fleet.Store("sqlite"); err != nil {
			b.Fatal(err)
		}
	}
	retain := func(s model.Store) func(int) error {
		return func(i int) error {
			_, err := s.Provider.Retain(ctx, model.RetainRequest{Tier: "task", Mode: model.Append, Content: doorText(i)})
			return err
		}
	}
	for b.Loop() {
		alone := half(took(b, 300, retain(stores["alone"])))
		b.ReportMetric(micros(alone), "µs-store-alone")
		for name, call := range map[string]func(int) error{
			"origin": retain(stores["origin"]), "audit": retain(stores["audit"]),
			"undo": func(i int) error {
				_, _, err := keeper.Retain(ctx, stores["alone"], model.RetainRequest{Tier: "task", Mode: model.Append, Content: doorText(i)})
				return err
			},
		} {
			with := half(took(b, 300, call))
			b.ReportMetric(micros(with-alone), "µs-"+name)
			b.ReportMetric(float64(with)/float64(alone), "x-"+name)
		}
		scan := took(b, 300, func(i int) error {
			quarantine.Scan(doorText(i))
			signal.Scorer{}.Of(doorText(i))
			return nil
		})
		b.ReportMetric(micros(half(scan)), "µs-scan-and-signals")
	}
}

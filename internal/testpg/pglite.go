package testpg

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The npm packages of PGlite, a PostgreSQL with pgvector that needs no
// installation. The versions go together.
var pglitePackages = []string{"@electric-sql/pglite@0.5.14", "@electric-sql/pglite-socket@0.2.17", "@electric-sql/pglite-pgvector@0.0.15"}

// pgliteScript serves one database on a loopback port of the system's choice, says
// which, and ends with its input.
const pgliteScript = `
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import net from 'node:net';
const probe = net.createServer();
await new Promise(done => probe.listen(0, '127.0.0.1', done));
const port = probe.address().port;
await new Promise(done => probe.close(done));
const db = await PGlite.create({ extensions: { vector } });
const server = new PGLiteSocketServer({ db, port, host: '127.0.0.1', maxConnections: 8 });
await server.start();
console.log('ready ' + port);
process.stdin.on('end', () => process.exit(0)).resume();
`

// npmPatience bounds the installation of the packages.
const npmPatience = 3 * time.Minute

// PGlite starts a PostgreSQL with pgvector for one test and returns its connection
// string. All connections share one session, so no prepared statement has a name, and
// nobody can listen. Without node and npm, or without the packages and a way to get
// them, the test is skipped with the reason; on CI, where node and npm are there, the
// lack of packages fails it.
func PGlite(t testing.TB) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("pgvector is not tested: PGlite needs node, which is not installed")
	}
	dir, err := pglite()
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatalf("pgvector must be tested on CI: %v", err)
	case err != nil:
		t.Skipf("pgvector is not tested: %v", err)
	}
	cmd := exec.Command(node, filepath.Join(dir, "serve.mjs"))
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var talk strings.Builder
	cmd.Stderr = &talk
	leash, err := cmd.StdinPipe() // the server ends with it, so with this process
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = leash.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	ready := make(chan string, 1)
	go func() { // ends with the server
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if port, ok := strings.CutPrefix(lines.Text(), "ready "); ok {
				ready <- port
			}
		}
		_, _ = io.Copy(io.Discard, out)
		close(ready)
	}()
	select {
	case port, ok := <-ready:
		if !ok {
			t.Fatalf("PGlite does not start: %s", talk.String())
		}
		return "postgres://postgres:postgres@127.0.0.1:" + port + "/postgres?sslmode=disable&default_query_exec_mode=cache_describe"
	case <-time.After(patience):
		t.Fatalf("PGlite did not answer in time")
	}
	return ""
}

// pglite is the directory with the packages, kept in the user's cache.
func pglite() (string, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", errors.New("npm is not installed, so PGlite cannot be had")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	// The versions are in the name, so that another set of them is another directory.
	name := "memdesk-test-pglite"
	for _, p := range pglitePackages {
		name += "-" + p[strings.LastIndexByte(p, '@')+1:]
	}
	dir := filepath.Join(cache, name)
	if _, err := os.Stat(filepath.Join(dir, "complete")); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	// Another process may install at the same time: each into a directory of its own,
	// and the first to be done gives it the name.
	half, err := os.MkdirTemp(cache, name+".")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(half)
	for file, text := range map[string]string{"package.json": `{"private":true,"type":"module"}`, "serve.mjs": pgliteScript} {
		if err := os.WriteFile(filepath.Join(half, file), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), npmPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, append([]string{"install", "--no-audit", "--no-fund", "--ignore-scripts", "--save-exact"}, pglitePackages...)...)
	cmd.Dir = half
	if out, err := cmd.CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return "", fmt.Errorf("npm install of PGlite: %w: %s", err, lines[0])
	}
	if err := os.WriteFile(filepath.Join(half, "complete"), nil, 0o600); err != nil {
		return "", err
	}
	if err := os.Rename(half, dir); err != nil {
		if _, there := os.Stat(filepath.Join(dir, "complete")); there != nil {
			return "", err
		}
	}
	return dir, nil
}

package testpg

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"memdesk/internal/testnpm"
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

// PGlite starts a PostgreSQL with pgvector for one test and returns its connection
// string. All connections share one session, so no prepared statement has a name, and
// nobody can listen. Without node and npm, or without the packages and a way to get
// them, the test is skipped with the reason; on CI, where node and npm are there, the
// lack of packages fails it.
func PGlite(t testing.TB) string {
	t.Helper()
	node, packages := testnpm.Require(t, pglitePackages...)
	// Node finds packages beside a module: the script is in the test's directory, the packages are linked there.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "serve.mjs"), []byte(pgliteScript), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "serve.mjs")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var talk strings.Builder
	cmd.Stderr = &talk
	leash, err := cmd.StdinPipe() // its end, and so this process's, ends the server
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

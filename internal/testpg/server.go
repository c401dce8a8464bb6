package testpg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Guarded is a role that must give Password; every other role needs none.
const (
	Guarded  = "guarded"
	Password = "correct-horse"
)

// access admits everybody over the private socket except the guarded role without its password.
const access = "local all " + Guarded + " scram-sha-256\nlocal all all trust\n"

// Server is a cluster of this process. It has a directory of its own, listens only on a socket there, and
// goes when the process ends in any way: a shell beside it waits for the end of a pipe that only this process
// holds.
type Server struct {
	bin   string
	dir   string
	port  int                 // 0: the usual one; it is in the socket's name
	as    *syscall.Credential // nil: as this user
	leash io.WriteCloser      // closing it stops the server
	ended chan struct{}       // closed when the shell has gone
}

// New starts a cluster for one test, which may stop and start it. It needs PostgreSQL's programs even where
// the tests run against another server.
func New(t testing.TB) *Server {
	t.Helper()
	s, err := Begin()
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(s.Remove)
	return s
}

// Remove stops the server and removes its data.
func (s *Server) Remove() {
	s.Stop()
	_ = os.RemoveAll(s.dir)
}

// DSN is the connection string for a role in a database.
func (s *Server) DSN(role, database string) string {
	return s.dsn(url.User(role), database)
}

// DSNWith is DSN with a password.
func (s *Server) DSNWith(role, password, database string) string {
	return s.dsn(url.UserPassword(role, password), database)
}

func (s *Server) dsn(who *url.Userinfo, database string) string {
	query := url.Values{"host": {s.dir}}
	if s.port != 0 {
		query.Set("port", strconv.Itoa(s.port))
	}
	u := url.URL{Scheme: "postgres", User: who, Path: "/" + database, RawQuery: query.Encode()}
	return u.String()
}

// Begin makes and starts a cluster, for a program that is no test.
func Begin() (*Server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	// A socket's path has about a hundred bytes, so the directory's is short.
	base := os.TempDir()
	if len(base) > 40 {
		base = "/tmp"
	}
	dir, err := os.MkdirTemp(base, "mdpg")
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, dir: dir}
	if err = s.make(); err == nil {
		err = s.Start()
	}
	if err == nil {
		return s, nil
	}
	_ = os.RemoveAll(dir)
	return nil, fmt.Errorf("a private PostgreSQL does not start: %w", err)
}

// make runs initdb, which refuses to run as root.
func (s *Server) make() error {
	if os.Geteuid() == 0 {
		var err error
		if s.as, err = unprivileged(); err != nil {
			return err
		}
		if err := os.Chown(s.dir, int(s.as.Uid), int(s.as.Gid)); err != nil {
			return err
		}
	}
	var out []byte
	var err error
	for _, locale := range []string{"C.UTF-8", "C"} { // some systems lack the first
		cmd := s.command("initdb", "--pgdata", s.data(), "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale="+locale, "--no-sync", "--no-instructions")
		if out, err = cmd.CombinedOutput(); err == nil {
			return os.WriteFile(filepath.Join(s.data(), "pg_hba.conf"), []byte(access), 0o600)
		}
		_ = os.RemoveAll(s.data())
	}
	return fmt.Errorf("initdb: %w: %s", err, strings.TrimSpace(string(out)))
}

// DataDir is the directory of the cluster.
func (s *Server) DataDir() string { return s.data() }

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	s.dress(cmd)
	return cmd
}

// dress makes a command run as the unprivileged user, with the directory as its home, and without the
// terminal's signals.
func (s *Server) dress(cmd *exec.Cmd) {
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "HOME="+s.dir, "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: s.as}
}

// keep starts the server, waits for the end of its input, stops the server at once and removes its files. The
// directory stays for a restart when the input says so. Little of the write-ahead log is kept, for an erasure reads
// all of it.
const keep = `bin=$1 dir=$2
shift 2
"$bin/postgres" -D "$dir/data" -k "$dir" -c listen_addresses= -c fsync=off -c full_page_writes=off \
  -c max_connections=120 -c shared_buffers=64MB -c min_wal_size=32MB -c max_wal_size=64MB -c wal_level=minimal -c max_wal_senders=0 -c autovacuum=off "$@" >"$dir/log" 2>&1 </dev/null &
server=$!
read -r word
kill -QUIT $server 2>/dev/null
wait $server
[ "$word" = stay ] || rm -rf "$dir"`

// Start starts a stopped cluster, with further arguments for the server such as
// "-c", "fsync=on", and waits until it answers.
func (s *Server) Start(settings ...string) error {
	cmd := exec.Command("/bin/sh", append([]string{"-c", keep, "keep", s.bin, s.dir}, settings...)...)
	s.dress(cmd)
	leash, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.leash, s.ended = leash, make(chan struct{})
	go func() { // ends with the shell
		_ = cmd.Wait()
		close(s.ended)
	}()
	if err := s.await(); err != nil {
		log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		s.Stop()
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(log)))
	}
	return nil
}

func (s *Server) await() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, s.DSN("postgres", "postgres"))
		if err == nil {
			_, err = conn.Exec(ctx, `DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '`+Guarded+`')
				THEN CREATE ROLE `+Guarded+` LOGIN PASSWORD '`+Password+`'; END IF; END $$`)
			return errors.Join(err, conn.Close(ctx))
		}
		select {
		case <-ctx.Done():
			return errors.New("it did not answer in time")
		case <-s.ended:
			return errors.New("it ended")
		case <-tick.C:
		}
	}
}

// Stop stops the server at once, as a crash would, and keeps its data.
func (s *Server) Stop() {
	if s.leash == nil {
		return
	}
	_, _ = io.WriteString(s.leash, "stay\n")
	_ = s.leash.Close()
	<-s.ended
	s.leash = nil
}

// unprivileged is a user to run the server as.
func unprivileged() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uerr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gerr := strconv.ParseUint(u.Gid, 10, 32)
		if uerr == nil && gerr == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("root may not run PostgreSQL, and there is neither a user postgres nor nobody")
}

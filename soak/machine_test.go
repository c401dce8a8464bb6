//go:build linux

package soak

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"memdesk/backends"
	"memdesk/backends/demodata"
	"memdesk/ui/cli"
)

// playEnv makes the test binary play memdesk with these arguments, one per line; clockEnv names the
// file whose modification time is the clock.
const playEnv, clockEnv, ownEnv = "MEMDESK_SOAK_PLAY", "MEMDESK_SOAK_CLOCK", "MEMDESK_SOAK_OWN_MOUNTS"

func TestMain(m *testing.M) {
	args := os.Getenv(playEnv)
	if args == "" {
		os.Exit(m.Run())
	}
	go tellHeap()
	p := cli.NewProgram(backends.Builtin())
	p.Args, p.Clock, p.User, p.TTY = strings.Split(args, "\n"), hands(os.Getenv(clockEnv)), "agents", ""
	os.Exit(p.RunProcess())
}

// hands is a clock that every process reads from one file's modification time.
type hands string

func (h hands) Now() time.Time {
	info, err := os.Stat(string(h))
	if err != nil {
		panic(err)
	}
	return info.ModTime().UTC()
}

func (h hands) set(at time.Time) error { return os.Chtimes(string(h), at, at) }

// machine is a directory with seven stores, the state of the desk over them, and a clock.
type machine struct {
	t      *testing.T
	dir    string // its disk
	clock  hands
	heaps  string // where processes write their burden
	tmpfs  bool   // the disk is separate, so that it can be filled
	config string
	keys   map[string]string // of the operators: private key files
}

// diskSize is several times the need of a year.
const diskSize = 512 << 20

const settings = `
[operator]
names = { %q = "ana", %q = "ben" }
[audit]
segment_bytes = 65536
checkpoint_every = 50
[[audit.anchor]]
kind = "file"
path = %q
[undo]
keep = "10d"
[gdpr]
require_approval = true
approvers = [%q, %q]
keep_closed = "12d"
`

// kinds are the stores of the fleet, those of the demo workspace, by name.
var kinds = []string{"harbor", "graph", "notes", "device", "desk", "work", "assistant"}

func newMachine(t *testing.T, start time.Time) *machine {
	t.Helper()
	top := t.TempDir()
	m := &machine{t: t, dir: filepath.Join(top, "disk"), clock: hands(filepath.Join(top, "clock")), heaps: filepath.Join(top, "heaps"), keys: map[string]string{}}
	m.must(os.Mkdir(m.dir, 0o700))
	m.must(os.Mkdir(m.heaps, 0o700))
	m.must(os.WriteFile(string(m.clock), nil, 0o600))
	m.must(m.clock.set(start))
	if os.Getenv(ownEnv) != "" { // the mount ends with this process
		m.must(syscall.Mount("tmpfs", m.dir, "tmpfs", 0, fmt.Sprintf("size=%d", diskSize)))
		m.tmpfs = true
		t.Cleanup(func() { _ = syscall.Unmount(m.dir, syscall.MNT_DETACH) })
	}
	m.must(os.Mkdir(filepath.Join(m.dir, "home"), 0o700))
	work := filepath.Join(m.dir, "stores")
	m.must(demodata.Seed(t.Context(), work, start))
	var prints []any
	for _, who := range []string{"ana", "ben"} {
		file, print := sshKey(t, filepath.Join(top, who))
		m.keys[who] = file
		prints = append(prints, print)
	}
	text := fmt.Sprintf(settings, prints[0], prints[1], filepath.Join(top, "anchor"), prints[0], prints[1])
	demo, err := os.ReadFile(filepath.Join(work, demodata.ConfigFile))
	m.must(err)
	found := 0
	for _, block := range strings.SplitAfter(string(demo), "\n\n") {
		for _, k := range kinds {
			if strings.Contains(block, fmt.Sprintf("name = %q", k)) {
				text += "\n" + strings.TrimSpace(block) + "\n"
				found++
			}
		}
	}
	if found != len(kinds) {
		t.Fatalf("the demonstration has %d of the stores %v", found, kinds)
	}
	m.config = filepath.Join(work, "year.toml")
	m.must(os.WriteFile(m.config, []byte(text), 0o600))
	return m
}

func (m *machine) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// sshKey writes a private key and returns its file and fingerprint.
func sshKey(t *testing.T, file string) (string, string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return file, ssh.FingerprintSHA256(key)
}

func (m *machine) env(key string) string {
	return map[string]string{"HOME": filepath.Join(m.dir, "home"), "XDG_STATE_HOME": filepath.Join(m.dir, "state"), "XDG_CACHE_HOME": filepath.Join(m.dir, "cache"),
		"LANG": "C.UTF-8", "PATH": os.Getenv("PATH")}[key]
}

type row map[string]any

func (r row) str(key string) string { s, _ := r[key].(string); return s }

type result struct {
	code     int
	out, err string
	rows     []row
}

// of returns the rows of a type.
func (r result) of(kind string) (all []row) {
	for _, w := range r.rows {
		if w.str("type") == kind {
			all = append(all, w)
		}
	}
	return all
}

// run runs an operator's command, again while it is refused with advice to retry.
func (m *machine) run(who, in string, args ...string) result {
	m.t.Helper()
	for began := time.Now(); ; {
		if r := m.once(who, in, args...); r.code != 6 || !again(r.out, began) {
			return r
		}
	}
}

// once runs an operator's command in this process, so that leaks become visible.
func (m *machine) once(who, in string, args ...string) result {
	m.t.Helper()
	var out, errw bytes.Buffer
	p := cli.Program{Args: append([]string{"--config", m.config, "--json"}, args...), Stdin: strings.NewReader(in), Stdout: &out, Stderr: &errw, Env: m.env, Dir: m.dir,
		Clock: m.clock, Version: "soak", Kinds: backends.Builtin(), Terminal: func(any) bool { return false }, User: who, TTY: "pts/" + who}
	r := result{code: p.Run(m.t.Context()), out: out.String(), err: errw.String()}
	for line := range strings.Lines(r.out) {
		var w row
		if err := json.Unmarshal([]byte(line), &w); err != nil {
			if !slices.Contains(args, "key") { // a key is printed in its own format for copying
				m.t.Fatalf("%v: no JSON: %q", args, line)
			}
			continue
		}
		r.rows = append(r.rows, w)
	}
	return r
}

// child is the program with these arguments as a killable process that answers in JSON.
func (m *machine) child(args ...string) *exec.Cmd {
	return m.process(append([]string{"--json"}, args...)...)
}

func (m *machine) process(args ...string) *exec.Cmd {
	self, err := os.Executable()
	m.must(err)
	c := exec.Command(self, "-test.run=^$")
	c.Dir = m.dir
	c.Env = []string{playEnv + "=" + strings.Join(append([]string{"--config", m.config}, args...), "\n"), clockEnv + "=" + string(m.clock), heapEnv + "=" + m.heaps}
	for _, k := range []string{"HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "LANG", "PATH"} {
		c.Env = append(c.Env, k+"="+m.env(k))
	}
	return c
}

// door is a server of the Model Context Protocol over pipes, for the agents.
type door struct {
	m     *machine
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
	errs  bytes.Buffer
	n     int
}

func (m *machine) openDoor() *door {
	m.t.Helper()
	d := &door{m: m, cmd: m.child("serve", "mcp")}
	var err error
	d.in, err = d.cmd.StdinPipe()
	m.must(err)
	out, err := d.cmd.StdoutPipe()
	m.must(err)
	d.cmd.Stderr = &d.errs
	m.must(d.cmd.Start())
	d.lines = bufio.NewScanner(out)
	d.lines.Buffer(nil, 8<<20)
	d.say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"agent","version":"1"}}}`)
	if _, ok := d.hear(0); !ok {
		m.t.Fatalf("no door: %s", d.errs.String())
	}
	d.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return d
}

func (d *door) say(line string) { _, _ = io.WriteString(d.in, line+"\n") } // a killed server reads nothing

// hear waits for the answer to a request. false: the server has ended.
func (d *door) hear(id int) (row, bool) {
	for d.lines.Scan() {
		var msg struct {
			ID     *int
			Result struct{ StructuredContent row }
			Error  any
		}
		if err := json.Unmarshal(d.lines.Bytes(), &msg); err != nil {
			d.m.t.Errorf("the door says %q: %v", d.lines.Text(), err)
			continue
		}
		if msg.ID != nil && *msg.ID == id {
			if msg.Error != nil {
				d.m.t.Errorf("the door answers %q", d.lines.Text())
			}
			return msg.Result.StructuredContent, true
		}
	}
	return nil, false
}

// send calls a tool without waiting.
func (d *door) send(tool string, args row) int {
	d.n++
	b, err := json.Marshal(row{"jsonrpc": "2.0", "id": d.n, "method": "tools/call", "params": row{"name": tool, "arguments": args}})
	d.m.must(err)
	d.say(string(b))
	return d.n
}

// ask calls a tool, again while the answer says so. false: the server has ended.
func (d *door) ask(tool string, args row) (row, bool) {
	for began := time.Now(); ; {
		out, ok := d.hear(d.send(tool, args))
		if !ok || !again(fmt.Sprint(out), began) {
			return out, ok
		}
	}
}

// again reports whether an answer advises a retry, for instance because a busy machine held the log too
// long: nothing was changed. After a minute the answer counts as it is.
func again(answer string, began time.Time) bool {
	return strings.Contains(answer, "; try again") && time.Since(began) < time.Minute
}

// call calls a tool and returns its answer.
func (d *door) call(tool string, args row) row {
	d.m.t.Helper()
	out, ok := d.ask(tool, args)
	if !ok {
		d.m.t.Fatalf("the door ended by itself: %s", d.errs.String())
	}
	return out
}

// kill ends the server by SIGKILL.
func (d *door) kill() {
	_ = d.cmd.Process.Kill()
	_ = d.in.Close()
	for d.lines.Scan() {
	}
	_ = d.cmd.Wait()
}

// fill writes until the disk is full, and returns a function that makes room again.
func (m *machine) fill() (free func()) {
	m.t.Helper()
	path := filepath.Join(m.dir, "ballast")
	f, err := os.Create(path)
	m.must(err)
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			if !errors.Is(err, syscall.ENOSPC) {
				m.t.Fatal(err)
			}
			size /= 2
		}
	}
	return func() { m.must(os.Remove(path)) }
}

// inOwnMounts reruns the calling test in a process with its own mounts and reports true; false where
// this machine does not permit that, or in that process.
func inOwnMounts(t *testing.T) bool {
	t.Helper()
	if os.Getenv(ownEnv) != "" {
		return false
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=0")
	c.Env = append(os.Environ(), ownEnv+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Unshareflags: syscall.CLONE_NEWNS}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		c.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		c.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}}
	}
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	switch err := c.Start(); {
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EINVAL):
		t.Logf("this machine permits no mounts of its own (%v): the disk will not be full", err)
		return false
	case err != nil:
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("the year in a process with mounts of its own: %v", err)
	}
	return true
}

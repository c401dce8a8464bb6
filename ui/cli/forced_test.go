package cli_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/term"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/ui/cli"
)

// playEnv makes the test binary play memdesk: with these arguments, one per line, or with its own
// arguments where the value is playOwn, for a process that it starts itself. So the forced command of a
// real sshd is a separate process at a real terminal.
const playEnv, playOwn = "MEMDESK_CLI_PLAY", "own"

func TestMain(m *testing.M) {
	args := os.Getenv(playEnv)
	if args == "" {
		os.Exit(m.Run())
	}
	if args == playOwn {
		args = strings.Join(os.Args[1:], "\n")
	}
	if args == stillText {
		os.Exit(playStill())
	}
	dir, _ := os.Getwd()
	tty, _ := os.Readlink("/proc/self/fd/0")
	os.Exit(cli.Program{
		Args: strings.Split(args, "\n"), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv, Dir: dir,
		Clock: clock.System{}, Version: "test", Kinds: backends.Builtin(), User: "op", TTY: strings.TrimPrefix(tty, "/dev/"),
		Terminal: func(stream any) bool {
			f, ok := stream.(*os.File)
			return ok && term.IsTerminal(int(f.Fd()))
		},
	}.RunProcess())
}

// TestAUmaskLeavesTheOwnerIn: under one that takes the owner's rights, the state was a tree that nobody can enter.
func TestAUmaskLeavesTheOwnerIn(t *testing.T) {
	d := newDesk(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `umask 0777; exec "$0"`, self)
	cmd.Env = append(os.Environ(), playEnv+"=--open\ncrewship="+d.mem+"\nforget\ncrewship:AGENT.md\n--yes")
	for k, v := range d.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	err = filepath.WalkDir(d.env["XDG_STATE_HOME"], func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := e.Info(); err != nil || info.Mode().Perm()&0o600 != 0o600 || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// sshdPath finds the OpenSSH server. Without one the test is skipped, except on CI, where it fails.
func sshdPath(t *testing.T) string {
	t.Helper()
	look := func() string {
		for _, p := range []string{"sshd", "/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/lib/ssh/sshd"} {
			if found, err := exec.LookPath(p); err == nil {
				found, _ = filepath.Abs(found) // sshd restarts itself by its path
				return found
			}
		}
		return ""
	}
	if p := look(); p != "" {
		return p
	}
	const install = "apt-get install -y openssh-server"
	if os.Getenv("CI") != "true" {
		t.Skip("no sshd on this machine; to run this test: " + install)
	}
	words := strings.Fields(install)
	if os.Getuid() != 0 {
		words = append([]string{"sudo", "-n"}, words...)
	}
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("no sshd, and %s: %v\n%s", strings.Join(words, " "), err, out)
	}
	if look() == "" {
		t.Fatal("no sshd after: " + strings.Join(words, " "))
	}
	return look()
}

// realSSHD is the machine's own sshd, with its own port and keys.
type realSSHD struct {
	t    *testing.T
	addr string
	user string

	mu  sync.Mutex
	log bytes.Buffer
}

// forced starts an sshd in which each key has memdesk as its forced command.
func (d *desk) forced(keys []ssh.PublicKey, env []string, args ...string) *realSSHD {
	d.t.Helper()
	var lines []string
	for _, k := range keys {
		lines = append(lines, string(ssh.MarshalAuthorizedKey(k)))
	}
	return d.forcedLines(lines, env, args...)
}

// forcedLines is forced with whole lines of authorized_keys, which may begin with options.
func (d *desk) forcedLines(lines []string, env []string, args ...string) *realSSHD {
	d.t.Helper()
	path := sshdPath(d.t)
	self, err := os.Executable()
	if err != nil {
		d.t.Fatal(err)
	}
	if os.Getuid() == 0 { // sshd's directory for dropping privileges
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			d.t.Skip("sshd needs /run/sshd: " + err.Error())
		}
	}
	who, err := user.Current()
	if err != nil {
		d.t.Fatal(err)
	}
	dir := d.t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			d.t.Fatal(err)
		}
		return file
	}
	// Every forced program holds the writing end, so reading ends when the last of them has ended; sshd
	// does not wait for them.
	held := filepath.Join(dir, "held")
	if err := syscall.Mkfifo(held, 0o600); err != nil {
		d.t.Fatal(err)
	}
	running, err := os.OpenFile(held, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	script := "#!/bin/sh\nexec 9>'" + held + "'\n"
	for k, v := range d.env {
		script += fmt.Sprintf("export %s='%s'\n", k, v)
	}
	for _, kv := range env {
		script += "export " + kv + "\n"
	}
	script += fmt.Sprintf("export %s='%s'\ncd '%s'\nexec '%s' -test.run='^$'\n", playEnv, strings.Join(args, "\n"), d.dir, self)
	forced := write("forced", script)
	var authorized strings.Builder
	for _, l := range lines {
		join := " "
		if strings.HasPrefix(l, "cert-authority") {
			join = ","
		}
		fmt.Fprintf(&authorized, "restrict,pty,command=\"/bin/sh %s\"%s%s", forced, join, l)
	}
	_, private, _ := ed25519.GenerateKey(rand.Reader)
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		d.t.Fatal(err)
	}
	config := write("config", strings.Join([]string{
		"HostKey " + write("host", string(pem.EncodeToMemory(block))), "AuthorizedKeysFile " + write("keys", authorized.String()),
		"ExposeAuthInfo yes", "AcceptEnv *", "StrictModes no", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "PermitRootLogin yes", "PidFile none",
		"SetEnv HOME=" + dir, // a shell that sshd starts reads the account's own startup files, which may take a second
	}, "\n")+"\n")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		d.t.Fatal(err)
	}
	s := &realSSHD{t: d.t, addr: l.Addr().String(), user: who.Username}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { s.one(path, config, conn.(*net.TCPConn)) })
		}
	})
	d.t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
		_, _ = io.Copy(io.Discard, running) // nothing is ever written: this waits for the end
		_ = running.Close()
		if d.t.Failed() {
			d.t.Logf("sshd says:\n%s", s.log.String())
		}
	})
	return s
}

// one serves one connection as inetd would (sshd -i), without a race for the port or a daemon to stop.
func (s *realSSHD) one(path, config string, conn *net.TCPConn) {
	f, err := conn.File()
	_ = conn.Close()
	if err != nil {
		return
	}
	cmd := exec.Command(path, "-i", "-e", "-f", config)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = f, f, s
	err = cmd.Start()
	_ = f.Close()
	if err == nil {
		_ = cmd.Wait()
	}
}

func (s *realSSHD) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(p)
}

// frame is the screen without trailing blanks.
func (g *guest) frame() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	lines := strings.Split(g.screen.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

// A forced command behind a real sshd: the log must name the key that sshd accepted, and a resized
// screen must equal that of a new session.
func TestForcedCommand(t *testing.T) {
	d := newDesk(t)
	ana := signer(t)
	s := d.forced([]ssh.PublicKey{ana.PublicKey()}, nil, "--open", "crewship="+d.mem)
	g := newGuestAs(t, s.user, s.addr, ana, 200, 50)
	g.see("[2 Tiers]", "daily", "SHA256:", "journal of a day")
	for _, size := range [][2]int{{120, 40}, {60, 15}, {500, 200}, {80, 24}} {
		g.resize(size[0], size[1])
		fresh := newGuestAs(t, s.user, s.addr, ana, size[0], size[1])
		fresh.see("[2 Tiers]", "daily", "2 items")
		g.until("the frame of a new session", func(string) bool { return g.same(fresh.frame()) })
		fresh.press("q")
	}
	g.press("G\r").see("1 of 1").press("d").see("Forget daily/2026-05-21.md?", "enter cancel").press("\x1b[Z").see("[Forget]").press("\r").see("forgot daily/2026-05-21.md")
	g.press("q")
	if err := g.wait(); err != nil {
		t.Errorf("the session ends with %v", err)
	}
	rows := d.bare("--json", "audit", "list").rows
	i := slices.IndexFunc(rows, func(r map[string]any) bool { return r["action"] == "forget" && r["phase"] == "outcome" })
	if i < 0 {
		t.Fatalf("no forget in the log: %v", rows)
	}
	if want := ssh.FingerprintSHA256(ana.PublicKey()); rows[i]["actor"] != want || rows[i]["actor_key"] != want {
		t.Errorf("the log names %v with %v, want %s", rows[i]["actor"], rows[i]["actor_key"], want)
	}
}

// same compares the screen with a frame; the caller holds the lock.
func (g *guest) same(frame string) bool {
	lines := strings.Split(g.screen.String(), "\n")
	want := strings.Split(frame, "\n")
	if len(lines) != len(want) {
		return false
	}
	for i := range lines {
		if strings.TrimRight(lines[i], " ") != want[i] {
			return false
		}
	}
	return true
}

// A connection drops while the editor is open: nothing may be written, and the operator's text must be
// found again.
func TestForcedCommandDropsInAnEdit(t *testing.T) {
	d := newDesk(t)
	ana := signer(t)
	begun := filepath.Join(d.dir, "begun")
	editor := filepath.Join(d.dir, "editor.sh")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\necho 'half a thought' >> \"$1\"\necho editing now\ntouch '"+begun+"'\nexec sleep 300\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := d.forced([]ssh.PublicKey{ana.PublicKey()}, []string{"EDITOR='" + editor + "'"}, "--open", "crewship="+d.mem)
	g := newGuestAs(t, s.user, s.addr, ana, 100, 30)
	g.see("[2 Tiers]", "2 items").press("G").see("journal of a day").press("\r").see("1 of 1").press("e").see("editing now")
	before := d.read("daily/2026-05-21.md")
	_ = g.client.Close()
	putAside := func() []string {
		kept, _ := filepath.Glob(filepath.Join(d.env["XDG_STATE_HOME"], "memdesk", "edit", "kept", "*"))
		return kept
	}
	var back *guest
	for deadline := time.Now().Add(patience); ; { // the dropped session may take a moment to end
		back = newGuestAs(t, s.user, s.addr, ana, 160, 40)
		back.see("] ", "1 store")
		if len(putAside()) > 0 { // put aside at the start of this session, which therefore reports it before its first frame
			back.see("a text that was being edited when a session broke off is kept")
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the text is not put aside:\n%s", back.frame())
		}
		_ = back.client.Close()
	}
	if got := d.read("daily/2026-05-21.md"); got != before || strings.Contains(got, "half a thought") {
		t.Errorf("the item is now %q", got)
	}
	found, kept := false, putAside()
	for _, f := range kept {
		info, err := os.Stat(f)
		b, _ := os.ReadFile(f)
		if err == nil && info.Mode().IsRegular() && strings.Contains(string(b), "half a thought") {
			found = true
			if info.Mode().Perm() != 0o600 {
				t.Errorf("the text has mode %o", info.Mode().Perm())
			}
		}
	}
	if !found {
		t.Errorf("the text is not kept; there are %v", kept)
	}
	for _, r := range d.bare("--json", "audit", "list").rows {
		if r["action"] == "retain" {
			t.Errorf("the log has %v", r)
		}
	}
	back.press("\x1b").press("q")
}

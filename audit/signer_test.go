package audit

import (
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/mod/sumdb/note"
)

// sshAgent starts the machine's own ssh-agent with a new Ed25519 key in it.
func sshAgent(t *testing.T) (socket, fingerprint string, add func() string) {
	t.Helper()
	for _, program := range []string{"ssh-agent", "ssh-add", "ssh-keygen"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%s is missing: apt-get install -y openssh-client", program)
			}
			t.Skipf("%s is missing; to run this test: apt-get install -y openssh-client", program)
		}
	}
	dir, err := os.MkdirTemp("", "agent") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket = filepath.Join(dir, "s")
	run := func(program string, args ...string) string {
		t.Helper()
		c := exec.Command(program, args...)
		c.Env = append(os.Environ(), "SSH_AUTH_SOCK="+socket)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", program, err, out)
		}
		return string(out)
	}
	said := run("ssh-agent", "-a", socket, "-s")
	_, after, _ := strings.Cut(said, "SSH_AGENT_PID=")
	digits, _, _ := strings.Cut(after, ";")
	pid, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatal(said)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGTERM) })
	n := 0
	add = func() string {
		n++
		file := filepath.Join(dir, "key"+strconv.Itoa(n))
		run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file)
		run("ssh-add", "-q", file)
		if err := os.Remove(file); err != nil { // the key is in the agent only
			t.Fatal(err)
		}
		return strings.Fields(run("ssh-keygen", "-l", "-f", file+".pub"))[1]
	}
	return socket, add(), add
}

// TestTheKeyInAnAgent: a real ssh-agent signs checkpoints, with no private key beside the log; without
// the agent acts must continue, unsigned and reported.
func TestTheKeyInAnAgent(t *testing.T) {
	socket, fingerprint, add := sshAgent(t)
	b := newBench(t)
	b.options.KeyAgent, b.options.AgentSocket = fingerprint, socket
	b.acts(2)
	if rep := b.wantOK(); rep.Proven[1].State != ProvenHolds {
		t.Errorf("%+v", rep.Proven)
	}
	l := b.open()
	p, err := l.Prove(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	keys, _ := l.VerifierKeys()
	v, err := note.NewVerifier(keys[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Check(v); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(l.inTree(signFile)); err == nil {
		t.Error("a private key lies beside the log")
	}

	b.options.AgentSocket = socket + ".gone"
	l = b.open()
	act(t, l)
	if err := l.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "agent") {
		t.Errorf("without the agent: %v", err)
	}
	b.wantOK()

	other := add()
	b.options.AgentSocket, b.options.KeyAgent = socket, other
	l = b.open()
	act(t, l)
	if err := l.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "another key") {
		t.Errorf("another key of the agent: %v", err)
	}
	if err := b.open().RotateKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.acts(1)
	b.wantOK()
	b.options.KeyAgent = "SHA256:nowhere"
	if err := b.open().RotateKey(t.Context()); err == nil || !strings.Contains(err.Error(), "holds no Ed25519 key") {
		t.Errorf("a key that the agent does not have: %v", err)
	}
}

// TestTheKeyOfACommand: the key comes from a command and must never be in the state; any other output
// must be refused and appear in no error.
func TestTheKeyOfACommand(t *testing.T) {
	skey, vkey, err := note.GenerateKey(rand.Reader, "desk.example/log")
	if err != nil {
		t.Fatal(err)
	}
	safe := filepath.Join(t.TempDir(), "safe")
	if err := os.WriteFile(safe, []byte(skey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	b.options.KeyCommand = "cat '" + safe + "'"
	b.acts(2)
	b.wantOK()
	l := b.open()
	if keys, _ := l.VerifierKeys(); len(keys) != 1 || keys[0] != vkey {
		t.Errorf("keys %v, want %s", keys, vkey)
	}
	for p, text := range saved(t, b.dir) {
		if strings.Contains(string(text), skey) {
			t.Errorf("%s holds the private key", filepath.Base(p))
		}
	}
	for name, command := range map[string]string{
		"fails": "echo " + skey[:20] + " >&2; exit 1", "says nothing": "true", "says something else": "echo secret-words",
		"is not there": "/nowhere/at/all", "prints half of it": "head -c 40 '" + safe + "'",
	} {
		b.options.KeyCommand = command
		l := b.open()
		act(t, l)
		if err := l.Close(t.Context()); err == nil || strings.Contains(err.Error(), "secret-words") || strings.Contains(err.Error(), skey[:20]) {
			t.Errorf("a command that %s: %v", name, err)
		}
	}
	b.options.KeyCommand = "cat '" + safe + "'"
	b.acts(1) // everything since is signed
	rep := b.wantOK()
	if last := rep.Proven[0]; last.Seq != rep.Events {
		t.Errorf("signed up to %d of %d", last.Seq, rep.Events)
	}
}

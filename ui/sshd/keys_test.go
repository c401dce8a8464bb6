package sshd_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"memdesk/internal/privatefile"
	"memdesk/ui/sshd"
)

func newKey(t testing.TB) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func line(options string, s ssh.Signer) string {
	return strings.TrimSpace(options + " " + string(ssh.MarshalAuthorizedKey(s.PublicKey())))
}

func TestAuthorizedKeys(t *testing.T) {
	a, b := newKey(t), newKey(t)
	for _, tt := range []struct {
		name, text string
		roles      []sshd.Role
		fails      string
	}{
		{"plain", line("", a) + " ana@desk\n", []sshd.Role{sshd.Operator}, ""},
		{"comments and blanks", "# people\n\n" + line("", a) + "\n  \n" + line("", b), []sshd.Role{sshd.Operator, sshd.Operator}, ""},
		{"reader", line(`restrict,pty,environment="MEMDESK_ROLE=readonly"`, a), []sshd.Role{sshd.Reader}, ""},
		{"operator by name", line(`environment="MEMDESK_ROLE=operator"`, a), []sshd.Role{sshd.Operator}, ""},
		{"what is never granted", line("no-port-forwarding,no-X11-forwarding,no-agent-forwarding", a), []sshd.Role{sshd.Operator}, ""},
		{"a role that is none", line(`environment="MEMDESK_ROLE=reader"`, a), nil, "line 1: MEMDESK_ROLE is operator or readonly"},
		{"two roles", line(`environment="MEMDESK_ROLE=readonly",environment="MEMDESK_ROLE=operator"`, a), nil, "given twice"},
		{"another variable", line(`environment="ROLE=readonly"`, a), nil, "only environment"},
		{"from", "\n" + line(`from="10.0.0.0/8"`, a), nil, `line 2: the option "from"`},
		{"command", line(`command="backup"`, a), nil, `the option "command"`},
		{"expired", line(`expiry-time="20200101"`, a), nil, `the option "expiry-time"`},
		{"authority", line("cert-authority", a), nil, `the option "cert-authority"`},
		{"no terminal", line("no-pty", a), nil, "line 1: restrict or no-pty"},
		{"restricted", "\n" + line(`restrict,environment="MEMDESK_ROLE=readonly"`, a), nil, "line 2: restrict or no-pty"},
		{"restricted after", line("pty,restrict", a), nil, "line 1: restrict or no-pty"},
		{"a terminal again", line("no-pty,restrict,PTY", a), []sshd.Role{sshd.Operator}, ""},
		{"twice", line("", a) + "\n" + line(`environment="MEMDESK_ROLE=readonly"`, a), nil, "line 2: the key of line 1 again"},
		{"no key", "# nobody\n", nil, "hold no key"},
		{"nonsense", "ssh-ed25519 AAAA\n", nil, "line 1: no key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			keys, err := sshd.ParseAuthorizedKeys(strings.NewReader(tt.text))
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Fatalf("error %v, want %q", err, tt.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(keys) != len(tt.roles) {
				t.Fatalf("%d keys, want %d", len(keys), len(tt.roles))
			}
			for i, r := range tt.roles {
				if keys[i].Role != r {
					t.Errorf("key %d is %s, want %s", i, keys[i].Role, r)
				}
			}
		})
	}
}

func TestAuthorizedKeysFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(path, []byte(line("", newKey(t))+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sshd.ReadAuthorizedKeys(path); err != nil {
		t.Fatal(err)
	}
	for mode, fine := range map[os.FileMode]bool{0o644: true, 0o620: false, 0o602: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := sshd.ReadAuthorizedKeys(path)
		if (err == nil) != fine {
			t.Errorf("mode %o: %v", mode, err)
		}
		if err != nil && strings.Contains(err.Error(), path) {
			t.Errorf("the error names the path: %v", err)
		}
	}
	if _, err := sshd.ReadAuthorizedKeys(filepath.Dir(path)); err == nil {
		t.Error("a directory is read")
	}
}

// For any text: no panic, and only written keys are returned.
func FuzzAuthorizedKeys(f *testing.F) {
	f.Add(line(`restrict,environment="MEMDESK_ROLE=readonly"`, newKey(f)))
	f.Add(line(`environment="MEMDESK_ROLE=operator"`, newKey(f)) + "\n# x\n")
	f.Add("ssh-ed25519 AAAA\n\x00")
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := sshd.ParseAuthorizedKeys(strings.NewReader(text))
		if err == nil && len(keys) == 0 {
			t.Error("no key and no error")
		}
		for _, k := range keys {
			if k.Role != sshd.Operator && k.Role != sshd.Reader || k.Key == nil || k.Line < 1 {
				t.Errorf("%+v", k)
			}
		}
	})
}

func TestHostKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ssh", "host_ed25519")
	type made struct {
		key ssh.Signer
		err error
	}
	both := make(chan made, 2)
	for range 2 {
		go func() {
			k, err := sshd.HostKey(path)
			both <- made{k, err}
		}()
	}
	one, two := <-both, <-both
	if one.err != nil || two.err != nil {
		t.Fatal(one.err, two.err)
	}
	again, err := sshd.HostKey(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []ssh.Signer{two.key, again} {
		if string(k.PublicKey().Marshal()) != string(one.key.PublicKey().Marshal()) {
			t.Error("another key")
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := sshd.HostKey(path); err == nil || !errors.Is(err, privatefile.ErrShared) {
		t.Errorf("a key that others can read: %v", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.Chmod(path, 0o600), os.Symlink(path, link)); err != nil {
		t.Fatal(err)
	}
	if k, err := sshd.HostKey(link); err != nil || string(k.PublicKey().Marshal()) != string(one.key.PublicKey().Marshal()) {
		t.Errorf("by a link: %v", err)
	}
}

// TestHostKeyThatMayNotLast: a key whose directory cannot be flushed is made, and the next start takes it.
func TestHostKeyThatMayNotLast(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	dir := filepath.Join(t.TempDir(), "unreadable")
	if err := os.Mkdir(dir, 0o300); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	if _, err := sshd.HostKey(filepath.Join(dir, "key")); err == nil || !strings.Contains(err.Error(), "the host key is made, but") {
		t.Errorf("it says %v", err)
	}
	if _, err := sshd.HostKey(filepath.Join(dir, "key")); err != nil {
		t.Error(err)
	}
}

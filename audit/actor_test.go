package audit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/audit"
)

// The fingerprints are those that ssh-keygen -l shows for the keys in testdata.
const (
	edKey    = "SHA256:pb8QoitjF70PDoEr0yAUWyGxjaphl8SsY+CQjZezyz0"
	rsaKey   = "SHA256:yxHU5ooP9M2C28RgufSNl/7lKYMChfQy3C+7jT32jPA"
	ecdsaKey = "SHA256:nVb0yOCjLtla8Toplhn/eVcEUe4+xfkFjRVaemG2IJ4"
	caKey    = "SHA256:f0K0Gzdd3aM8sVguvZYUJRP03U8060wNqnnhoVDNrDU"
)

func authFile(t testing.TB, name string) string {
	t.Helper()
	return read(t, filepath.Join("testdata", name))
}

func identify(t *testing.T, path string) audit.Actor {
	t.Helper()
	return audit.IdentifyOperator(func(k string) string {
		if k == "SSH_USER_AUTH" {
			return path
		}
		return "forged"
	}, "ann", "pts/0")
}

func TestIdentifyOperator(t *testing.T) {
	nobody := audit.Actor{ID: "unauthenticated ann@pts/0"}
	ed := audit.Actor{ID: edKey, Authenticated: true, Key: edKey}
	cert := func(serial, key string) audit.Actor {
		return audit.Actor{
			ID: "cert ann@desk#" + serial, Authenticated: true, Key: key, Cert: "ann@desk#" + serial, CA: caKey, Principals: []string{"ann"},
		}
	}
	line := authFile(t, "auth_ed25519")
	cases := map[string]struct {
		body string
		want audit.Actor
	}{
		"ed25519":                    {line, ed},
		"rsa":                        {authFile(t, "auth_rsa"), audit.Actor{ID: rsaKey, Authenticated: true, Key: rsaKey}},
		"ecdsa":                      {authFile(t, "auth_ecdsa"), audit.Actor{ID: ecdsaKey, Authenticated: true, Key: ecdsaKey}},
		"ed25519 certificate":        {authFile(t, "auth_ed25519-cert"), cert("7", edKey)},
		"ecdsa certificate":          {authFile(t, "auth_ecdsa-cert"), cert("8", ecdsaKey)},
		"rsa certificate":            {authFile(t, "auth_rsa-cert"), cert("9", rsaKey)},
		"key after a password":       {"password\n" + line, ed},
		"password only":              {"password\n", nobody},
		"keyboard":                   {"keyboard-interactive/pam\n", nobody},
		"empty":                      {"", nobody},
		"no base64":                  {"publickey ssh-ed25519 %%%\n", nobody},
		"another type than it says":  {strings.Replace(line, "ssh-ed25519", "ssh-rsa", 1), nobody},
		"cut":                        {line[:60], nobody},
		"a type nobody knows":        {"publickey x AAAAAXg=\n", nobody},
		"a key without its material": {"publickey ssh-ed25519 AAAAC3NzaC1lZDI1NTE5\n", nobody},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "auth")
			put(t, path, c.body)
			if diff := cmp.Diff(c.want, identify(t, path)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAuthFilesThatAreNotTrusted(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	put(t, good, authFile(t, "auth_ed25519"))
	if !identify(t, good).Authenticated {
		t.Fatal("the control case is not authenticated")
	}
	must(t, os.Symlink(good, filepath.Join(dir, "link")))
	put(t, filepath.Join(dir, "open"), authFile(t, "auth_ed25519"))
	must(t, os.Chmod(filepath.Join(dir, "open"), 0o622))
	put(t, filepath.Join(dir, "long"), authFile(t, "auth_ed25519")+strings.Repeat("x", 1<<17))
	bad := []string{"", "link", "open", "long", "absent", "."}
	if os.Getuid() == 0 {
		put(t, filepath.Join(dir, "foreign"), authFile(t, "auth_ed25519"))
		must(t, os.Chown(filepath.Join(dir, "foreign"), 1234, 1234))
		bad = append(bad, "foreign")
	}
	for _, name := range bad {
		path := filepath.Join(dir, name)
		if name == "" {
			path = ""
		}
		if a := identify(t, path); a.Authenticated || a.ID != "unauthenticated ann@pts/0" {
			t.Errorf("%q: %+v", name, a)
		}
	}
}

func TestNamedOperators(t *testing.T) {
	names := map[string]string{edKey: "ann", caKey + " ann@desk#8": "bob", "": "evil", "unauthenticated ann@pts/0": "evil"}
	parse := func(name string) audit.Actor {
		a, err := audit.ParseUserAuth([]byte(authFile(t, name)))
		must(t, err)
		return a
	}
	if a := parse("auth_ed25519").Named(names); a.ID != "ann" || a.Key != edKey {
		t.Errorf("%+v", a)
	}
	if a := parse("auth_ecdsa-cert").Named(names); a.ID != "bob" {
		t.Errorf("%+v", a)
	}
	if a := parse("auth_rsa").Named(names); a.ID != rsaKey {
		t.Errorf("%+v", a)
	}
	if a := (audit.Actor{ID: "unauthenticated ann@pts/0"}).Named(names); a.ID != "unauthenticated ann@pts/0" {
		t.Errorf("a login name was given a configured one: %+v", a)
	}
}

func TestHostileLoginNames(t *testing.T) {
	a := audit.IdentifyOperator(func(string) string { return "" }, "ann\x1b]0;\u202e", "\"")
	if a.ID != "unauthenticated ann%1B]0;%E2%80%AE@%22" {
		t.Errorf("%q", a.ID)
	}
	s := fresh(t)
	l, err := audit.Open(audit.Options{Dir: s.dir, Clock: s.clock, Actor: a})
	must(t, err)
	act(t, l, forget)
	if got := seqs(t, l, audit.Filter{Actor: a.ID}, 10); len(got) != 3 {
		t.Errorf("%d records of the actor, want 3", len(got))
	}
}

func FuzzParseUserAuth(f *testing.F) {
	for _, name := range []string{"auth_ed25519", "auth_rsa", "auth_ecdsa", "auth_ed25519-cert", "auth_ecdsa-cert", "auth_rsa-cert"} {
		f.Add([]byte(authFile(f, name)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := audit.ParseUserAuth(b)
		if (err == nil) != a.Authenticated || len(a.ID) > 160 {
			t.Errorf("%+v %v", a, err)
		}
		for _, c := range []byte(a.ID + a.Cert) {
			if c < 0x20 || c > 0x7e {
				t.Errorf("byte %#x in %q", c, a.ID)
			}
		}
	})
}

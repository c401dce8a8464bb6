package cli_test

import (
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// certified has an authority sign a new key for these principals until a time.
func certified(t *testing.T, authority ssh.Signer, id string, until time.Time, principals ...string) ssh.Signer {
	t.Helper()
	key := signer(t)
	cert := &ssh.Certificate{Key: key.PublicKey(), Serial: 7, CertType: ssh.UserCert, KeyId: id, ValidPrincipals: principals,
		ValidAfter: uint64(until.Add(-2 * time.Hour).Unix()), ValidBefore: uint64(until.Unix()), Permissions: ssh.Permissions{Extensions: map[string]string{"permit-pty": ""}}}
	if err := cert.SignCert(rand.Reader, authority); err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewCertSigner(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// trusts is the line of authorized_keys with which sshd accepts an authority's certificates for these
// principals.
func trusts(authority ssh.Signer, principals string) string {
	return fmt.Sprintf("cert-authority,principals=\"%s\" %s", principals, ssh.MarshalAuthorizedKey(authority.PublicKey()))
}

// TestPrincipalsBehindSSHD: principals of certificates that the machine's own sshd has checked must
// give their roles. The same principal from another authority must give none, though sshd lets it in.
func TestPrincipalsBehindSSHD(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	authority, other, plain := signer(t), signer(t), signer(t)
	block := func(principal, role string) string {
		return fmt.Sprintf("[[operator.role]]\nprincipal = %q\nkey = %q\nrole = %q\n", principal, ssh.FingerprintSHA256(authority.PublicKey()), role)
	}
	config := d.roleConfig(block("desk", "operator")+block("log", "auditor")+block("words", "reviewer"), nil)
	later := time.Now().Add(time.Hour)
	const hostile = "\x1b]0;x\a\u202eana\nforget"
	people := map[string]ssh.Signer{
		"the desk":           certified(t, authority, "ana", later, "desk"),
		"the log":            certified(t, authority, hostile, later, "log"),
		"the log and words":  certified(t, authority, "cem", later, "log", "words"),
		"no block's":         certified(t, authority, "dee", later, "guest"),
		"another's desk":     certified(t, other, "ana", later, "desk"),
		"the authority's id": certified(t, other, ssh.FingerprintSHA256(authority.PublicKey()), later, "desk"),
		"a plain key":        plain,
	}
	lines := []string{trusts(authority, "desk,log,words,guest"), trusts(other, "desk"), string(ssh.MarshalAuthorizedKey(plain.PublicKey()))}
	var last *realSSHD
	for _, tt := range []struct {
		args []string
		may  string
	}{
		{[]string{"items"}, "the desk, the log, the log and words, no block's, another's desk, the authority's id, a plain key"},
		{[]string{"show", "crewship:AGENT.md"}, "the desk, the log and words"},
		{[]string{"audit", "list"}, "the desk, the log, the log and words"},
		{[]string{"retain", "crewship:daily/2026-05-21.md", "--mode", "append", "--yes", filepath.Join(d.dir, "roles.toml")}, "the desk"},
	} {
		last = d.forcedLines(lines, nil, append([]string{"--config", config}, tt.args...)...)
		for name, key := range people {
			want := 6
			if slices.Contains(strings.Split(tt.may, ", "), name) {
				want = 0
			}
			if code := last.exec(key, map[string]string{"MEMDESK_ROLE": "operator"}); code != want {
				t.Errorf("%v with %s: exit %d, want %d", tt.args, name, code, want)
			}
		}
	}
	refused := map[string]ssh.Signer{
		"expired":             certified(t, authority, "ana", time.Now().Add(-time.Minute), "desk"),
		"a principal unnamed": certified(t, authority, "ana", later, "root"),
		"nobody's authority":  certified(t, signer(t), "ana", later, "desk"),
	}
	before := d.bare("--config", config, "--json", "audit", "list", "--all").want(t, 0)
	for name, key := range refused {
		if c, err := last.dial(last.user, key); err == nil {
			_ = c.Close()
			t.Errorf("sshd lets in: %s", name)
		}
	}
	for _, name := range []string{"nobody\x1b[2J", "../../root", "ana\nroot", strings.Repeat("x", 4000), ""} {
		if c, err := last.dial(name, people["the desk"]); err == nil {
			_ = c.Close()
			t.Errorf("sshd lets in the login name %q", name)
		}
	}
	after := d.bare("--config", config, "--json", "audit", "list", "--all").want(t, 0) // noControls checks the text output
	if len(after.rows) > len(before.rows)+2 {
		t.Errorf("who was not let in wrote to the log: %d records, then %d", len(before.rows), len(after.rows))
	}
	actors := map[string]bool{}
	for _, r := range after.rows {
		actors[fmt.Sprint(r["actor"])] = true
	}
	for _, want := range []string{"cert ana#7", `cert %1B]0;x%07%E2%80%AEana%0Aforget#7`, "cert " + ssh.FingerprintSHA256(authority.PublicKey()) + "#7", ssh.FingerprintSHA256(plain.PublicKey())} {
		if !actors[want] {
			t.Errorf("the log does not name %q; it names %q", want, slices.Sorted(maps.Keys(actors)))
		}
	}
	d.bare("--config", config, "audit", "verify").want(t, 0)
}

// TestStateBehindALink: XDG_STATE_HOME may be a link. A target that belongs to the account must work;
// with a target that another user could replace, the desk must change nothing, behind the machine's own
// sshd as in serve ssh.
func TestStateBehindALink(t *testing.T) {
	for name, tt := range map[string]struct {
		mode os.FileMode
		want int
	}{"its own": {0o700, 0}, "anybody's": {0o777, 6}} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			target := filepath.Join(d.dir, "target")
			link := filepath.Join(d.dir, "link")
			if err := os.Mkdir(target, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(target, tt.mode); err != nil { // regardless of the umask
				t.Fatal(err)
			}
			if err := os.Symlink(target, link); err != nil {
				t.Fatal(err)
			}
			d.env["XDG_STATE_HOME"] = link
			ana := signer(t)
			run := func(args ...string) int {
				return d.forced([]ssh.PublicKey{ana.PublicKey()}, nil, append([]string{"--open", "crewship=" + d.mem}, args...)...).exec(ana, nil)
			}
			if code := run("items"); code != 0 {
				t.Errorf("a look: exit %d", code)
			}
			before := d.read("daily/2026-05-21.md")
			if code := run("forget", "crewship:daily/2026-05-21.md", "--yes"); code != tt.want {
				t.Errorf("a change: exit %d, want %d", code, tt.want)
			}
			written, _ := filepath.Glob(filepath.Join(target, "memdesk", "audit", "*"))
			if got := d.read("daily/2026-05-21.md") != before; got != (tt.want == 0) || (len(written) > 0) != (tt.want == 0) {
				t.Errorf("changed: %v; the log is %v", got, written)
			}
			if tt.want != 0 {
				if r := d.bare("serve", "ssh", "--authorized-keys", "none", "--listen", "127.0.0.1:0"); r.code == 0 {
					t.Errorf("serve ssh begins: %s", r.err)
				}
				return
			}
			g := newGuest(t, d.server(line(ana)), ana, 120, 40)
			g.see("[2 Tiers]", "SHA256:").press("q")
			if _, err := os.Stat(filepath.Join(target, "memdesk", "ssh", "host_ed25519")); err != nil {
				t.Error(err)
			}
			d.bare("audit", "verify").want(t, 0)
		})
	}
}

// TestHostileGuests: a guest of serve ssh has another login name and an environment that names another
// role, key, log and configuration. It must count as its key alone, and the log must record it harmlessly.
func TestHostileGuests(t *testing.T) {
	d := newDesk(t)
	keys := map[string]ssh.Signer{"viewer": signer(t), "operator": signer(t)}
	d.env["MEMDESK_CONFIG"] = d.roleConfig("", keys)
	forged, elsewhere := filepath.Join(d.dir, "forged"), t.TempDir()
	if err := os.WriteFile(forged, []byte("publickey "+line(keys["operator"])), 0o600); err != nil {
		t.Fatal(err)
	}
	addr := d.server(line(keys["viewer"]) + line(keys["operator"]))
	for _, name := range []string{"root", "the operator", "a\nb", "\x1b]0;x\a\x1b[2J", "../../x", strings.Repeat("é", 300), "\u202eana", "\x00"} {
		g := newGuestAs(t, name, addr, keys["viewer"], 160, 40, "MEMDESK_ROLE=operator", "SSH_USER_AUTH="+forged, "USER=root", "XDG_STATE_HOME="+elsewhere,
			"MEMDESK_CONFIG="+filepath.Join(d.dir, "none.toml"), "EDITOR=/bin/sh", "SSH_CONNECTION=")
		g.see("viewer the viewer", "daily").press("7").see("your role (viewer) does not include the audit log").press("3").see("3: your role (viewer) does not include the texts").press("G\r").see("1 of 1").press("\r").see("does not cover read-content").press("q")
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
		t.Errorf("the client's state directory holds %v, %v", left, err)
	}
	r := d.bare("--json", "audit", "list", "--all").want(t, 0) // noControls checks the text output
	refused := 0
	for _, row := range r.rows {
		if row["action"] != "read-content" {
			continue
		}
		if row["phase"] == "outcome" {
			refused++
		}
		if row["actor"] != "the viewer" || row["role"] != "viewer" || row["result"] != "refused" && row["phase"] == "outcome" || !strings.Contains(fmt.Sprint(row["session"]), "@127.0.0.1:") {
			t.Errorf("the log has %v", row)
		}
	}
	if refused < 8 {
		t.Errorf("%d refusals are in the log, want one of each guest", refused)
	}
}

package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/ui/cli"
)

// roleConfig writes a configuration that gives roles to keys, beside the desk's store.
func (d *desk) roleConfig(more string, roles map[string]ssh.Signer) string {
	d.t.Helper()
	text := "[[store]]\nname = \"crewship\"\nkind = \"crewship\"\npath = \"" + d.mem + "\"\n" + more
	for role, key := range roles {
		text += fmt.Sprintf("[[operator.role]]\nname = \"the %s\"\nkey = %q\nrole = %q\n", role, ssh.FingerprintSHA256(key.PublicKey()), role)
	}
	path := filepath.Join(d.dir, "roles.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return path
}

func (s *realSSHD) dial(user string, key ssh.Signer) (*ssh.Client, error) {
	return ssh.Dial("tcp", s.addr, &ssh.ClientConfig{User: user, Auth: []ssh.AuthMethod{ssh.PublicKeys(key)}, HostKeyCallback: ssh.InsecureIgnoreHostKey(), Timeout: patience})
}

// exec runs the command that sshd forces and returns its exit code. The client sends a hostile environment.
func (s *realSSHD) exec(key ssh.Signer, env map[string]string) int {
	s.t.Helper()
	c, err := s.dial(s.user, key)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	session, err := c.NewSession()
	if err != nil {
		s.t.Fatal(err)
	}
	defer session.Close()
	for k, v := range env {
		if err := session.Setenv(k, v); err != nil {
			s.t.Fatalf("%s: %v", k, err)
		}
	}
	switch err := session.Run("/bin/sh").(type) {
	case nil:
		return 0
	case *ssh.ExitError:
		return err.ExitStatus()
	default:
		s.t.Fatal(err)
		return 0
	}
}

// TestRolesBehindSSHD: each key's role must apply behind the machine's own sshd. A client whose
// environment names another role, key, log and configuration must stay its key.
func TestRolesBehindSSHD(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	keys := map[string]ssh.Signer{}
	var all []ssh.PublicKey
	for _, role := range backends.RoleNames {
		keys[role] = signer(t)
	}
	config := d.roleConfig("", keys)
	keys["nobody's"] = signer(t) // let in by sshd, but named by no block
	for _, k := range keys {
		all = append(all, k.PublicKey())
	}
	first := d.bare("--config", config, "--json", "forget", "crewship:daily/2026-05-21.md", "--yes")
	if first.code != 0 {
		t.Fatalf("a shell of the account: %d %s", first.code, first.err) // makes a log
	}
	forged := filepath.Join(d.dir, "forged")
	if err := os.WriteFile(forged, []byte("publickey "+strings.TrimSpace(string(ssh.MarshalAuthorizedKey(keys["operator"].PublicKey())))+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	hostile := map[string]string{"MEMDESK_ROLE": "operator", "SSH_USER_AUTH": forged, "SSH_CONNECTION": "", "SSH_CLIENT": "", "SSH_TTY": "",
		"USER": "root", "LOGNAME": "root", "XDG_STATE_HOME": t.TempDir(), "MEMDESK_CONFIG": filepath.Join(d.dir, "none.toml"), "MEMDESK_READ_ONLY": "no"}
	for _, tt := range []struct {
		args []string
		may  string
	}{
		{[]string{"items"}, "viewer, reviewer, operator, approver, auditor, privacy officer, nobody's"},
		{[]string{"health"}, "viewer, reviewer, operator, approver, auditor, privacy officer, nobody's"},
		{[]string{"show", "crewship:AGENT.md"}, "reviewer, operator, approver, privacy officer"},
		{[]string{"items", "--query", "harbour"}, "reviewer, operator, approver, privacy officer"},
		{[]string{"undo", "show", fmt.Sprint(first.rows[0]["undo"])}, "reviewer, operator, approver, privacy officer"},
		{[]string{"audit", "list"}, "operator, auditor, privacy officer"},
		{[]string{"gdpr", "status"}, "operator, approver, auditor, privacy officer"},
		{[]string{"forget", "crewship:gone.md", "--yes"}, "operator"},
	} {
		s := d.forced(all, nil, append([]string{"--config", config}, tt.args...)...)
		for role, key := range keys {
			want := 6
			if slices.Contains(strings.Split(tt.may, ", "), role) {
				want = 0
			}
			if code := s.exec(key, hostile); code != want {
				t.Errorf("%v as %s: exit %d, want %d", tt.args, role, code, want)
			}
		}
	}
	r := d.bare("--config", config, "--json", "audit", "list", "--all").want(t, 0)
	seen := map[string]bool{}
	for _, row := range r.rows {
		if row["result"] == "refused" {
			seen[fmt.Sprint(row["action"], " by ", row["role"])] = true
		}
	}
	for _, want := range []string{"read-content by viewer", "read-content by auditor", "read-log by reviewer", "read-requests by viewer", "forget by auditor", "forget by privacy officer"} {
		if !seen[want] {
			t.Errorf("not in the log: a refused %s; there are %v", want, seen)
		}
	}
	if !strings.Contains(r.out, `"actor":"the auditor"`) {
		t.Error("the log does not have the name that the block gives")
	}
}

// TestRolesInTheOwnServer: the same by serve ssh, which accepts no environment.
func TestRolesInTheOwnServer(t *testing.T) {
	d := newDesk(t)
	keys := map[string]ssh.Signer{"viewer": signer(t), "reviewer": signer(t)}
	d.env["MEMDESK_CONFIG"] = d.roleConfig("", keys)
	addr := d.server(line(keys["viewer"]) + line(keys["reviewer"]))
	g := newGuest(t, addr, keys["reviewer"], 160, 40)
	g.see("reviewer the reviewer", "daily").press("G\r").see("1 of 1").press("\r").see("second harbour")
	g.press("q")
	g = newGuest(t, addr, keys["viewer"], 160, 40)
	g.see("viewer the viewer", "daily").press("G\r").see("1 of 1").press("\r").see("does not cover read-content")
	if strings.Contains(g.frame(), "harbour") {
		t.Errorf("a viewer sees content:\n%s", g.frame())
	}
	g.press("\x1b7").see("your role (viewer) does not include the audit log").press("6").see("6: your role (viewer) does not include requests to be forgotten")
	g.press("q")
}

func line(key ssh.Signer) string { return string(ssh.MarshalAuthorizedKey(key.PublicKey())) }

// TestRolesByToken: a token's role must narrow its scopes.
func TestRolesByToken(t *testing.T) {
	d := newDesk(t)
	tokens := filepath.Join(d.dir, "tokens")
	secret := func(name string) string { return name + "-0123456789abcdefghij" }
	text := ""
	for _, name := range []string{"watcher", "looker", "writer"} {
		text += name + " " + secret(name) + "\n"
	}
	if err := os.WriteFile(tokens, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d.env["MEMDESK_CONFIG"] = d.roleConfig("[[operator.role]]\ntoken = \"watcher\"\nrole = \"viewer\"\n[[operator.role]]\ntoken = \"looker\"\nrole = \"reviewer\"\n", nil)
	url := d.provider("--tokens", tokens)
	for _, tt := range []struct {
		name          string
		recall, write int
	}{{"watcher", 6, 6}, {"looker", 0, 6}, {"writer", 0, 0}} {
		d.env["MEMDESK_T"] = secret(tt.name)
		delete(d.env, "MEMDESK_CONFIG")
		far := []string{"--open", "remote=MEMDESK_T@" + url}
		if r := d.bare(append(far, "health", "--json")...); r.code != 0 {
			t.Errorf("%s: health %d %s", tt.name, r.code, r.err)
		}
		if r := d.bare(append(far, "show", "remote:AGENT.md")...); r.code != tt.recall {
			t.Errorf("%s: show %d, want %d: %s", tt.name, r.code, tt.recall, r.err)
		}
		d.in = "a line\n"
		if r := d.bare(append(far, "retain", "--tier", "daily", "--key", "2026-05-21", "--mode", "append", "--yes", "-")...); r.code != tt.write {
			t.Errorf("%s: retain %d, want %d: %s", tt.name, r.code, tt.write, r.err)
		}
	}
	if got := strings.Count(d.read("daily/2026-05-21.md"), "a line"); got != 1 {
		t.Errorf("%d lines were written", got)
	}
}

// TestHostileLoginNames: a login name must be shown and logged harmlessly, and identify no operator.
func TestHostileLoginNames(t *testing.T) {
	d := newDesk(t)
	config := d.roleConfig("[operator.names]\n\"SHA256:x\" = \"ana\"\n[[operator.role]]\nname = \"ana\"\nrole = \"operator\"\n[[operator.role]]\nkey = \"SHA256:x\"\nrole = \"viewer\"\n", nil)
	for i, name := range []string{"ana", "SHA256:x", "a\nb", "\x1b]0;x\a", "../../x", strings.Repeat("é", 300), "\u202eana", "\x00", ""} {
		var out, errw bytes.Buffer
		p := cli.Program{Args: []string{"--config", config, "--json", "forget", "crewship:none.md", "--yes"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errw,
			Env: func(k string) string {
				if k == "SSH_CONNECTION" {
					return "192.0.2.1 1 192.0.2.2 22"
				}
				return d.env[k]
			}, Dir: d.dir, Clock: clock.System{}, Version: "test", Kinds: backends.Builtin(), Terminal: func(any) bool { return false }, User: name, TTY: name}
		if code := p.Run(t.Context()); code != 6 {
			t.Errorf("%q over SSH without a key: exit %d: %s", name, code, errw.String())
		}
		rows := d.bare("--config", config, "--json", "audit", "list", "--all").rows // noControls checks the text output
		if actor := fmt.Sprint(rows[0]["actor"]); len(rows) < 2*(i+1) || !strings.HasPrefix(actor, "unauthenticated ") || len(actor) > 160 {
			t.Errorf("%q: %d records, the newest by %q", name, len(rows), actor)
		}
	}
	d.bare("--config", config, "audit", "verify").want(t, 0)
}

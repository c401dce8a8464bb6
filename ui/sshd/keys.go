package sshd

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"memdesk/internal/atomicfile"
	"memdesk/internal/privatefile"
)

// Role is the rights of a key.
type Role string

// The roles. A reader may look and not change anything.
const (
	Operator Role = "operator"
	Reader   Role = "readonly"
)

// RoleVariable is the variable that `environment=` in an authorized_keys line sets to make a
// key a reader: environment="MEMDESK_ROLE=readonly".
const RoleVariable = "MEMDESK_ROLE"

// maxKeyFile bounds a file of keys.
const maxKeyFile = 1 << 20

// AuthorizedKey is one line of the file.
type AuthorizedKey struct {
	Key  ssh.PublicKey
	Role Role
	Line int
}

// ReadAuthorizedKeys reads a file in the format of sshd(8). The file must belong to this user or root and be
// writable by nobody else. A line with a restriction unknown to this server, such as from= or command=, is an
// error: ignoring it would grant more than was written.
func ReadAuthorizedKeys(path string) ([]AuthorizedKey, error) {
	text, err := privatefile.Read(path, privatefile.Unwritable, maxKeyFile)
	if err != nil {
		return nil, fmt.Errorf("the authorized keys cannot be read: %w", atomicfile.Pathless(err))
	}
	return ParseAuthorizedKeys(bytes.NewReader(text))
}

// ParseAuthorizedKeys reads the lines. A file without a key is an error: nobody could log in.
func ParseAuthorizedKeys(r io.Reader) ([]AuthorizedKey, error) {
	var out []AuthorizedKey
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxKeyFile)
	for n := 1; s.Scan(); n++ {
		line := strings.TrimSpace(s.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(line))
		if err != nil {
			return nil, fmt.Errorf("authorized keys, line %d: no key that can be read", n)
		}
		role, err := roleOf(options)
		if err != nil {
			return nil, fmt.Errorf("authorized keys, line %d: %w", n, err)
		}
		if _, cert := key.(*ssh.Certificate); cert {
			return nil, fmt.Errorf("authorized keys, line %d: a certificate stands where a key should", n)
		}
		if k, twice := find(out, key); twice {
			return nil, fmt.Errorf("authorized keys, line %d: the key of line %d again", n, k.Line)
		}
		out = append(out, AuthorizedKey{key, role, n})
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("authorized keys cannot be read: %w", err)
	}
	if len(out) == 0 {
		return nil, errors.New("the authorized keys hold no key: nobody could come in")
	}
	return out, nil
}

// granted are options that this server keeps in any case, because it lacks the functions that they restrict.
var granted = []string{
	"no-agent-forwarding", "no-port-forwarding", "no-user-rc", "no-x11-forwarding",
	"agent-forwarding", "port-forwarding", "user-rc", "x11-forwarding", "no-touch-required",
}

func roleOf(options []string) (Role, error) {
	role, pty := Role(""), true
	for _, o := range options {
		name, value, _ := strings.Cut(o, "=")
		name = strings.ToLower(name)
		switch {
		case slices.Contains(granted, name):
		case name == "restrict", name == "no-pty":
			pty = false
		case name == "pty": // after restrict, as in sshd(8)
			pty = true
		case name == "environment":
			set, isRole := strings.CutPrefix(strings.Trim(value, `"`), RoleVariable+"=")
			if !isRole {
				return "", fmt.Errorf("the only environment that a key can have here is %s", RoleVariable)
			}
			if role != "" {
				return "", fmt.Errorf("%s is given twice", RoleVariable)
			}
			if role = Role(set); role != Operator && role != Reader {
				return "", fmt.Errorf("%s is %s or %s", RoleVariable, Operator, Reader)
			}
		default:
			return "", fmt.Errorf("the option %q is not known here: memdesk would not keep it, so it grants nothing", name)
		}
	}
	if !pty {
		return "", errors.New("restrict or no-pty takes the terminal away, and this server has only the console: add pty after it")
	}
	return cmp.Or(role, Operator), nil
}

// find gives the line of a key, or false.
func find(keys []AuthorizedKey, key ssh.PublicKey) (AuthorizedKey, bool) {
	i := slices.IndexFunc(keys, func(k AuthorizedKey) bool { return bytes.Equal(k.Key.Marshal(), key.Marshal()) })
	if i < 0 {
		return AuthorizedKey{}, false
	}
	return keys[i], true
}

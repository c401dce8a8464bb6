package audit

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"

	"memdesk/internal/privatefile"
)

// Actor is the operator who acts, as far as known.
type Actor struct {
	// ID is the actor in records: a configured name, a key's fingerprint, a
	// certificate's id, or "unauthenticated user@tty".
	ID            string
	Authenticated bool   // by an SSH key; a login name alone authenticates nobody
	Key           string // SHA256 fingerprint of the key, as ssh-keygen shows it
	Cert          string // key id of the certificate, with its serial; empty for a plain key
	CA            string // fingerprint of the CA key that signed the certificate
	// Principals are those of the certificate; sshd has compared them with the login.
	Principals []string
}

// Named sets ID to the operator's name that is configured for the key or the certificate id; without one the
// actor is unchanged.
func (a Actor) Named(names map[string]string) Actor {
	if !a.Authenticated {
		return a
	}
	name := names[a.Key]
	if name == "" && a.Cert != "" && a.CA != "" {
		name = names[a.CA+" "+a.Cert]
	}
	if name != "" {
		a.ID = token(name)
	}
	return a
}

// Is reports whether the actor has a configured name, as it was written or as records have it.
func (a Actor) Is(name string) bool { return a.ID == name || a.ID == token(name) }

// maxAuthFile bounds what sshd writes for a session.
const maxAuthFile = 64 << 10

// IdentifyOperator finds the key of this session in the file that sshd names in SSH_USER_AUTH (sshd_config
// ExposeAuthInfo). Without the file, or when it is not a private file of this user or root, the operator is
// unauthenticated, whatever the login name; only then are user and tty part of the ID.
func IdentifyOperator(env func(string) string, user, tty string) Actor {
	unknown := Actor{ID: token("unauthenticated " + orDash(user) + "@" + orDash(tty))}
	b, err := privatefile.Read(env("SSH_USER_AUTH"), privatefile.Unlinked, maxAuthFile) // sshd makes no link
	if err != nil {
		return unknown
	}
	a, err := ParseUserAuth(b)
	if err != nil {
		return unknown
	}
	return a
}

func orDash(s string) string {
	if s = strings.TrimSpace(s); s == "" {
		return "-"
	}
	return s
}

// ParseUserAuth reads the lines of SSH_USER_AUTH, "<method>" or "publickey <type> <base64>", and returns the
// first key. Other methods identify nobody.
func ParseUserAuth(b []byte) (Actor, error) {
	s := bufio.NewScanner(bytes.NewReader(b))
	s.Buffer(nil, maxAuthFile)
	for s.Scan() {
		words := strings.Fields(s.Text())
		if len(words) < 3 || words[0] != "publickey" {
			continue
		}
		return parseKeyBlob(words[1], words[2])
	}
	return Actor{}, errors.New("no public key was used")
}

const certPrefix = "cert "

func parseKeyBlob(kind, encoded string) (Actor, error) {
	blob, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return Actor{}, errors.New("key is not base64")
	}
	key, err := ssh.ParsePublicKey(blob)
	if err != nil || key.Type() != kind {
		return Actor{}, errors.New("key is malformed, or not of the type it says")
	}
	c, ok := key.(*ssh.Certificate)
	if !ok {
		fp := ssh.FingerprintSHA256(key)
		return Actor{ID: fp, Authenticated: true, Key: fp}, nil
	}
	if c.CertType != ssh.UserCert {
		return Actor{}, errors.New("certificate is none of a user")
	}
	cert := escape(c.KeyId+"#"+strconv.FormatUint(c.Serial, 10), maxToken-len(certPrefix), plainByte)
	return Actor{
		ID: certPrefix + cert, Authenticated: true, Key: ssh.FingerprintSHA256(c.Key), Cert: cert,
		CA: ssh.FingerprintSHA256(c.SignatureKey), Principals: c.ValidPrincipals,
	}, nil
}

package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Actor is the operator who acts, as far as known.
type Actor struct {
	// ID is the actor in records: a configured name, a key's fingerprint, a
	// certificate's id, or "unauthenticated user@tty".
	ID            string
	Authenticated bool   // by an SSH key; a login name alone authenticates nobody
	Key           string // SHA256 fingerprint of the key, as ssh-keygen shows it
	KeyType       string
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

// maxAuthFile bounds what sshd writes for a session.
const maxAuthFile = 64 << 10

// IdentifyOperator finds the key of this session in the file that sshd names in SSH_USER_AUTH (sshd_config
// ExposeAuthInfo). Without the file, or when it is not a private file of this user or root, the operator is
// unauthenticated, whatever the login name; only then are user and tty part of the ID.
func IdentifyOperator(env func(string) string, user, tty string) Actor {
	unknown := Actor{ID: token("unauthenticated " + orDash(user) + "@" + orDash(tty))}
	path := env("SSH_USER_AUTH")
	if path == "" {
		return unknown
	}
	b, err := readAuthFile(path)
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

func readAuthFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !trusted(info) || info.Size() > maxAuthFile {
		return nil, errors.New("not a file that sshd wrote")
	}
	return io.ReadAll(io.LimitReader(f, maxAuthFile))
}

// trusted accepts a regular file of this user or root that nobody else can write.
func trusted(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().IsRegular() && info.Mode().Perm()&0o022 == 0 && (st.Uid == 0 || int(st.Uid) == os.Getuid())
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

// certFields is how many wire strings of a certificate are the public key
// (OpenSSH PROTOCOL.certkeys; every field of a key has the form of a string).
var certFields = map[string]int{
	"ssh-rsa":                            2,
	"ssh-dss":                            4,
	"ssh-ed25519":                        1,
	"ecdsa-sha2-nistp256":                2,
	"ecdsa-sha2-nistp384":                2,
	"ecdsa-sha2-nistp521":                2,
	"sk-ssh-ed25519@openssh.com":         2,
	"sk-ecdsa-sha2-nistp256@openssh.com": 3,
}

func parseKeyBlob(kind, encoded string) (Actor, error) {
	blob, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return Actor{}, errors.New("key is not base64")
	}
	w := wire{b: blob}
	if inner := string(w.str()); w.bad || inner != kind {
		return Actor{}, errors.New("key is not of the type it says")
	}
	plain, isCert := plainKind(kind)
	if !isCert {
		if certFields[kind] == 0 {
			return Actor{}, errors.New("unknown type of key")
		}
		for range certFields[kind] {
			w.str()
		}
		if w.bad || len(w.b) != 0 {
			return Actor{}, errors.New("key is malformed")
		}
		fp := fingerprint(blob)
		return Actor{ID: fp, Authenticated: true, Key: fp, KeyType: kind}, nil
	}
	return parseCert(kind, plain, w)
}

// plainKind is the key type inside a certificate's type.
func plainKind(kind string) (string, bool) {
	const plainSuffix, skSuffix = "-cert-v01@openssh.com", "@openssh.com"
	base, ok := strings.CutSuffix(kind, plainSuffix)
	if !ok {
		return "", false
	}
	if strings.HasPrefix(base, "sk-") {
		base += skSuffix
	}
	return base, certFields[base] > 0
}

const certPrefix = "cert "

// parseCert reads a certificate after its type.
func parseCert(kind, plain string, w wire) (Actor, error) {
	w.str() // nonce
	key := appendString(nil, []byte(plain))
	for range certFields[plain] {
		key = appendString(key, w.str())
	}
	serial, use := w.uint64(), w.uint32()
	id := w.str()
	names := wire{b: w.str()}
	w.uint64() // valid after
	w.uint64() // valid before
	w.str()    // critical options
	w.str()    // extensions
	w.str()    // reserved
	signer, _ := w.str(), w.str()
	if w.bad || len(w.b) != 0 || use != 1 {
		return Actor{}, errors.New("certificate is malformed, or none of a user")
	}
	var principals []string
	for len(names.b) > 0 && !names.bad {
		principals = append(principals, string(names.str()))
	}
	if names.bad {
		return Actor{}, errors.New("certificate is malformed")
	}
	cert := escape(string(id)+"#"+strconv.FormatUint(serial, 10), maxToken-len(certPrefix), plainByte)
	return Actor{
		ID: certPrefix + cert, Authenticated: true, Key: fingerprint(key), KeyType: kind, Cert: cert, CA: fingerprint(signer), Principals: principals,
	}, nil
}

func fingerprint(blob []byte) string {
	sum := sha256.Sum256(blob)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// wire reads SSH's wire form; bad stays set after the first error.
type wire struct {
	b   []byte
	bad bool
}

func (w *wire) take(n uint64) []byte {
	if w.bad || n > uint64(len(w.b)) {
		w.bad = true
		return nil
	}
	out := w.b[:n]
	w.b = w.b[n:]
	return out
}

func (w *wire) uint32() uint32 {
	if b := w.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (w *wire) uint64() uint64 {
	if b := w.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (w *wire) str() []byte { return w.take(uint64(w.uint32())) }

func appendString(b, s []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
	return append(b, s...)
}

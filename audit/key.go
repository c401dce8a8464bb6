package audit

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// ErrNoKey reports that there is no key, or no longer: no record can be looked up by a typed name.
var ErrNoKey = errors.New("audit key is absent")

const (
	keyFile   = "key"
	keyPrefix = "memdesk-audit-key-v1 "
)

// key is the secret behind the keyed hashes of one epoch.
type key struct {
	id     string
	secret [32]byte
}

func newKey() key {
	var k key
	rand.Read(k.secret[:]) // never fails: crypto/rand ends the program instead
	k.id = keyID(k.secret)
	return k
}

// keyID is derived from the secret, so a damaged key file cannot go unnoticed.
func keyID(secret [32]byte) string {
	sum := sha256.Sum256(append([]byte("memdesk-audit-key-id\x00"), secret[:]...))
	return hex.EncodeToString(sum[:8])
}

func (k key) encode() []byte {
	return []byte(keyPrefix + k.id + " " + hex.EncodeToString(k.secret[:]) + "\n")
}

// parseKey accepts exactly what encode writes.
func parseKey(b []byte) (key, error) {
	var k key
	rest, ok := strings.CutPrefix(string(b), keyPrefix)
	id, secret, found := strings.Cut(strings.TrimSuffix(rest, "\n"), " ")
	if n, err := hex.Decode(k.secret[:], []byte(secret[:min(len(secret), 64)])); !ok || !found || err != nil || n != len(k.secret) {
		return key{}, errors.New("key file is damaged")
	}
	k.id = keyID(k.secret)
	if k.id != id || string(k.encode()) != string(b) {
		return key{}, errors.New("key file is damaged: the id is not that of the key")
	}
	return k, nil
}

// readKey reads the key; ErrNoKey when there is none. A file that others may
// read is refused: the hashes would be as good as clear to them.
func (l *Log) readKey() (key, error) {
	b, err := l.readSecret(l.path(keyFile), "key file")
	if errors.Is(err, fs.ErrNotExist) {
		return key{}, ErrNoKey
	}
	if err != nil {
		return key{}, err
	}
	return parseKey(b)
}

// target and subject are the keyed hashes "hmac:<key id>:<128 bits>" of
// audit-log.md: HMAC-SHA-256(key, label NUL normalised id), truncated. Another normalisation needs other
// labels, so that old hashes keep their meaning.
func (k key) target(name string) string { return k.hash("target", normalTarget(name)) }

func (k key) subject(id string) string { return k.hash("subject", normalSubject(id)) }

func (k key) hash(label, normal string) string {
	m := hmac.New(sha256.New, k.secret[:])
	m.Write([]byte(label + "\x00" + normal))
	return k.prefix() + hex.EncodeToString(m.Sum(nil)[:16])
}

// prefix begins every hash of the key.
func (k key) prefix() string { return "hmac:" + k.id + ":" }

// normalTarget is trim and NFC: ids and paths keep their case.
func normalTarget(s string) string { return norm.NFC.String(strings.TrimSpace(s)) }

// normalSubject is also lower-case, because people type an e-mail address in any.
func normalSubject(s string) string {
	return norm.NFC.String(strings.ToLower(norm.NFC.String(strings.TrimSpace(s))))
}

// HashTarget is the stored form of an item's id; ErrNoKey before the first record and after the key was
// destroyed.
func (l *Log) HashTarget(name string) (string, error) {
	k, err := l.readKey()
	if err != nil {
		return "", err
	}
	return k.target(name), nil
}

package checkpoint

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// algorithms of a verifier key (c2sp.org/signed-note).
const (
	algEd25519     = 1
	algCosignature = 4
)

// stampSize is the size of the time before a cosignature, in bytes.
const stampSize = 8

// Verifier reads a verifier key, name+hash+key, of a log or of a witness.
func Verifier(vkey string) (note.Verifier, error) {
	name, public, alg, err := parseKey(strings.TrimSpace(vkey))
	if err != nil {
		return nil, err
	}
	if alg == algEd25519 {
		return note.NewVerifier(strings.TrimSpace(vkey))
	}
	return cosigner{name: name, public: public}, nil
}

// IsWitness reports whether a verifier is a witness's.
func IsWitness(v note.Verifier) bool {
	_, ok := v.(cosigner)
	return ok
}

// Verifiers reads the verifier keys of a file, one per line.
func Verifiers(text []byte) ([]note.Verifier, error) {
	var out []note.Verifier
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		v, err := Verifier(line)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	if len(out) == 0 {
		return nil, errors.New("there is no verifier key: want name+hash+key")
	}
	return out, nil
}

func parseKey(vkey string) (name string, public ed25519.PublicKey, alg byte, err error) {
	bad := errors.New("verifier key is not of the form name+hash+key")
	name, rest, ok := strings.Cut(vkey, "+")
	hash, encoded, ok2 := strings.Cut(rest, "+")
	b, derr := base64.StdEncoding.Strict().DecodeString(encoded)
	if !ok || !ok2 || derr != nil || len(b) != 1+ed25519.PublicKeySize || name == "" || strings.ContainsAny(name, " \t\n") {
		return "", nil, 0, bad
	}
	if b[0] != algEd25519 && b[0] != algCosignature {
		return "", nil, 0, fmt.Errorf("verifier key of %q is of an unknown algorithm, %d", name, b[0])
	}
	if want := fmt.Sprintf("%08x", keyHash(name, b)); hash != want {
		return "", nil, 0, fmt.Errorf("verifier key of %q has the hash %s, not %s", name, want, hash)
	}
	return name, ed25519.PublicKey(b[1:]), b[0], nil
}

// keyHash is the short name of a key; b is the algorithm and the key.
func keyHash(name string, b []byte) uint32 {
	sum := sha256.Sum256(append([]byte(name+"\n"), b...))
	return binary.BigEndian.Uint32(sum[:4])
}

// cosigner signs and checks cosignature/v1, over the time and the text: a witness states when it saw a
// checkpoint.
type cosigner struct {
	name    string
	public  ed25519.PublicKey
	private ed25519.PrivateKey // nil: checks only
	now     func() time.Time
}

func (c cosigner) Name() string    { return c.name }
func (c cosigner) KeyHash() uint32 { return keyHash(c.name, c.key()) }
func (c cosigner) key() []byte     { return append([]byte{algCosignature}, c.public...) }

// message is the signed message, for a time in seconds since 1970.
func message(at uint64, text []byte) []byte {
	return append([]byte("cosignature/v1\ntime "+strconv.FormatUint(at, 10)+"\n"), text...)
}

// Verify implements note.Verifier.
func (c cosigner) Verify(text, sig []byte) bool {
	return len(sig) == stampSize+ed25519.SignatureSize &&
		ed25519.Verify(c.public, message(binary.BigEndian.Uint64(sig), text), sig[stampSize:])
}

// Sign implements note.Signer.
func (c cosigner) Sign(text []byte) ([]byte, error) {
	if c.private == nil {
		return nil, errors.New("there is no private key to sign with")
	}
	at := uint64(max(0, c.now().Unix()))
	return append(binary.BigEndian.AppendUint64(nil, at), ed25519.Sign(c.private, message(at, text))...), nil
}

// cosignerPrefix is the prefix of a witness's private key in a file.
const cosignerPrefix = "COSIGNER+KEY+"

// NewCosigner makes the key of a witness, as text for a private file.
func NewCosigner(name string) string {
	seed := make([]byte, ed25519.SeedSize)
	rand.Read(seed) // never fails: crypto/rand ends the program instead
	return cosignerPrefix + name + "+" + base64.StdEncoding.EncodeToString(seed) + "\n"
}

// Cosigner reads a key of NewCosigner; now is the clock of its signatures.
func Cosigner(text string, now func() time.Time) (signer note.Signer, vkey string, err error) {
	rest, ok := strings.CutPrefix(strings.TrimSuffix(text, "\n"), cosignerPrefix)
	name, encoded, ok2 := strings.Cut(rest, "+")
	seed, derr := base64.StdEncoding.Strict().DecodeString(encoded)
	if !ok || !ok2 || derr != nil || len(seed) != ed25519.SeedSize || name == "" {
		return nil, "", errors.New("the witness's key file is damaged")
	}
	private := ed25519.NewKeyFromSeed(seed)
	c := cosigner{name: name, public: private.Public().(ed25519.PublicKey), private: private, now: now}
	return c, fmt.Sprintf("%s+%08x+%s", name, c.KeyHash(), base64.StdEncoding.EncodeToString(c.key())), nil
}

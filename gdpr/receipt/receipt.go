// Package receipt is the signed statement of a finished erasure: what was done,
// where, and what was looked at afterwards. It holds no name of the person, and
// any change to it is found.
package receipt

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// Receipt is what is signed.
type Receipt struct {
	V         int     `json:"v"`
	Request   string  `json:"request"`
	Subject   string  `json:"subject"` // keyed pseudonym
	Plan      string  `json:"plan_hash"`
	Received  string  `json:"received"`
	Deadline  string  `json:"deadline"`
	Begun     string  `json:"begun"` // RFC 3339, UTC
	Finished  string  `json:"finished"`
	Operator  string  `json:"operator"`
	Approver  string  `json:"approver,omitempty"` // fingerprint
	Forgotten int64   `json:"forgotten"`
	Redacted  int64   `json:"redacted"`
	Held      int64   `json:"held"`
	Stores    []Store `json:"stores"`
	Layers    []Layer `json:"layers"`
	// Notes say what is out of reach and until when it may hold copies.
	Notes []string `json:"notes"`
}

// Store counts what was done in one store.
type Store struct {
	Store     string `json:"store"`
	Kind      string `json:"kind"`
	Forgotten int64  `json:"forgotten"`
	Redacted  int64  `json:"redacted"`
	Held      int64  `json:"held"`
	Rows      int64  `json:"rows"` // of side tables and copies, by the scrub
	// Backups says until when copies that nobody reaches from here may hold the person.
	Backups string `json:"backups,omitempty"`
}

// Layer is the verdict over one layer.
type Layer struct {
	Store        string        `json:"store"`
	Layer        string        `json:"layer"`
	Verdict      model.Verdict `json:"verdict"`
	Method       string        `json:"method"`
	BytesScanned int64         `json:"bytes_scanned"`
	Hits         int64         `json:"hits"`
	Reason       string        `json:"reason,omitempty"`
	// Count is how many layers the row speaks for; 0 is one.
	Count int64 `json:"count,omitempty"`
}

// Key signs receipts.
type Key struct{ private ed25519.PrivateKey }

const keyPrefix = "memdesk-receipt-key-v1 "

// ReadKey reads the key; fs.ErrNotExist when there is none.
func ReadKey(path string) (Key, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Key{}, err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return Key{}, model.Errorf(model.PermissionDenied, "receipt", "the receipt key must be a regular file of mode 0600")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return Key{}, err
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(string(b)), keyPrefix)
	seed, err := hex.DecodeString(rest)
	if !ok || err != nil || len(seed) != ed25519.SeedSize {
		return Key{}, model.Errorf(model.Internal, "receipt", "the receipt key is damaged")
	}
	return Key{ed25519.NewKeyFromSeed(seed)}, nil
}

// LoadKey reads the key and makes it when there is none.
func LoadKey(path string) (Key, error) {
	k, err := ReadKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	seed := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) // never fails
	temp := path + ".tmp." + atomicfile.Suffix()
	if err := atomicfile.Write(temp, []byte(keyPrefix+hex.EncodeToString(seed)+"\n"), 0o600); err != nil {
		return Key{}, model.Errorf(model.Unavailable, "receipt", "the receipt key cannot be written")
	}
	err = os.Link(temp, path) // exclusive: the first process's key is the key
	_ = os.Remove(temp)       // one that stays is swept with what interrupted writes leave
	if k, rerr := ReadKey(path); rerr == nil || err == nil || errors.Is(err, fs.ErrExist) {
		return k, rerr
	}
	return Key{}, model.Errorf(model.Unavailable, "receipt", "the receipt key cannot be written")
}

// Public is the key's public half in hex.
func (k Key) Public() string {
	return hex.EncodeToString(k.private.Public().(ed25519.PublicKey))
}

// keyID names a public key.
func keyID(public []byte) string {
	sum := sha256.Sum256(append([]byte("memdesk-receipt-key-id\x00"), public...))
	return hex.EncodeToString(sum[:keyIDSize])
}

const keyIDSize = 8

// signed is the file.
type signed struct {
	Receipt   Receipt `json:"receipt"`
	KeyID     string  `json:"key_id"`
	PublicKey string  `json:"public_key"`
	Signature string  `json:"signature"`
}

// label separates these signatures from any other use of a key.
const label = "memdesk-receipt-v1\x00"

// Sign gives the file's bytes.
func (k Key) Sign(r Receipt) ([]byte, error) {
	r.V = 1
	r.Stores, r.Layers, r.Notes = notNil(r.Stores), notNil(r.Layers), notNil(r.Notes)
	payload, err := json.Marshal(r)
	if err != nil {
		return nil, model.E(model.Internal, "receipt", err)
	}
	public := k.private.Public().(ed25519.PublicKey)
	return encode(signed{Receipt: r, KeyID: keyID(public), PublicKey: hex.EncodeToString(public),
		Signature: hex.EncodeToString(ed25519.Sign(k.private, append([]byte(label), payload...)))})
}

func notNil[T any](s []T) []T { return append([]T{}, s...) }

func encode(s signed) ([]byte, error) {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, model.E(model.Internal, "receipt", err)
	}
	return append(b, '\n'), nil
}

// ErrTampered is behind every receipt that is not as it was signed.
var ErrTampered = errors.New("the receipt is not as it was signed")

// maxFile is the longest receipt that is read.
const maxFile = 64 << 20

// Signer is the key that signed a receipt. Anybody can make one: only who knows it
// from elsewhere knows whose receipt it is.
type Signer struct {
	KeyID     string
	PublicKey string // hex
	// Known says who vouches for the key; empty: nobody, and the receipt proves only
	// that it is as somebody signed it.
	Known Vouch
}

// Vouch is from where a key is known.
type Vouch string

// The vouches.
const (
	OwnKey    Vouch = "own"    // of the desk that looks
	PinnedKey Vouch = "pinned" // given by who asks
)

// Read checks a receipt, offline. pinned is the public key that must have signed
// it, in hex, or its key id; empty takes the one that stands in the receipt. Every
// byte of the file counts: the file must be exactly what Sign wrote.
func Read(file []byte, pinned string) (Receipt, Signer, error) {
	tampered := func(why string) (Receipt, Signer, error) {
		return Receipt{}, Signer{}, fmt.Errorf("%w: %s", ErrTampered, why)
	}
	if len(file) > maxFile {
		return tampered("it is longer than any receipt")
	}
	var s signed
	dec := json.NewDecoder(bytes.NewReader(file))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return tampered("it is no receipt")
	}
	again, err := encode(s)
	if err != nil || !bytes.Equal(again, file) {
		return tampered("a byte of it is not as it was written")
	}
	if s.PublicKey != strings.ToLower(s.PublicKey) || s.Signature != strings.ToLower(s.Signature) {
		return tampered("a byte of it is not as it was written") // hexadecimal reads both cases
	}
	public, err := hex.DecodeString(s.PublicKey)
	if err != nil || len(public) != ed25519.PublicKeySize || keyID(public) != s.KeyID {
		return tampered("its key is damaged")
	}
	if pinned != "" && pinned != s.PublicKey && pinned != s.KeyID {
		return tampered("it was signed with another key than the one that is expected")
	}
	payload, err := json.Marshal(s.Receipt)
	if err != nil {
		return tampered("it is no receipt")
	}
	sig, err := hex.DecodeString(s.Signature)
	if err != nil || !ed25519.Verify(public, append([]byte(label), payload...), sig) {
		return tampered("its signature does not fit")
	}
	if slices.ContainsFunc(s.Receipt.Layers, func(l Layer) bool { return !Passes(l.Verdict) }) {
		return tampered("it speaks of a layer that was not clean")
	}
	signer := Signer{KeyID: s.KeyID, PublicKey: s.PublicKey}
	if pinned != "" {
		signer.Known = PinnedKey
	}
	return s.Receipt, signer, nil
}

// CheckPin is InvalidInput for what is neither a public key nor a key id.
func CheckPin(pin string) error {
	b, err := hex.DecodeString(pin)
	if err != nil || len(b) != ed25519.PublicKeySize && len(b) != keyIDSize {
		return model.Errorf(model.InvalidInput, "receipt", "a receipt key is given as its public key (64 hexadecimal digits) or its key id (16)")
	}
	return nil
}

// Passes reports whether a verdict may stand in a receipt.
func Passes(v model.Verdict) bool { return v == model.VerdictClean || v == model.VerdictOutOfScope }

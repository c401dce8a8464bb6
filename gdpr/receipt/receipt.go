// Package receipt is the signed statement of a finished erasure: what was done, where, and what was verified
// afterwards. It holds no name of the subject, and any change to it is detected.
package receipt

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"memdesk/internal/keyfile"
	"memdesk/model"
)

// Key signs receipts.
type Key struct{ private ed25519.PrivateKey }

const keyName = "receipt"

// ReadKey reads the key; fs.ErrNotExist when there is none.
func ReadKey(path string) (Key, error) { return newKey(keyfile.Read(path, keyName)) }

// LoadKey reads the key, or makes it when there is none.
func LoadKey(path string) (Key, error) { return newKey(keyfile.Load(path, keyName)) }

func newKey(seed []byte, err error) (Key, error) {
	if err != nil {
		return Key{}, err
	}
	return Key{ed25519.NewKeyFromSeed(seed)}, nil
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

const keyIDSize = sha256.Size

// PayloadType names the payload in its envelope.
const PayloadType = "application/vnd.memdesk.erasure-receipt+json;v=1"

// envelope is the file: DSSE, with one signature.
type envelope struct {
	Type       string      `json:"payloadType"`
	Payload    string      `json:"payload"` // base64
	Signatures []signature `json:"signatures"`
}

type signature struct {
	KeyID string `json:"keyid"`
	// PublicKey is for readers who have the key from nowhere else: it does not prove who signed.
	PublicKey string `json:"public_key"`
	Sig       string `json:"sig"` // base64
}

// preAuth returns the bytes that DSSE signs (secure-systems-lab/dsse, protocol.md).
func preAuth(kind string, payload []byte) []byte {
	return append(fmt.Appendf(nil, "DSSEv1 %d %s %d ", len(kind), kind, len(payload)), payload...)
}

// Action is the log's action of the record that names a receipt; the record's scope is the receipt's Digest.
const Action = "gdpr.receipt"

// bodyEnd ends the part of a payload that the audit log's record names by its digest. A line end followed by
// one space occurs in no JSON string and in no inner object.
const bodyEnd = ",\n \"checkpoint\": "

// Digest is the hash of a receipt's payload before its checkpoint, as sha256:<hex>.
func (r Receipt) Digest() (string, error) {
	payload, err := r.payload()
	if err != nil {
		return "", err
	}
	body, _, ok := bytes.Cut(payload, []byte(bodyEnd))
	if !ok {
		return "", model.Errorf(model.Internal, "receipt", "the payload has no checkpoint member")
	}
	sum := sha256.Sum256(body)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// payload returns the signed bytes.
func (r Receipt) payload() ([]byte, error) {
	r.V, r.Context = 1, Context()
	r.Stores, r.Layers, r.Held, r.Attested = notNil(r.Stores), notNil(r.Layers), notNil(r.Held), notNil(r.Attested)
	r.Open, r.Backups, r.Recipients, r.Exports = notNil(r.Open), notNil(r.Backups), notNil(r.Recipients), notNil(r.Exports)
	r.Notes, r.Cosignatures, r.Policy.Approvers = notNil(r.Notes), notNil(r.Cosignatures), notNil(r.Policy.Approvers)
	payload, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return nil, model.E(model.Internal, "receipt", err)
	}
	return payload, nil
}

// Sign returns the bytes of the signed file; Unsupported where they are more than Read takes.
func (k Key) Sign(r Receipt) ([]byte, error) {
	payload, err := r.payload()
	if err != nil {
		return nil, err
	}
	public := k.private.Public().(ed25519.PublicKey)
	file, err := encode(envelope{Type: PayloadType, Payload: base64.StdEncoding.EncodeToString(payload), Signatures: []signature{{
		KeyID: keyID(public), PublicKey: hex.EncodeToString(public),
		Sig: base64.StdEncoding.EncodeToString(ed25519.Sign(k.private, preAuth(PayloadType, payload)))}}})
	if err == nil && len(file) > maxFile {
		return nil, model.Errorf(model.Unsupported, "receipt", "it has %d layers and %d MB, and no receipt of more than %d MB can be read back", len(r.Layers), len(file)>>20, maxFile>>20)
	}
	return file, err
}

func notNil[T any](s []T) []T { return append([]T{}, s...) }

func encode(e envelope) ([]byte, error) {
	b, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return nil, model.E(model.Internal, "receipt", err)
	}
	return append(b, '\n'), nil
}

// ErrTampered is wrapped by every error about a receipt that was changed after it was signed.
var ErrTampered = errors.New("the receipt is not as it was signed")

// maxFile is the longest receipt that is read.
const maxFile = 64 << 20

// Signer is the key that signed a receipt. Anybody can make a key: only a reader who has it from elsewhere
// knows whose receipt it is.
type Signer struct {
	KeyID     string
	PublicKey string // hex
	// Known says who vouches for the key; empty: nobody, and the receipt only proves that it was not changed
	// since it was signed.
	Known Vouch
}

// Vouch says from where a key is known.
type Vouch string

// The vouches.
const (
	OwnKey    Vouch = "own"    // the key of the desk that reads
	PinnedKey Vouch = "pinned" // given by the caller
)

// Read checks a receipt, offline. pinned is the public key that must have signed it, in hex, or its key id;
// empty accepts the key in the receipt. Every byte of the file counts: it must be exactly what Sign wrote.
func Read(file []byte, pinned string) (Receipt, Signer, error) {
	tampered := func(why string) (Receipt, Signer, error) {
		return Receipt{}, Signer{}, fmt.Errorf("%w: %s", ErrTampered, why)
	}
	if len(file) > maxFile {
		return tampered("it is longer than any receipt")
	}
	var e envelope
	if err := strict(file, &e); err != nil || len(e.Signatures) != 1 || e.Type != PayloadType {
		return tampered("it is no receipt of this version")
	}
	if again, err := encode(e); err != nil || !bytes.Equal(again, file) {
		return tampered("a byte of it is not as it was written")
	}
	s := e.Signatures[0]
	public, err := hex.DecodeString(s.PublicKey)
	if err != nil || len(public) != ed25519.PublicKeySize || keyID(public) != s.KeyID || s.PublicKey != strings.ToLower(s.PublicKey) {
		return tampered("its key is damaged")
	}
	if pinned != "" && pinned != s.PublicKey && pinned != s.KeyID {
		return tampered("it was signed with another key than the one that is expected")
	}
	payload, err := base64.StdEncoding.Strict().DecodeString(e.Payload)
	if err != nil {
		return tampered("its payload is damaged")
	}
	sig, err := base64.StdEncoding.Strict().DecodeString(s.Sig)
	if err != nil || !ed25519.Verify(public, preAuth(e.Type, payload), sig) {
		return tampered("its signature does not fit")
	}
	var r Receipt
	if err := strict(payload, &r); err != nil {
		return tampered("its payload is no receipt of this version")
	}
	if slices.ContainsFunc(r.Layers, func(l Layer) bool { return !Passes(l.Verdict) }) {
		return tampered("it speaks of a layer that was not clean")
	}
	signer := Signer{KeyID: s.KeyID, PublicKey: s.PublicKey}
	if pinned != "" {
		signer.Known = PinnedKey
	}
	return r, signer, nil
}

// strict decodes one JSON value and refuses unknown fields.
func strict(b []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// CheckPin returns InvalidInput for a string that is neither a public key nor a key id.
func CheckPin(pin string) error {
	b, err := hex.DecodeString(pin)
	if err != nil || len(b) != keyIDSize { // a public key has the same length
		return model.Errorf(model.InvalidInput, "receipt", "a receipt key is given as its public key or its key id, 64 hexadecimal digits each")
	}
	return nil
}

// Passes reports whether a receipt may contain a verdict.
func Passes(v model.Verdict) bool {
	return v == model.VerdictClean || v == model.VerdictOutOfScope || v == model.VerdictAttested
}

// Items counts the held items.
func Items(held []Held) (n int64) {
	for _, h := range held {
		n += h.Items
	}
	return n
}

// Package sshsig signs and checks short messages with SSH keys in OpenSSH's own format (PROTOCOL.sshsig), so
// that `ssh-keygen -Y verify` reads them too. It does not decide whose a key is.
package sshsig

import (
	"bytes"
	"crypto/rand"
	"crypto/sha512"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"net"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"memdesk/internal/atomicfile"
	"memdesk/internal/privatefile"
	"memdesk/model"
)

// Signer holds or reaches a private key.
type Signer = ssh.Signer

// PublicKey is the public half of a Signer.
type PublicKey = ssh.PublicKey

const (
	magic    = "SSHSIG"
	hashName = "sha512"
	pemType  = "SSH SIGNATURE"
)

// Fingerprint is SHA256:…, in the form of ssh-keygen; of a certificate, that of the key in it.
func Fingerprint(k PublicKey) string { return ssh.FingerprintSHA256(certified(k)) }

// certified returns the key in a certificate, or the key itself. A signature proves only who has the key: its owner can
// make any number of certificates over it.
func certified(k PublicKey) PublicKey {
	if c, ok := k.(*ssh.Certificate); ok {
		return c.Key
	}
	return k
}

// envelope is the blob after the magic.
type envelope struct {
	Version   uint32
	PublicKey []byte
	Namespace string
	Reserved  string
	Hash      string
	Signature []byte
}

// toSign is the signed structure, after the magic.
type toSign struct {
	Namespace string
	Reserved  string
	Hash      string
	Sum       []byte
}

func signedBytes(namespace string, message []byte) []byte {
	sum := sha512.Sum512(message)
	return append([]byte(magic), ssh.Marshal(toSign{Namespace: namespace, Hash: hashName, Sum: sum[:]})...)
}

// Sign returns the armored signature.
func Sign(s Signer, namespace string, message []byte) (string, error) {
	data, key := signedBytes(namespace, message), certified(s.PublicKey())
	var sig *ssh.Signature
	var err error
	if as, ok := s.(ssh.AlgorithmSigner); ok && key.Type() == ssh.KeyAlgoRSA {
		sig, err = as.SignWithAlgorithm(rand.Reader, data, ssh.KeyAlgoRSASHA512) // no SHA-1 signature
	} else {
		sig, err = s.Sign(rand.Reader, data)
	}
	if err != nil {
		return "", model.Errorf(model.PermissionDenied, "sign", "the key did not sign: its owner or the agent refused")
	}
	blob := append([]byte(magic), ssh.Marshal(envelope{Version: 1, PublicKey: key.Marshal(), Namespace: namespace,
		Hash: hashName, Signature: ssh.Marshal(sig)})...)
	return string(pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: blob})), nil
}

// errBad gives no detail: a signature fits or it does not.
var errBad = errors.New("the signature does not fit")

// Verify checks an armored signature and returns the key that made it.
func Verify(armored, namespace string, message []byte) (PublicKey, error) {
	block, rest := pem.Decode([]byte(armored))
	if block == nil || block.Type != pemType || len(bytes.TrimSpace(rest)) > 0 {
		return nil, errBad
	}
	body, ok := bytes.CutPrefix(block.Bytes, []byte(magic))
	var e envelope
	if !ok || ssh.Unmarshal(body, &e) != nil || e.Version != 1 || e.Namespace != namespace || e.Hash != hashName {
		return nil, errBad
	}
	key, err := ssh.ParsePublicKey(e.PublicKey)
	var sig ssh.Signature
	if err != nil || ssh.Unmarshal(e.Signature, &sig) != nil || sig.Format == ssh.KeyAlgoRSA {
		return nil, errBad
	}
	if key.Verify(signedBytes(namespace, message), &sig) != nil {
		return nil, errBad
	}
	return key, nil
}

const maxKeyFile = 64 << 10

// File reads a private key; others must not be able to read the file.
func File(path string) (Signer, error) {
	b, err := privatefile.Read(path, privatefile.Unreadable, maxKeyFile)
	if err != nil {
		kind := model.PermissionDenied
		if errors.Is(err, fs.ErrNotExist) {
			kind = model.NotFound
		}
		return nil, model.Errorf(kind, "key", "the key file cannot be read: %v", atomicfile.Pathless(err))
	}
	s, err := ssh.ParsePrivateKey(b)
	var locked *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &locked):
		return nil, model.Errorf(model.InvalidInput, "key", "the key has a passphrase: add it to an agent (ssh-add) and leave --key out")
	case err != nil:
		return nil, model.Errorf(model.InvalidInput, "key", "the file holds no SSH private key")
	}
	return s, nil
}

// An agent names its keys by itself, and may ask a person before it signs.
const (
	listTime = 10 * time.Second
	signTime = 2 * time.Minute
)

// Agent lists the keys of the agent at a socket, with a closer for the connection. A signature is waited for until two
// minutes from now.
func Agent(socket string) ([]Signer, io.Closer, error) { return agentIn(socket, listTime) }

func agentIn(socket string, list time.Duration) ([]Signer, io.Closer, error) {
	if socket == "" {
		return nil, nil, model.Errorf(model.InvalidInput, "key", "no SSH agent: give --key FILE, or start an agent (SSH_AUTH_SOCK)")
	}
	const silent = "the SSH agent does not answer"
	conn, err := net.DialTimeout("unix", socket, list)
	if err != nil {
		return nil, nil, model.Errorf(model.Unavailable, "key", silent)
	}
	err = conn.SetDeadline(time.Now().Add(list))
	var keys []Signer
	if err == nil {
		keys, err = agent.NewClient(conn).Signers()
	}
	if err == nil {
		err = conn.SetDeadline(time.Now().Add(signTime))
	}
	switch {
	case err != nil:
		err = errors.New(silent)
	case len(keys) == 0:
		err = errors.New("the SSH agent has no key")
	}
	if err != nil {
		return nil, nil, errors.Join(model.E(model.Unavailable, "key", err), conn.Close())
	}
	return keys, conn, nil
}

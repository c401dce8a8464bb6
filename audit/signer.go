package audit

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/mod/sumdb/note"

	"memdesk/internal/atomicfile"
)

// keySource is where the private key of the log's checkpoints is: in a file beside the log (the default), in
// an SSH agent, or printed by a command.
type keySource struct {
	Agent   string // fingerprint of an Ed25519 key in the agent
	Socket  string // the agent's socket; empty: SSH_AUTH_SOCK
	Command string
}

// kind names the source in words.
func (k keySource) kind() string {
	switch {
	case k.Agent != "":
		return "SSH agent"
	case k.Command != "":
		return "key_command"
	}
	return "file"
}

const (
	signFile    = "key"
	oldSignFile = "key.old" // during a rotation
	agentWait   = 2 * time.Second
)

// keyPatience bounds the command that prints the key.
var keyPatience = 5 * time.Second

// newSigner makes the key of a new tree, or takes the source's key. origin is a proposal: a key printed by a
// command has its own name.
func (l *Log) newSigner(origin string, printed *printedKey) (s note.Signer, vkey string, err error) {
	switch {
	case l.source.Agent != "":
		key, err := l.source.inAgent()
		if err != nil {
			return nil, "", err
		}
		defer key.conn.Close()
		if vkey, err = note.NewEd25519VerifierKey(origin, key.public); err != nil {
			return nil, "", err
		}
		s, err := l.signer(vkey, nil)
		return s, vkey, err
	case l.source.Command != "":
		return printed.key()
	}
	skey, vkey, err := note.GenerateKey(rand.Reader, origin)
	if err != nil {
		return nil, "", err
	}
	if err := atomicfile.WriteFS(l.fs, l.inTree(signFile), []byte(skey+"\n"), atomicfile.Options{}); err != nil {
		return nil, "", fmt.Errorf("make the log's key: %w", bare(err))
	}
	s, err = note.NewSigner(skey)
	return s, vkey, err
}

// signer is the private half of vkey.
func (l *Log) signer(vkey string, printed *printedKey) (note.Signer, error) {
	known, err := note.NewVerifier(vkey)
	if err != nil {
		return nil, fmt.Errorf("the log's verifier key: %w", err)
	}
	if l.source.Agent != "" {
		return agentSigner{known, l.source}, nil
	}
	var s note.Signer
	if l.source.Command != "" {
		s, _, err = printed.key()
	} else {
		s, err = l.fileSigner(known)
	}
	if err != nil {
		return nil, err
	}
	if s.Name() != known.Name() || s.KeyHash() != known.KeyHash() {
		return nil, fmt.Errorf("the %s holds another key than the log's; `memdesk audit key --rotate` changes it on record", l.source.kind())
	}
	return s, nil
}

// fileSigner is the key in the file, or the previous one when a rotation was interrupted.
func (l *Log) fileSigner(known note.Verifier) (note.Signer, error) {
	s, err := l.keyIn(signFile)
	if err == nil && s.KeyHash() != known.KeyHash() {
		if old, oerr := l.keyIn(oldSignFile); oerr == nil && old.KeyHash() == known.KeyHash() {
			return old, nil
		}
	}
	return s, err
}

func (l *Log) keyIn(name string) (note.Signer, error) {
	b, err := l.readSecret(l.inTree(name), "the log's key")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("the log's key is gone: no checkpoint can be signed; `memdesk audit key --rotate` begins with another, on record")
	}
	if err != nil {
		return nil, err
	}
	s, err := note.NewSigner(strings.TrimSpace(string(b)))
	if err != nil {
		return nil, errors.New("the log's key file is damaged")
	}
	return s, nil
}

// printedKey is what the command printed. It is run without the locks of the log, on which every append waits: it may
// ask somebody for a password.
type printedKey struct {
	signer note.Signer
	vkey   string
	err    error
}

var errKeyNeeded = errors.New("audit.key_command was not run")

func (p *printedKey) key() (note.Signer, string, error) {
	if p == nil {
		return nil, "", errKeyNeeded
	}
	return p.signer, p.vkey, p.err
}

// run runs the command, if there is one.
func (k keySource) run(ctx context.Context) *printedKey {
	if k.Command == "" {
		return nil
	}
	s, vkey, err := k.printed(ctx)
	return &printedKey{s, vkey, err}
}

// printed runs the command and reads the key from its output.
func (k keySource) printed(ctx context.Context) (note.Signer, string, error) {
	ctx, cancel := context.WithTimeout(ctx, keyPatience)
	defer cancel()
	var out bytes.Buffer
	c := exec.CommandContext(ctx, "/bin/sh", "-c", k.Command)
	c.Stdout, c.WaitDelay = &out, time.Second
	if err := c.Run(); err != nil {
		return nil, "", errors.New("audit.key_command does not print a key") // its error might contain the key
	}
	skey := strings.TrimSpace(out.String())
	s, err := note.NewSigner(skey)
	if err != nil {
		return nil, "", errors.New("audit.key_command does not print a key of the form PRIVATE+KEY+name+hash+key")
	}
	vkey, err := verifierOf(skey)
	return s, vkey, err
}

// verifierOf derives the public half of a note key.
func verifierOf(skey string) (string, error) {
	parts := strings.SplitN(skey, "+", 5)
	if len(parts) != 5 {
		return "", errors.New("key is not of the form PRIVATE+KEY+name+hash+key")
	}
	seed, err := base64.StdEncoding.DecodeString(parts[4])
	if err != nil || len(seed) != 1+ed25519.SeedSize {
		return "", errors.New("key is damaged")
	}
	seed = seed[1:] // after the algorithm
	return note.NewEd25519VerifierKey(parts[2], ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey))
}

// agentKey is a key in an SSH agent.
type agentKey struct {
	conn   net.Conn
	signer ssh.Signer
	public ed25519.PublicKey
}

// inAgent finds the key by its fingerprint. The caller closes conn.
func (k keySource) inAgent() (agentKey, error) {
	if k.Socket == "" {
		return agentKey{}, errors.New("audit.key_agent: there is no SSH agent here (SSH_AUTH_SOCK is not set)")
	}
	conn, err := net.DialTimeout("unix", k.Socket, agentWait)
	if err != nil {
		return agentKey{}, errors.New("audit.key_agent: the SSH agent does not answer")
	}
	_ = conn.SetDeadline(time.Now().Add(agentWait))
	signers, err := agent.NewClient(conn).Signers()
	if err != nil {
		conn.Close()
		return agentKey{}, errors.New("audit.key_agent: the SSH agent does not answer")
	}
	for _, s := range signers {
		if ssh.FingerprintSHA256(s.PublicKey()) != k.Agent {
			continue
		}
		parsed, err := ssh.ParsePublicKey(s.PublicKey().Marshal()) // the agent's own form hides the key
		ck, ok := parsed.(ssh.CryptoPublicKey)
		if err != nil || !ok {
			continue
		}
		if pub, ok := ck.CryptoPublicKey().(ed25519.PublicKey); ok {
			return agentKey{conn, s, pub}, nil
		}
	}
	conn.Close()
	return agentKey{}, fmt.Errorf("audit.key_agent: the SSH agent holds no Ed25519 key %s", k.Agent)
}

// agentSigner signs with a key that stays in the agent: SSH's Ed25519 signature of a message is the plain
// one.
type agentSigner struct {
	note.Verifier
	source keySource
}

// Sign implements note.Signer.
func (s agentSigner) Sign(text []byte) ([]byte, error) {
	key, err := s.source.inAgent()
	if err != nil {
		return nil, err
	}
	defer key.conn.Close()
	sig, err := key.signer.Sign(rand.Reader, text)
	if err != nil {
		return nil, errors.New("audit.key_agent: the SSH agent does not sign")
	}
	if !s.Verify(text, sig.Blob) {
		return nil, errors.New("audit.key_agent holds another key than the log's; `memdesk audit key --rotate` changes it on record")
	}
	return sig.Blob, nil
}

package sshd

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"

	"memdesk/internal/atomicfile"
	"memdesk/internal/privatefile"
)

// HostKey reads the server's key, or makes it with mode 0600. A key that others may read is refused (privatefile.Unreadable):
// they could pose as this server. Two servers that start at once agree on one key.
func HostKey(path string) (ssh.Signer, error) {
	signer, err := readHostKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return signer, err
	}
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	block, err := ssh.MarshalPrivateKey(private, "memdesk")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("the host key cannot be made: %w", atomicfile.Pathless(err))
	}
	err = atomicfile.Create(path, func(w io.Writer) error { return pem.Encode(w, block) })
	switch {
	case errors.Is(err, atomicfile.ErrUnsynced):
		return nil, fmt.Errorf("the host key is made, but may not outlast a crash: start again: %w", atomicfile.Pathless(err))
	case err != nil && !errors.Is(err, fs.ErrExist): // of two servers the first wins
		return nil, fmt.Errorf("the host key cannot be made: %w", atomicfile.Pathless(err))
	}
	return readHostKey(path)
}

func readHostKey(path string) (ssh.Signer, error) {
	b, err := privatefile.Read(path, privatefile.Unreadable, maxKeyFile)
	if err != nil {
		return nil, fmt.Errorf("the host key cannot be read: %w", atomicfile.Pathless(err))
	}
	signer, err := ssh.ParsePrivateKey(b)
	if err != nil {
		return nil, errors.New("the host key is no private key without a passphrase")
	}
	return signer, nil
}

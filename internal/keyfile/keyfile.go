// Package keyfile keeps a random secret in a private file of one line. It gives the secret no use.
package keyfile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"strings"

	"memdesk/internal/atomicfile"
	"memdesk/internal/statedir"
	"memdesk/model"
)

// Size is the length of a secret in bytes.
const Size = 32

// Read reads the key of this name; fs.ErrNotExist when there is none.
func Read(path, name string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return nil, model.Errorf(model.PermissionDenied, "key", "the %s key must be a regular file of mode 0600", name)
	}
	b, err := atomicfile.ReadFile(path)
	if err != nil {
		return nil, err
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(string(b)), prefix(name))
	secret, err := hex.DecodeString(rest)
	if !ok || err != nil || len(secret) != Size {
		return nil, model.Errorf(model.Internal, "key", "the %s key is damaged: restore it from a backup", name)
	}
	return secret, nil
}

// Load reads the key, or makes it when there is none.
func Load(path, name string) ([]byte, error) {
	secret, err := Read(path, name)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	secret = make([]byte, Size)
	_, _ = rand.Read(secret) // never fails
	_, _, err = atomicfile.Swap(path, nil, []byte(prefix(name)+hex.EncodeToString(secret)+"\n"))
	if secret, rerr := Read(path, name); rerr == nil || err == nil { // another process may have been first
		return secret, rerr
	}
	return nil, model.Errorf(model.Unavailable, "key", "the %s key cannot be written: %w", name, statedir.Cause(err))
}

func prefix(name string) string { return "memdesk-" + name + "-key-v1 " }

// Package testnpm gives tests programs from npm: pinned versions, installed once into the user's
// cache. It runs no script of a package.
package testnpm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// patience bounds the installation of one set of packages.
const patience = 3 * time.Minute

// Require returns the path of node and a directory whose node_modules holds the packages, each written
// name@version. Without node and npm, or without the packages and a way to get them, the test is
// skipped with the reason; on CI, where node and npm exist, missing packages fail it.
func Require(t testing.TB, packages ...string) (node, dir string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = exec.LookPath("npm")
	}
	if err != nil {
		t.Skipf("not run: %s needs node and npm, which are not installed", strings.Join(packages, ", "))
	}
	dir, err = install(packages)
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatalf("%s must be run on CI: %v", strings.Join(packages, ", "), err)
	case err != nil:
		t.Skipf("not run: %s: %v", strings.Join(packages, ", "), err)
	}
	return node, dir
}

// install puts the packages into a directory of the user's cache and returns it.
func install(packages []string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	// The versions are in the name, so that another set has another directory.
	sum := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(packages)), "\n")))
	name := "memdesk-test-npm-" + hex.EncodeToString(sum[:8])
	dir := filepath.Join(cache, name)
	if complete(dir) {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	// Another process may install at the same time: each installs into its own directory, and the first
	// to finish renames it.
	half, err := os.MkdirTemp(cache, name+".")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(half)
	if err := os.WriteFile(filepath.Join(half, "package.json"), []byte(`{"private":true,"type":"module"}`), 0o600); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	// Optional peers of the packages are other programs' servers: they are left out.
	cmd := exec.CommandContext(ctx, "npm", append([]string{"install", "--no-audit", "--no-fund", "--ignore-scripts", "--save-exact", "--legacy-peer-deps"}, packages...)...)
	cmd.Dir = half
	if out, err := cmd.CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return "", fmt.Errorf("npm install: %w: %s", err, lines[0])
	}
	if err := os.WriteFile(filepath.Join(half, "complete"), nil, 0o600); err != nil {
		return "", err
	}
	if err := os.Rename(half, dir); err != nil && !complete(dir) {
		return "", err
	}
	return dir, nil
}

func complete(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "complete"))
	return !errors.Is(err, os.ErrNotExist)
}

package keyfile_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"memdesk/internal/keyfile"
	"memdesk/model"
)

// TestLoadAtOnce: of several processes that make the key, all must use the same.
func TestLoadAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if _, err := keyfile.Read(path, "tea"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no key yet: %v", err)
	}
	var got [8][]byte
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() { got[i], _ = keyfile.Load(path, "tea") })
	}
	wg.Wait()
	for _, k := range got {
		if len(k) != keyfile.Size || !bytes.Equal(k, got[0]) {
			t.Errorf("%x, and %x", k, got[0])
		}
	}
}

// TestBadKeys: a key that others can read, or that is not whole, is refused and not replaced.
func TestBadKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if _, err := keyfile.Load(path, "tea"); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		data []byte
		mode fs.FileMode
		want model.Kind
	}{
		"open to others":  {whole, 0o640, model.PermissionDenied},
		"cut":             {whole[:len(whole)-3], 0o600, model.Internal},
		"empty":           {nil, 0o600, model.Internal},
		"of another name": {bytes.Replace(whole, []byte("tea"), []byte("ink"), 1), 0o600, model.Internal},
	} {
		if err := errors.Join(os.WriteFile(path, tt.data, tt.mode), os.Chmod(path, tt.mode)); err != nil {
			t.Fatal(err)
		}
		if k, err := keyfile.Load(path, "tea"); model.KindOf(err) != tt.want || k != nil {
			t.Errorf("%s: %x, %v", name, k, err)
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, tt.data) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

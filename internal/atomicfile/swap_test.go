package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"memdesk/internal/atomicfile"
)

// TestSwap must replace only the bytes that were seen.
func TestSwap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if _, _, err := atomicfile.Swap(path, []byte("old"), []byte("x")); !errors.Is(err, atomicfile.ErrMoved) {
		t.Errorf("an absent file was taken for one with bytes: %v", err)
	}
	if _, _, err := atomicfile.Swap(path, nil, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, _, err := atomicfile.Swap(path, []byte("other"), []byte("x")); !errors.Is(err, atomicfile.ErrMoved) {
		t.Errorf("other bytes than were seen gave way: %v", err)
	}
	came, aside, err := atomicfile.Swap(path, []byte("one"), []byte("two"))
	if err != nil || string(came) != "one" || aside != "" {
		t.Errorf("%q came out, %v", came, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	if got := names(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("beside the file stay %q", got)
	}
}

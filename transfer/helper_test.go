package transfer_test

import (
	"os"
	"path/filepath"
	"testing"

	"memdesk/backends/seam/crewship"
	"memdesk/model"
)

func crewshipAt(t *testing.T, dir string) model.Store {
	t.Helper()
	s, err := crewship.Open(t.Context(), crewship.Config{Name: filepath.Base(filepath.Dir(dir)), Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func memoryDir(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), ".memory")
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

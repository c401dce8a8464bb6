package rootdir_test

import (
	"io/fs"
	"testing"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// TestAFileThatNobodyMayRead: a file without any bit must come back without any, and one whose mode is not known as a new one.
func TestAFileThatNobodyMayRead(t *testing.T) {
	kept := func(mode string) *model.Beside {
		return &model.Beside{Rows: []model.BesideRow{{Table: model.FileRow, Cells: []model.BesideCell{{Column: "mode", Type: model.CellInteger, Value: mode}}}}}
	}
	for mode, want := range map[string][2]fs.FileMode{"0": {}, "384": {0o600, 0o600}, "420": {0o644, 0o644}, "511": {0o644, 0o664}, "x": {0o600, 0o664}} {
		for i, own := range []fs.FileMode{0o600, 0o664} {
			if got := rootdir.Again(own, kept(mode)); got != want[i] {
				t.Errorf("mode %s in a store of %o: %o, want %o", mode, own, got, want[i])
			}
		}
	}
	if got := rootdir.Again(0o600, nil); got != 0o600 {
		t.Errorf("none kept: %o", got)
	}
}

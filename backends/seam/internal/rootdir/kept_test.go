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
	for mode, want := range map[string]fs.FileMode{"0": 0o777, "384": 0o177, "420": 0o133, "x": 0} {
		if got := rootdir.Barred(kept(mode)); got != want {
			t.Errorf("mode %s: %o, want %o", mode, got, want)
		}
	}
	if got := rootdir.Barred(nil); got != 0 {
		t.Errorf("none kept: %o", got)
	}
}

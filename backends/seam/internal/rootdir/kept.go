package rootdir

import (
	"io/fs"
	"strconv"

	"memdesk/model"
)

// Kept is the mode of a file, for model.Store.Keep: a file that only some may read is not for all when it is made again.
func (d *Dir) Kept(name string) ([]model.BesideRow, error) {
	mode, err := d.Mode(name)
	if err != nil {
		return nil, err
	}
	return []model.BesideRow{{Table: model.FileRow, Cells: []model.BesideCell{{Column: "mode", Type: model.CellInteger, Value: strconv.FormatUint(uint64(mode), 10)}}}}, nil
}

// readBits let everybody read a file.
const readBits = 0o444

// Again is the mode of a file that is made again: the kept one, with no other bits than the store's own and those that
// let others read. It is the store's own where none is kept.
func Again(own fs.FileMode, b *model.Beside) fs.FileMode {
	if b == nil {
		return own
	}
	for _, r := range b.Rows {
		if r.Table == model.FileRow && len(r.Cells) == 1 {
			if mode, err := strconv.ParseUint(r.Cells[0].Value, 10, 32); err == nil {
				return fs.FileMode(mode) & (own | readBits)
			}
		}
	}
	return own
}

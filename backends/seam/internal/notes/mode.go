package notes

import (
	"context"
	"io/fs"
	"strconv"

	"memdesk/model"
)

// keepMode implements model.Store.Keep: a file that only some may read is not for all when it is made again.
func (s *store) keepMode(_ context.Context, id string) ([]model.BesideRow, error) {
	at, err := s.locate("keep", id)
	if err != nil {
		return nil, err
	}
	root, err := s.open("keep")
	if err != nil || root == nil {
		return nil, err
	}
	defer root.Close()
	mode, err := root.Mode(at.Key())
	if err != nil {
		return nil, err
	}
	return []model.BesideRow{{Table: model.FileRow, Cells: []model.BesideCell{{Column: "mode", Type: model.CellInteger, Value: strconv.FormatUint(uint64(mode), 10)}}}}, nil
}

// barred are the bits that the mode of a kept file lacks, which may be all; 0 where none is kept.
func barred(b *model.Beside) fs.FileMode {
	if b == nil {
		return 0
	}
	for _, r := range b.Rows {
		if r.Table == model.FileRow && len(r.Cells) == 1 {
			if mode, err := strconv.ParseUint(r.Cells[0].Value, 10, 32); err == nil {
				return fs.ModePerm &^ fs.FileMode(mode)
			}
		}
	}
	return 0
}

package postgres

import (
	"context"
	"io"

	"memdesk/model"
)

// mediumChunk is the number of bytes that one statement reads of a file.
const mediumChunk = 1 << 20

// OpenLayer reads a layer's files one after the other, as stored on the server's disk; of another
// program's table, and of number columns, it reads the rows.
func (m maintainer) OpenLayer(ctx context.Context, id string) (io.ReadCloser, error) {
	const op = "open-layer"
	if r, ok, err := m.openBeside(ctx, id); ok || err != nil {
		return r, err
	}
	if r, ok, err := m.openNumbers(ctx, id); ok || err != nil {
		return r, err
	}
	var files []segments
	super := false
	err := m.s.ops.read(ctx, op, func(q *query) (err error) {
		if super, err = m.s.seesFiles(q); err != nil || !super {
			return err
		}
		files = nil
		// A table may have the name of a layer of the server.
		for _, text := range []string{relations, map[string]string{layerStatistics: samples, layerWAL: walFiles, layerLog: logFiles, layerNotify: notifyFiles}[id]} {
			if text == "" {
				continue
			}
			all, err := readRelations(q, text)
			if err != nil {
				return err
			}
			for _, f := range all {
				if f.layer == id {
					files = append(files, segments{path: f.path, may: f.table == ""}) // a recycled log file has another name
				}
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case !super:
		return nil, model.Errorf(model.Unsupported, op, "%s", onlySuperuser)
	case len(files) == 0:
		return nil, model.Errorf(model.NotFound, op, "the store has no layer %.200q whose bytes can be read", id)
	}
	return &fileReader{ctx: ctx, s: m.s, files: files}, nil
}

// segments is a file; a table's file continues in path.1, path.2 and so on.
type segments struct {
	path string
	may  bool // whether it may be missing
}

// fileReader streams files. A table that was rewritten meanwhile is Unavailable.
type fileReader struct {
	ctx     context.Context
	s       *Store
	files   []segments
	segment int
	offset  int64
	buf     []byte
}

func (r *fileReader) Read(p []byte) (int, error) {
	for len(r.buf) == 0 {
		if len(r.files) == 0 {
			return 0, io.EOF
		}
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.buf)
	r.buf = r.buf[n:]
	return n, nil
}

// fill reads the next piece or moves to the next file.
func (r *fileReader) fill() error {
	const op = "open-layer"
	f := r.files[0]
	var raw []byte
	err := r.s.ops.read(r.ctx, op, func(q *query) error {
		_, err := q.One(`SELECT pg_read_binary_file($1 || CASE WHEN $2 = 0 THEN '' ELSE '.' || $2::text END, $3, $4, true)`,
			[]any{f.path, int32(r.segment), r.offset, int64(mediumChunk)}, &raw)
		return err
	})
	switch {
	case err != nil:
		return err
	case len(raw) > 0:
		r.buf, r.offset = raw, r.offset+int64(len(raw))
	case raw != nil && !f.may && r.offset > 0: // the end of one segment
		r.segment, r.offset = r.segment+1, 0
	default:
		if err := r.standing(f); err != nil {
			return err
		}
		r.files, r.segment, r.offset = r.files[1:], 0, 0
	}
	return nil
}

// standing is Unavailable for the file of a table that was rewritten since it was listed: the server empties the first segment
// of the old file at once, and removes it later.
func (r *fileReader) standing(f segments) error {
	const op = "open-layer"
	if f.may {
		return nil
	}
	stands := false
	err := r.s.ops.read(r.ctx, op, func(q *query) error {
		_, err := q.One(`SELECT EXISTS (SELECT 1 FROM pg_class WHERE pg_relation_filepath(oid) = $1)`, []any{f.path}, &stands)
		return err
	})
	if err == nil && !stands {
		err = model.Errorf(model.Unavailable, op, "the table was rewritten meanwhile: look again")
	}
	return err
}

// Close stops reading.
func (r *fileReader) Close() error {
	r.files, r.buf = nil, nil
	return nil
}

package beads

import (
	"bytes"
	"context"
	"errors"
	"io"

	"memdesk/backends/tracker"
	"memdesk/model"
)

// A file below wholeBytes is always read whole. For the first page of a larger one only its beginning is
// read, in steps that grow from stepBytes, and never more than one part in beginningPart of the file.
const (
	wholeBytes    = 8 << 20
	stepBytes     = 512 << 10
	beginningPart = 8
)

// Beginning reads a large file only as far as the first n entries need. A file that is small, read already or
// changing is read whole.
func (s *Store) Beginning(ctx context.Context, n int) (v tracker.View, whole bool, err error) {
	snap, whole, err := s.beginning(ctx, n)
	return snap, whole, err
}

func (s *Store) beginning(ctx context.Context, n int) (snap *snapshot, whole bool, err error) {
	if err := model.FromContext(ctx, "read"); err != nil {
		return nil, false, err
	}
	at, err := s.stat()
	if err != nil {
		return nil, false, err
	}
	if at[0].size >= wholeBytes && !s.knows(at) {
		if snap, err = s.readBeginning(ctx, at, n); err != nil || snap != nil {
			return snap, false, err
		}
	}
	snap, err = s.view(ctx)
	return snap, true, err
}

// knows reports whether the whole view of this state of the files is cached. It does not wait for one that is
// being read.
func (s *Store) knows(at [2]stamp) bool {
	if !s.mu.TryLock() {
		return false
	}
	defer s.mu.Unlock()
	return s.cached != nil && s.stamps == at
}

// readBeginning returns nil where the beginning would be too much of the file, or the file changes.
func (s *Store) readBeginning(ctx context.Context, at [2]stamp, n int) (*snapshot, error) {
	f, info, err := s.open("read", issuesName, 0)
	if err != nil || f == nil {
		return nil, err
	}
	defer f.Close() // opened for reading: closing loses nothing
	if stampOf(info) != at[0] {
		return nil, nil
	}
	var data []byte
	for size := int64(stepBytes); size <= at[0].size/beginningPart; size *= 2 {
		if err := model.FromContext(ctx, "read"); err != nil {
			return nil, err
		}
		have := len(data)
		data = append(data, make([]byte, int(size)-have)...)
		got, err := io.ReadFull(f, data[have:])
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return nil, nil // it was truncated
		}
		if err != nil {
			return nil, fileError("read", issuesName, err)
		}
		data = data[:have+got]
		end := bytes.LastIndexByte(data, '\n') + 1
		if bytes.Count(data[:end], []byte("\n")) < n {
			continue
		}
		snap := parse(data[:end:end], nil)
		if snap.Len() < n {
			continue
		}
		if now, err := s.stat(); err != nil || now != at {
			return nil, err
		}
		return snap, nil
	}
	return nil, nil
}

package litefile

import (
	"context"
	"crypto/rand"
	"database/sql"
	"sync"
)

// memory is the part of a File that only a database in memory has. A nil one does nothing.
type memory struct {
	// turns let many read or one change. SQLite refuses a connection that meets another's lock on shared
	// pages, instead of letting it wait.
	turns sync.RWMutex
	// kept is open as long as the File: the database is gone with its last connection.
	kept *sql.Conn
}

// Memory makes an empty database that only this process can see, until Close. Nothing of it reaches a
// disk, and what is deleted is overwritten.
func Memory(ctx context.Context) (*File, error) {
	f := &File{Path: rand.Text(), Name: "the store in memory", schemas: []string{"main"}, memory: &memory{}}
	f.writer = openPool(f.Path, memoryWrite, 1)
	f.readers = openPool(f.Path, memoryHandle, MaxReaders+1) // one is kept
	var err error
	if f.memory.kept, err = f.readers.Conn(ctx); err != nil {
		_ = f.Close()
		return nil, Worded("open", err)
	}
	return f, nil
}

// Reading waits for a running change and delays the next one until done. A file needs no such turns.
func (f *File) Reading() (done func()) {
	if f.memory == nil {
		return func() {}
	}
	f.memory.turns.RLock()
	return f.memory.turns.RUnlock
}

// changing waits until nobody reads or changes, and keeps it so until done.
func (m *memory) changing() (done func()) {
	if m == nil {
		return func() {}
	}
	m.turns.Lock()
	return m.turns.Unlock
}

func (m *memory) release() {
	if m != nil && m.kept != nil {
		_ = m.kept.Close()
	}
}

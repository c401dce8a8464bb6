package gdpr

import (
	"archive/zip"
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// sink receives the files of an export, one after the other: a directory, or a zip file. It is written beside
// its destination and moved there by commit, so an export is whole or absent; drop removes it.
type sink struct {
	out, temp string
	zip       *zip.Writer // nil for a directory
	file      *os.File    // of the zip
	at        time.Time
	spooled   *spool
	syncDir   func(name string) error
}

// tempMark is in the name of an export that is being written.
const tempMark = ".tmp."

func newSink(out string, at time.Time) (*sink, error) {
	s := &sink{out: out, temp: out + tempMark + atomicfile.Suffix(), at: at, syncDir: atomicfile.OS{}.SyncDir}
	if !strings.HasSuffix(strings.ToLower(out), ".zip") {
		if err := os.MkdirAll(filepath.Join(s.temp, "documents"), 0o700); err != nil {
			return nil, model.E(model.Unavailable, "gdpr-export", atomicfile.Pathless(err))
		}
		return s, nil
	}
	f, err := os.OpenFile(s.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, model.E(model.Unavailable, "gdpr-export", atomicfile.Pathless(err))
	}
	s.file, s.zip = f, zip.NewWriter(f)
	return s, nil
}

// copy writes one file, before the next one is begun.
func (s *sink) copy(name string, from io.Reader) error {
	if s.zip == nil {
		f, err := os.OpenFile(filepath.Join(s.temp, filepath.FromSlash(name)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_, err = io.Copy(f, from)
			err = errors.Join(err, f.Sync(), f.Close())
		}
		return s.failed(err)
	}
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: s.at}
	h.SetMode(0o600)
	w, err := s.zip.CreateHeader(h)
	if err == nil {
		_, err = io.Copy(w, from)
	}
	return s.failed(err)
}

// failed words an error of the medium; an error of the reader has its own words.
func (s *sink) failed(err error) error {
	var own *model.Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	return model.E(model.Unavailable, "gdpr-export", atomicfile.Pathless(err))
}

func (s *sink) commit() error {
	if s.zip != nil {
		if err := errors.Join(s.zip.Close(), s.file.Sync(), s.file.Close()); err != nil {
			return s.failed(err)
		}
		s.file = nil
	}
	err := s.dropSpool()
	if err == nil && s.zip == nil {
		err = errors.Join(s.syncDir(filepath.Join(s.temp, "documents")), s.syncDir(s.temp))
	}
	if err == nil {
		err = s.place()
	}
	if err == nil {
		_ = s.syncDir(filepath.Dir(s.out)) // the export is in place either way
	}
	return s.failed(err)
}

// place moves the export to its destination, where it replaces nothing.
func (s *sink) place() error {
	if s.zip == nil {
		return os.Rename(s.temp, s.out)
	}
	err := atomicfile.Place(s.temp, s.out)
	if errors.Is(err, fs.ErrExist) {
		return model.Errorf(model.AlreadyExists, "gdpr-export", "%q is there already; nothing was written", filepath.Base(s.out))
	}
	return err
}

func (s *sink) drop() error {
	if s.file != nil {
		_ = s.file.Close() // it is removed
	}
	return s.failed(errors.Join(s.dropSpool(), os.RemoveAll(s.temp)))
}

func (s *sink) dropSpool() error {
	if s.spooled == nil {
		return nil
	}
	_ = s.spooled.f.Close() // it is removed
	err := os.Remove(s.spooled.f.Name())
	s.spooled = nil
	return err
}

// spool is a file that is written before the file that will contain it: a zip takes one file at a time.
type spool struct {
	f *os.File
	w *bufio.Writer
}

func (s *sink) spool() (*spool, error) {
	f, err := os.OpenFile(s.temp+".items", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, s.failed(err)
	}
	s.spooled = &spool{f, bufio.NewWriter(f)}
	return s.spooled, nil
}

func (s *spool) write(b []byte) error {
	if _, err := s.w.Write(b); err != nil {
		return model.E(model.Unavailable, "gdpr-export", atomicfile.Pathless(err))
	}
	return nil
}

// read returns the content from the beginning.
func (s *spool) read() (io.Reader, error) {
	err := s.w.Flush()
	if err == nil {
		_, err = s.f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, model.E(model.Unavailable, "gdpr-export", atomicfile.Pathless(err))
	}
	return s.f, nil
}

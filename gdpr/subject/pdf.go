package subject

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"sync/atomic"
	"time"
)

// A PDF (ISO 32000-1) is searched in its raw bytes and in each stream, expanded: those hold its outlines and
// authors. The text of pages is written in a font's own codes, which pdftotext decodes: without that program
// a PDF counts as not opened.

// pdfProgram is the path of pdftotext; nil: the one on the PATH.
var pdfProgram atomic.Pointer[string]

// UsePDFText sets the path of pdftotext ([gdpr] pdftotext); empty: the one on the PATH.
func UsePDFText(path string) { pdfProgram.Store(&path) }

func pdfText() (string, error) {
	if p := pdfProgram.Load(); p != nil && *p != "" {
		return *p, nil
	}
	return exec.LookPath("pdftotext")
}

var pdfStream = regexp.MustCompile(`\bstream\r?\n`)

// pdf opens a PDF.
func (o *opening) pdf(member string, at io.ReaderAt, size int64) error {
	if size > o.bounds.memory {
		o.notOpened(member, "a PDF that is too large to be opened"+byHand)
		return o.handOver(member, io.NewSectionReader(at, 0, size))
	}
	b := make([]byte, size)
	if _, err := at.ReadAt(b, 0); err != nil && err != io.EOF {
		return unread()
	}
	if err := o.handOver(member, bytes.NewReader(b)); err != nil {
		return err
	}
	for _, loc := range pdfStream.FindAllIndex(b, -1) {
		z, err := zlib.NewReader(bytes.NewReader(b[loc[1]:]))
		if err != nil {
			continue // pixels, or a filter that only pdftotext knows
		}
		out := metered{z, o}
		err = o.handOver(member, readerFunc(func(p []byte) (int, error) {
			n, err := out.Read(p)
			if err != nil && !errors.Is(err, errTooMuch) {
				err = io.EOF // a stream that ends early is searched as far as it goes
			}
			return n, err
		}))
		if err != nil {
			return err
		}
	}
	return o.pages(member, b)
}

// pdfTime bounds a run of pdftotext for one file.
const pdfTime = time.Minute

// pages hands over the text of a PDF's pages.
func (o *opening) pages(member string, b []byte) error {
	program, err := pdfText()
	if err != nil {
		o.notOpened(member, "a PDF, and there is no pdftotext to read its pages: not opened (install poppler-utils, or set [gdpr] pdftotext)")
		return nil
	}
	ctx, cancel := context.WithTimeout(o.ctx, pdfTime)
	defer cancel()
	var text bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "-enc", "UTF-8", "-", "-")
	cmd.Stdin, cmd.Stdout, cmd.Env = bytes.NewReader(b), &limited{&text, o.bounds.memory}, []string{}
	if err := cmd.Run(); err != nil {
		o.notOpened(member, "a PDF that pdftotext cannot read: not opened"+byHand)
		return nil
	}
	return o.handOver(member, &text)
}

// limited refuses more than a number of bytes.
type limited struct {
	w    io.Writer
	left int64
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, errTooMuch
	}
	return l.w.Write(p)
}

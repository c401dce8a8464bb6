package desk

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/atomicfile"
	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/prose"
)

// export is one file being written. The work counts, the screen reads.
type export struct {
	noun        string // of what is counted
	rows, bytes atomic.Int64
	Ended       atomic.Bool
	missing     []safetext.Text // of what it could not look at; read after the work
}

// exports writes files of this machine.
type exports struct {
	d       *Desk
	Writing sync.WaitGroup // files being written
	Files   []*export
}

// exportEvery is the pause between two looks at the progress of a file.
const exportEvery = 200 * time.Millisecond

// AtWork reports whether a file is being written.
func (ex *exports) AtWork() bool {
	return slices.ContainsFunc(ex.Files, func(e *export) bool { return !e.Ended.Load() })
}

func (e *export) Words(esc safetext.Escaper) safetext.Text {
	return esc.Sprintf("%s, %s so far", prose.Plural(e.rows.Load(), e.noun), prose.Size(e.bytes.Load()))
}

// beginExport shows the progress of an export while its dialog is open.
func (ex *exports) beginExport(d *dialog.Dialog, e *export) tea.Cmd {
	esc := ex.d.Esc
	ex.Files = append(ex.Files, e)
	d.Progress = func() safetext.Text { return e.Words(esc) }
	return ex.tick(e)
}

// tick draws the numbers again until the export has ended.
func (ex *exports) tick(e *export) tea.Cmd {
	return ex.d.Later(loop.Over)(exportEvery, loop.Then(func() tea.Cmd {
		if !e.Ended.Load() {
			return ex.tick(e)
		}
		ex.Files = slices.DeleteFunc(ex.Files, func(o *export) bool { return o == e })
		return nil
	}))
}

// NoExport says why no file can be written.
func (d *Desk) NoExport() string {
	return act.When(d.Remote, "over this connection no file of the server is written: y copies, Y copies the row")
}

// writeFile, in a command, makes a new private file, whole or absent.
func (ex *exports) writeFile(ctx context.Context, path string, e *export, fill func(context.Context, io.Writer) error) dialog.Acted {
	esc := ex.d.Esc
	if path == "" {
		return dialog.Acted{Text: esc.Const("Give the name of a file.")}
	}
	full := path
	if home := ex.d.Env["HOME"]; strings.HasPrefix(path, "~/") && home != "" {
		full = filepath.Join(home, path[2:])
	}
	if abs, err := filepath.Abs(full); err == nil {
		full = abs
	}
	ex.Writing.Add(1)
	defer ex.Writing.Done()
	begun := false
	err := atomicfile.Create(full, func(w io.Writer) error {
		begun = true
		buffered := bufio.NewWriterSize(counting{w, &e.bytes}, 64<<10)
		if err := fill(ctx, buffered); err != nil {
			return err
		}
		return cmp.Or(buffered.Flush(), ctx.Err())
	})
	switch {
	case errors.Is(err, fs.ErrExist):
		return dialog.Acted{Text: esc.Sprintf("%s is there already: give another name.", esc.LineMax(path, prose.MaxTitle))}
	case errors.Is(err, context.Canceled):
		return dialog.Acted{Text: esc.Sprintf("Stopped after %s: nothing was left behind.", prose.Plural(e.rows.Load(), e.noun))}
	case errors.Is(err, atomicfile.ErrUnsynced): // the whole file is in place
		return dialog.Acted{Ok: true, Text: esc.Sprintf("%s is written, but may not outlast a crash: %s.", esc.LineMax(path, prose.MaxTitle), esc.Err(atomicfile.Pathless(err)))}
	case err != nil && !begun:
		return dialog.Acted{Text: esc.Sprintf("%s cannot be made: %s.", esc.LineMax(path, prose.MaxTitle), esc.Err(atomicfile.Pathless(err)))}
	case err != nil:
		return dialog.Acted{Text: esc.Sprintf("It was not written to the end and is removed again: %s.", prose.Reason(esc, atomicfile.Pathless(err)))}
	}
	return dialog.Acted{Ok: true, Quiet: true, Text: esc.Sprintf("wrote %s to %s (%s)", prose.Plural(e.rows.Load(), e.noun), ex.d.Where(full), prose.Size(e.bytes.Load()))}
}

type counting struct {
	w io.Writer
	n *atomic.Int64
}

func (c counting) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n.Add(int64(n))
	return n, err
}

package gdpr

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"memdesk/backends"
	"memdesk/gdpr/subject"
	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// exportFile is the machine-readable part of an export (Art. 15, 20).
type exportFile struct {
	Format  string       `json:"format"`
	Made    time.Time    `json:"made"`
	Request string       `json:"request"`
	Subject string       `json:"subject"`
	Items   []exportItem `json:"items"`
	// Missing names what could not be searched: the export is not all there is.
	Missing []string `json:"missing"`
}

type exportItem struct {
	Store    string            `json:"store"`
	ID       string            `json:"id"`
	Layer    string            `json:"layer"`
	Tier     string            `json:"tier"`
	Reason   string            `json:"reason"`
	Modified *time.Time        `json:"modified"`
	Document string            `json:"document"` // file beside this one
	Partial  bool              `json:"partial"`  // shared with others: only the lines that name the person
	Meta     map[string]string `json:"meta"`
	Body     string            `json:"body"`
}

// Export writes everything that concerns the person to a new directory, or to a
// zip file where out ends in .zip, for the owner's eyes only: export.json, one document
// per text, and index.json, which says what was found where and what is not in the
// export, with the reason. Beside the items these are versions, backups, conflict and
// quarantine copies, archived items, logs and what memdesk keeps for an undo. A text
// shared with others gives the lines that name the person, because the others' data
// are not hers (Art. 15(4)). It returns how many texts were written and what could not
// be searched.
func (d *Desk) Export(ctx context.Context, id, out string, fleet *backends.Fleet) (int64, []string, error) {
	r, err := d.load(id)
	if err != nil {
		return 0, nil, err
	}
	if err := r.over("gdpr-export"); err != nil {
		return 0, nil, err
	}
	if _, err := os.Lstat(out); err == nil {
		return 0, nil, model.Errorf(model.AlreadyExists, "gdpr-export", "%q is there already; nothing was written", filepath.Base(out))
	}
	var n int64
	var missing []string
	err = d.act(ctx, &r, "gdpr-export", nil, func(ctx context.Context) (map[string]int64, error) {
		e, err := d.collect(ctx, &r, fleet)
		if err != nil {
			return nil, err
		}
		n, missing = int64(len(e.file.Items)), e.file.Missing
		head, err := json.MarshalIndent(e.file, "", "  ")
		if err != nil {
			return nil, model.E(model.Internal, "gdpr-export", err)
		}
		index, err := json.MarshalIndent(e.index(), "", "  ")
		if err != nil {
			return nil, model.E(model.Internal, "gdpr-export", err)
		}
		files := append([]document{{"export.json", append(head, '\n')}, {"index.json", append(index, '\n')}}, e.docs...)
		if strings.HasSuffix(strings.ToLower(out), ".zip") {
			err = writeZip(out, files, e.file.Made)
		} else {
			err = writeDir(out, files)
		}
		return map[string]int64{"items": n}, err
	})
	return n, missing, err
}

type document struct {
	name string
	data []byte
}

func (d *Desk) collect(ctx context.Context, r *Request, fleet *backends.Fleet) (*exporter, error) {
	e := &exporter{d: d, file: exportFile{Format: "memdesk-export-1", Made: d.Clock.Now().UTC(), Request: r.ID, Subject: r.Subject, Items: []exportItem{}, Missing: []string{}}}
	var err error
	if e.m, err = subject.New(r.Terms()...); err != nil {
		return nil, err
	}
	for _, member := range fleet.Members() {
		var q *search
		err := member.Err
		if err == nil {
			q, err = find(ctx, member.Store, e.m, nil)
		}
		if ctx.Err() != nil {
			return nil, model.FromContext(ctx, "gdpr-export")
		}
		if err != nil {
			e.miss(member.Name, "%s", model.KindOf(err))
			continue
		}
		for _, p := range q.problems {
			e.miss(member.Name, "%s", p)
		}
		e.items(member, q)
		if err := e.versions(ctx, member.Store, q); err != nil {
			return nil, err
		}
		if err := e.layers(ctx, member.Store, q); err != nil {
			return nil, err
		}
	}
	e.displaced()
	return e, nil
}

// writeDir fills a sibling directory and renames it, so that an export is whole
// or not there.
func writeDir(out string, files []document) error {
	temp := out + ".tmp." + atomicfile.Suffix()
	if err := os.MkdirAll(filepath.Join(temp, "documents"), 0o700); err != nil {
		return model.E(model.Unavailable, "gdpr-export", pathless(err))
	}
	for _, f := range files {
		if err := atomicfile.Write(filepath.Join(temp, filepath.FromSlash(f.name)), f.data, 0o600); err != nil {
			return errors.Join(model.E(model.Unavailable, "gdpr-export", pathless(err)), os.RemoveAll(temp))
		}
	}
	if err := os.Rename(temp, out); err != nil {
		return errors.Join(model.E(model.Unavailable, "gdpr-export", pathless(err)), os.RemoveAll(temp))
	}
	return nil
}

func writeZip(out string, files []document, at time.Time) error {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(0o600)
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(f.data)
		}
		if err != nil {
			return model.E(model.Internal, "gdpr-export", err)
		}
	}
	if err := z.Close(); err != nil {
		return model.E(model.Internal, "gdpr-export", err)
	}
	if err := atomicfile.Write(out, b.Bytes(), 0o600); err != nil {
		return model.E(model.Unavailable, "gdpr-export", pathless(err))
	}
	return nil
}

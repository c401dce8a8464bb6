package gdpr

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"memdesk/backends"
	"memdesk/gdpr/subject"
	"memdesk/model"
)

// exportHead is the machine-readable part of an export (Art. 15, 20) without its items: those are written
// inside it as they are found.
type exportHead struct {
	Format  string    `json:"format"`
	Made    time.Time `json:"made"`
	Request string    `json:"request"`
	Subject string    `json:"subject"`
}

// exportItem is an item of export.json.
type exportItem struct {
	Store    string            `json:"store"`
	ID       string            `json:"id"`
	Layer    string            `json:"layer"`
	Tier     string            `json:"tier"`
	Reason   string            `json:"reason"`
	Modified *time.Time        `json:"modified"`
	Document string            `json:"document"` // a file in the same directory
	Partial  bool              `json:"partial"`  // shared with others: only the lines that name the subject
	Meta     map[string]string `json:"meta"`
	// Body repeats the document's text; empty where Apart says that only the document has it, because it is
	// large or no UTF-8 text.
	Body  string `json:"body"`
	Apart bool   `json:"body_in_document_only,omitempty"`
}

// Export writes everything that concerns the subject to a new directory, or to a zip file where out ends in
// .zip, readable by the owner only: export.json, one document per text, and index.json, which says what was
// found where, what the export leaves out, and why. Beside items it covers versions, backups, conflict and
// quarantine copies, archived items, logs and memdesk's undo entries. Of a text shared with others only the
// lines that name the subject are given, because the others' data are not the subject's (Art. 15(4)). Memory
// holds at most one text, and a part of a large file beside the items. It returns the number of texts and
// what could not be searched.
func (d *Desk) Export(ctx context.Context, id, out string, fleet *backends.Fleet) (int64, []string, error) {
	r, err := d.live(id, "gdpr-export")
	if err != nil {
		return 0, nil, err
	}
	if _, err := os.Lstat(out); err == nil {
		return 0, nil, model.Errorf(model.AlreadyExists, "gdpr-export", "%q is there already; nothing was written", filepath.Base(out))
	}
	var n int64
	var missing []string
	err = d.act(ctx, &r, "gdpr-export", nil, func(ctx context.Context) (map[string]int64, error) {
		number, err := d.exporting(ctx, &r, out)
		if err != nil {
			return nil, err
		}
		to, err := newSink(out, d.Clock.Now().UTC())
		if err != nil {
			return nil, errors.Join(err, d.notExported(ctx, &r, number))
		}
		e := &exporter{d: d, out: to, head: exportHead{Format: "memdesk-export-1", Made: d.Clock.Now().UTC(), Request: r.ID, Subject: r.Subject}, missing: []string{}}
		if err = e.write(ctx, &r, fleet); err == nil {
			err = to.commit()
		}
		if err != nil {
			if derr := to.drop(); derr != nil { // a part of it is left
				return nil, errors.Join(err, derr)
			}
			return nil, errors.Join(err, d.notExported(ctx, &r, number))
		}
		n, missing = int64(e.count), e.missing
		return map[string]int64{"items": n}, d.exported(ctx, &r, number, n)
	})
	return n, missing, err
}

// write searches store by store, and writes each text as it is found.
func (e *exporter) write(ctx context.Context, r *Request, fleet *backends.Fleet) error {
	var err error
	if e.m, err = subject.New(r.Terms()...); err != nil {
		return err
	}
	if e.items, err = e.out.spool(); err != nil {
		return err
	}
	for _, member := range fleet.Members() {
		var q *search
		err := member.Err
		if err == nil {
			q, err = findLean(ctx, member.Store, e.m)
		}
		if ctx.Err() != nil {
			return model.FromContext(ctx, "gdpr-export")
		}
		if err != nil {
			e.miss(member.Name, "%s", model.KindOf(err))
			continue
		}
		for _, p := range append(q.problems, q.closed...) {
			e.miss(member.Name, "%s", p)
		}
		if err := e.found(ctx, member.Store, q); err != nil {
			return err
		}
		if err := e.versions(ctx, member.Store, q); err != nil {
			return err
		}
		if err := e.layers(ctx, member.Store, q); err != nil {
			return err
		}
	}
	if err := e.displaced(); err != nil {
		return err
	}
	if err := e.origins(); err != nil {
		return err
	}
	return e.finish()
}

// finish writes export.json around the items, and the index.
func (e *exporter) finish() error {
	head, err := json.MarshalIndent(e.head, "", "  ")
	if err != nil {
		return model.E(model.Internal, "gdpr-export", err)
	}
	missing, err := json.MarshalIndent(e.missing, "  ", "  ")
	if err != nil {
		return model.E(model.Internal, "gdpr-export", err)
	}
	items, err := e.items.read()
	if err != nil {
		return err
	}
	parts := io.MultiReader(bytes.NewReader(bytes.TrimSuffix(head, []byte("\n}"))), strings.NewReader(",\n  \"items\": ["),
		items, strings.NewReader("\n  ],\n  \"missing\": "), bytes.NewReader(missing), strings.NewReader("\n}\n"))
	if err := e.out.copy("export.json", parts); err != nil {
		return err
	}
	index, err := json.MarshalIndent(e.index(), "", "  ")
	if err != nil {
		return model.E(model.Internal, "gdpr-export", err)
	}
	return e.out.copy("index.json", bytes.NewReader(append(index, '\n')))
}

package gdpr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"memdesk/backends"
	"memdesk/gdpr/subject"
	"memdesk/model"
)

// exportIndex says what was found where, and of everything that is not in the export
// why it is not.
type exportIndex struct {
	Format  string       `json:"format"` // "memdesk-export-index-1"
	Request string       `json:"request"`
	Found   []exportRow  `json:"found"`
	Missing []string     `json:"missing"` // could not be searched
	Rules   []string     `json:"rules"`   // by which texts are given whole or in part
	Counts  exportCounts `json:"counts"`
}

type exportRow struct {
	Store    string `json:"store"`
	ID       string `json:"id"`
	Layer    string `json:"layer"`
	Reason   string `json:"reason"`
	Document string `json:"document,omitempty"` // file beside this one; empty: it is not exported
	Partial  bool   `json:"partial,omitempty"`
	Why      string `json:"why_not,omitempty"`
}

type exportCounts struct {
	Exported    int `json:"exported"`
	NotExported int `json:"not_exported"`
}

// exportRules are what a reader of an export has to know.
var exportRules = []string{
	"what concerns the person alone is given whole; of what is shared with others the lines that name the person (Art. 15(4))",
	"rows of a database are given as items; the bytes of its file hold others too and are not given",
	"of a text in an encoding or a size that cannot be taken apart it is said where it lies",
}

// exporter collects what an export is made of.
type exporter struct {
	d    *Desk
	m    *subject.Matcher
	file exportFile
	docs []document
	not  []exportRow
}

// add puts a text into the export. The name of its file holds nothing that a store
// has given.
func (e *exporter) add(x exportItem) {
	x.Document = fmt.Sprintf("documents/%s-%05d.md", x.Store, len(e.docs)+1)
	if x.Meta == nil {
		x.Meta = map[string]string{}
	}
	e.file.Items = append(e.file.Items, x)
	e.docs = append(e.docs, document{x.Document, []byte(x.Body)})
}

func (e *exporter) leaveOut(store, id, layer, reason, why string) {
	e.not = append(e.not, exportRow{Store: store, ID: id, Layer: layer, Reason: reason, Why: why})
}

func (e *exporter) miss(store, format string, args ...any) {
	e.file.Missing = append(e.file.Missing, store+": "+fmt.Sprintf(format, args...))
}

// text gives what of a text is the person's.
func (e *exporter) text(x *exportItem, body string, shared bool) {
	if x.Body = body; shared {
		x.Partial, x.Body = true, linesNaming(e.m, body)
	}
}

func (e *exporter) index() exportIndex {
	ix := exportIndex{Format: "memdesk-export-index-1", Request: e.file.Request, Found: []exportRow{}, Missing: e.file.Missing, Rules: exportRules}
	for _, x := range e.file.Items {
		ix.Found = append(ix.Found, exportRow{Store: x.Store, ID: x.ID, Layer: x.Layer, Reason: x.Reason, Document: x.Document, Partial: x.Partial})
	}
	ix.Counts = exportCounts{len(ix.Found), len(e.not)}
	ix.Found = append(ix.Found, e.not...)
	return ix
}

// items are what the store lists and what its scanner set aside.
func (e *exporter) items(member backends.Member, q *search) {
	for i := range q.found {
		f := &q.found[i]
		it := f.Item
		x := exportItem{Store: member.Name, ID: it.ID, Layer: f.Layer, Tier: it.Tier, Reason: f.Reason, Meta: map[string]string{}}
		if !it.Modified.IsZero() {
			at := it.Modified.UTC()
			x.Modified = &at
		}
		shared := len(f.Others) > 0 || !f.Tagged && mentions(e.m, it.Body, opaque(member.Store, it.Tier))
		e.text(&x, it.Body, shared && !it.Has(model.FlagBinary))
		for _, field := range it.Meta {
			if !x.Partial || e.m.Names(field.Name+"\n"+field.Value) {
				x.Meta[field.Name] = field.Value
			}
		}
		e.add(x)
	}
}

// versions are old texts that a store keeps and shows; where its medium is shown they
// are layers.
func (e *exporter) versions(ctx context.Context, s model.Store, q *search) error {
	if s.History == nil || s.Maintainer != nil {
		return nil
	}
	for _, id := range sortedKeys(q.seen) {
		all, err := s.History.Revisions(ctx, id)
		switch {
		case ctx.Err() != nil:
			return model.FromContext(ctx, "gdpr-export")
		case errors.Is(err, model.NotFound):
			continue
		case err != nil || all.State == model.HistoryUnavailable:
			e.miss(s.Name, "versions of an item cannot be read")
			continue
		}
		for _, v := range all.Versions {
			it, err := s.History.ReadRevision(ctx, id, v.ID)
			switch {
			case errors.Is(err, model.NotFound) || err == nil && hitsOf(e.m, it) == 0:
			case err != nil && !v.Readable:
				e.leaveOut(s.Name, id, layerVersion, "an old version", "its text is not kept any more")
			case err != nil:
				e.miss(s.Name, "a version of an item cannot be read: %s", model.KindOf(err))
			default:
				x := exportItem{Store: s.Name, ID: id, Layer: layerVersion, Tier: it.Tier, Reason: "an old version"}
				e.text(&x, it.Body, mentions(e.m, it.Body, true))
				e.add(x)
			}
		}
	}
	return nil
}

// maxExportLayer is the largest file beside the items of which a part is given; of a
// larger one the index says where it lies.
const maxExportLayer = 64 << 20

// layers are what lies beside the items: backups, copies, old versions, logs. The
// bytes of items are exported as items.
func (e *exporter) layers(ctx context.Context, s model.Store, q *search) error {
	if s.Maintainer == nil {
		return nil
	}
	layers, err := s.Maintainer.Layers(ctx)
	if err != nil {
		e.miss(s.Name, "what lies beside its items cannot be listed: %s", model.KindOf(err))
		return ctx.Err()
	}
	layers = slices.DeleteFunc(layers, func(l model.Layer) bool { return l.Kind == model.LayerItem })
	scans := scanLayers(ctx, e.m, s, layers, q.friends, func(l model.Layer) bool { return l.Readable })
	if ctx.Err() != nil {
		return model.FromContext(ctx, "gdpr-export")
	}
	for i, l := range layers {
		name, scan := layerName(l), scans[i]
		switch {
		case !l.Readable:
			e.leaveOut(s.Name, l.ID, name, "it may hold the person", l.Reason)
		case errors.Is(scan.err, model.NotFound):
		case scan.err != nil:
			e.miss(s.Name, "%s cannot be read: %s", l.ID, model.KindOf(scan.err))
		case scan.rep.Hits == 0 && len(scan.rep.Closed) > 0:
			e.leaveOut(s.Name, l.ID, name, "it may hold the person", withWords("", scan.rep.Closed))
		case scan.rep.Hits == 0 && !e.m.Names(l.ID):
		case scan.rep.Binary && scan.rep.Hits > 0:
			e.leaveOut(s.Name, l.ID, name, "its bytes name the person", "they are no text; the rows of a database are among the items")
		case l.Bytes > maxExportLayer:
			e.leaveOut(s.Name, l.ID, name, "its bytes name the person", "it is larger than what is taken apart here (64 MB)")
		default:
			if err := e.layer(ctx, s, l); err != nil {
				e.miss(s.Name, "%s cannot be read: %s", l.ID, model.KindOf(err))
			}
		}
	}
	return nil
}

func (e *exporter) layer(ctx context.Context, s model.Store, l model.Layer) error {
	f, err := s.Maintainer.OpenLayer(ctx, l.ID)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxExportLayer))
	if err = errors.Join(err, f.Close()); err != nil {
		return model.E(model.Unavailable, "gdpr-export", errors.New("it could not be read to the end"))
	}
	if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		e.leaveOut(s.Name, l.ID, layerName(l), "its bytes name the person", "they are no text")
		return nil
	}
	x := exportItem{Store: s.Name, ID: l.ID, Layer: layerName(l), Reason: "its bytes name the person"}
	if !e.m.NamesBytes(b) {
		x.Reason = "its name names the person"
	}
	e.text(&x, string(b), mentions(e.m, string(b), true))
	e.add(x)
	return nil
}

// displaced are texts that memdesk itself keeps, so that a change can be undone.
func (e *exporter) displaced() {
	if e.d.Undo == nil {
		return
	}
	entries, _, err := e.d.Undo.List()
	if err != nil {
		e.miss(ownStore, "what changes displaced cannot be listed: %s", model.KindOf(err))
		return
	}
	for _, u := range entries {
		full, body, err := e.d.Undo.Read(u.ID)
		if err != nil {
			e.miss(ownStore, "what a change displaced cannot be read: %s", model.KindOf(err))
			continue
		}
		named := e.m.Names(body) || e.m.Names(full.Item)
		x := exportItem{Store: ownStore, ID: full.Store + ":" + full.Item, Layer: "undo", Reason: "displaced by a change, kept until it expires", Meta: map[string]string{}}
		for _, f := range full.Meta {
			if e.m.Names(f.Name + "\n" + f.Value) {
				named, x.Meta[f.Name] = true, f.Value
			}
		}
		if !named {
			continue
		}
		e.text(&x, body, mentions(e.m, body, true))
		e.add(x)
	}
}

// linesNaming gives the lines in which the person is named, also where a name goes
// from one line on to the next.
func linesNaming(m *subject.Matcher, body string) string {
	var b strings.Builder
	end := 0
	for _, h := range m.Text(body) {
		from := max(strings.LastIndexByte(body[:h.Start], '\n')+1, end)
		to := len(body)
		if i := strings.IndexByte(body[max(h.End-1, h.Start):], '\n'); i >= 0 {
			to = max(h.End-1, h.Start) + i + 1
		}
		if to > from {
			b.WriteString(body[from:to])
			end = to
		}
	}
	return b.String()
}

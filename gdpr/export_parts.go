package gdpr

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"memdesk/gdpr/subject"
	"memdesk/internal/atomicfile"
	"memdesk/model"
	"memdesk/undo"
)

// exportIndex says what was found where, and why each part that is not in the export was left out.
type exportIndex struct {
	Format  string       `json:"format"` // "memdesk-export-index-1"
	Request string       `json:"request"`
	Found   []exportRow  `json:"found"`
	Missing []string     `json:"missing"` // could not be searched
	Rules   []string     `json:"rules"`   // rules by which texts are given whole or in part
	Counts  exportCounts `json:"counts"`
}

type exportRow struct {
	Store    string `json:"store"`
	ID       string `json:"id"`
	Layer    string `json:"layer"`
	Reason   string `json:"reason"`
	Document string `json:"document,omitempty"` // a file in the same directory; empty: not exported
	Partial  bool   `json:"partial,omitempty"`
	Why      string `json:"why_not,omitempty"`
}

type exportCounts struct {
	Exported    int `json:"exported"`
	NotExported int `json:"not_exported"`
}

// exportRules explain an export to its reader.
var exportRules = []string{
	"what concerns the person alone is given whole; of what is shared with others the lines that name the person (Art. 15(4))",
	"rows of a database that are items are given as items, on some servers as rows too; its other rows, such as those of tables of other programs, are given whole where they belong to an item of the person or, in an SQLite file, to the person, and else the lines that name the person; the bytes of its file may hold others too and are not given",
	"a text of more than 1 MB, or one that is no UTF-8, stands in its document alone and not in export.json too",
	"of a file of more than 1 MB, a line that is longer than that is given in pieces, those that name the person",
	"of a file that is no text, and of one of more than 64 MB in another encoding than UTF-8, it is said where it lies",
}

// exporter writes the files of an export.
type exporter struct {
	d       *Desk
	m       *subject.Matcher
	out     *sink
	items   *spool
	head    exportHead
	count   int
	own     map[string]bool // the items of the store at hand that are the subject's alone
	rows    []exportRow     // what was exported, then what was not
	not     []exportRow
	missing []string
}

// inlined is the largest text that export.json repeats beside its document.
const inlined = 1 << 20

// add writes a text into the export. Its file name contains nothing that comes from a store.
func (e *exporter) add(x exportItem) error {
	end := ".md"
	if !utf8.ValidString(x.Body) {
		x.Apart, end = true, ".bin"
	}
	x.Apart = x.Apart || len(x.Body) > inlined
	body := x.Body
	if x.Apart {
		x.Body = ""
	}
	return e.addFrom(x, end, strings.NewReader(body))
}

// addFrom writes a text whose reader is read once.
func (e *exporter) addFrom(x exportItem, end string, body io.Reader) error {
	e.count++
	x.Document = fmt.Sprintf("documents/%s-%05d%s", x.Store, e.count, end)
	if x.Meta == nil {
		x.Meta = map[string]string{}
	}
	if err := e.out.copy(x.Document, body); err != nil {
		return err
	}
	if p, ok := body.(*namingLines); ok {
		x.Partial = p.left
	}
	b, err := json.MarshalIndent(x, "    ", "  ")
	if err != nil {
		return model.E(model.Internal, "gdpr-export", err)
	}
	comma := ",\n    "
	if e.count == 1 {
		comma = "\n    "
	}
	e.rows = append(e.rows, exportRow{Store: x.Store, ID: x.ID, Layer: x.Layer, Reason: x.Reason, Document: x.Document, Partial: x.Partial})
	return errors.Join(e.items.write([]byte(comma)), e.items.write(b))
}

func (e *exporter) leaveOut(store, id, layer, reason, why string) {
	e.not = append(e.not, exportRow{Store: store, ID: id, Layer: layer, Reason: reason, Why: why})
}

func (e *exporter) miss(store, format string, args ...any) {
	e.missing = append(e.missing, store+": "+fmt.Sprintf(format, args...))
}

// text keeps the subject's part of a text.
func (e *exporter) text(x *exportItem, body string, shared bool) {
	if x.Body = body; shared {
		x.Partial, x.Body = true, linesNaming(e.m, body)
	}
}

func (e *exporter) index() exportIndex {
	return exportIndex{Format: "memdesk-export-index-1", Request: e.head.Request, Found: append(append([]exportRow{}, e.rows...), e.not...),
		Missing: e.missing, Rules: exportRules, Counts: exportCounts{len(e.rows), len(e.not)}}
}

// found exports the store's listed and quarantined items, each read again.
func (e *exporter) found(ctx context.Context, s model.Store, q *search) error {
	e.own = map[string]bool{}
	for i := range q.found {
		f := &q.found[i]
		it, err := reread(ctx, s, f)
		switch {
		case ctx.Err() != nil:
			return model.FromContext(ctx, "gdpr-export")
		case errors.Is(err, model.NotFound): // deleted since
			continue
		case err != nil:
			e.miss(s.Name, "an item cannot be read: %s", model.KindOf(err))
			continue
		}
		x := exportItem{Store: s.Name, ID: it.ID, Layer: f.Layer, Tier: it.Tier, Reason: f.Reason, Meta: map[string]string{}}
		if !it.Modified.IsZero() {
			at := it.Modified.UTC()
			x.Modified = &at
		}
		if !f.Tagged && slices.Equal(f.Named, []string{namedBeside}) {
			e.leaveOut(s.Name, it.ID, f.Layer, f.Reason, "its text does not name the person; of the rows that do, the lines are given by themselves")
			continue
		}
		shared := len(f.Others) > 0 || !f.Tagged && mentions(e.m, it.Body, tierOf(s, it).Document == model.Opaque)
		if !shared {
			e.own[it.ID] = true
		}
		e.text(&x, it.Body, shared && !it.Has(model.FlagBinary))
		for _, field := range it.Meta {
			if !x.Partial || e.m.Names(field.Name+"\n"+field.Value) {
				x.Meta[field.Name] = field.Value
			}
		}
		if err := e.add(x); err != nil {
			return err
		}
	}
	return nil
}

// reread reads an item that a lean search found.
func reread(ctx context.Context, s model.Store, f *Found) (model.Item, error) {
	switch {
	case s.Browser == nil: // recall gives no more than this
		return f.Item, nil
	case f.Layer != layerQuarantine:
		return s.Browser.Read(ctx, f.Item.ID)
	}
	full, err := s.Quarantine.ReadQuarantined(ctx, f.Item.ID)
	it := f.Item
	it.Body = full.Body
	return it, err
}

// versions exports old texts that a store keeps and shows; where the store exposes its medium they are
// layers.
func (e *exporter) versions(ctx context.Context, s model.Store, q *search) error {
	if s.History == nil || s.Maintainer != nil {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(q.seen)) {
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
				if err := e.add(x); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// layers exports the layers beside the items: backups, copies, old versions, logs. Items' bytes are exported
// as items.
func (e *exporter) layers(ctx context.Context, s model.Store, q *search) error {
	if s.Maintainer == nil {
		return nil
	}
	layers, err := s.Maintainer.Layers(ctx)
	if err != nil {
		e.miss(s.Name, "what lies beside its items cannot be listed: %s", model.KindOf(err))
		return ctx.Err()
	}
	told, err := e.databaseRows(ctx, s, q, layers)
	if err != nil {
		return err
	}
	layers = slices.DeleteFunc(layers, func(l model.Layer) bool { return l.Kind == model.LayerItem || told[l.ID] })
	scans := scanLayers(ctx, e.m, s, layers, q.bystanders, func(l model.Layer) bool { return l.Readable }, nil)
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
		default:
			if err := e.layer(ctx, s, l, scan.rep); err != nil {
				return err
			}
		}
	}
	return nil
}

// databaseRows exports the rows and entries beside the items as texts of their layers, and returns the layers that it spoke
// of.
func (e *exporter) databaseRows(ctx context.Context, s model.Store, q *search, layers []model.Layer) (map[string]bool, error) {
	told := map[string]bool{}
	kind := map[string]string{}
	for _, l := range layers {
		kind[l.ID] = layerName(l)
	}
	const reason = "its rows are of the person, or name the person"
	type rows struct {
		text    strings.Builder
		partial bool
	}
	read, closed := map[string]*rows{}, map[string]bool{}
	var failed error
	flush := func(layer string) {
		r := read[layer]
		delete(read, layer)
		failed = errors.Join(failed, e.add(exportItem{Store: s.Name, ID: layer, Layer: cmp.Or(kind[layer], string(model.LayerDerived)), Reason: reason, Partial: r.partial, Body: r.text.String()}))
	}
	tell := func(layer, text string, whole bool) {
		told[layer] = true
		if text == "" || !utf8.ValidString(text) {
			closed[layer] = true
			return
		}
		if read[layer] == nil {
			read[layer] = &rows{}
		}
		r := read[layer]
		r.partial = r.partial || !whole
		r.text.WriteString(strings.TrimSuffix(text, "\n") + "\n")
		if r.text.Len() > inlined {
			flush(layer)
		}
	}
	concerns := concerns(e.m, q.bystanders)
	_, err := s.Maintainer.Scrub(ctx, model.ScrubRequest{Dry: true, Held: slices.Sorted(maps.Keys(e.own)), Subjects: []string{e.head.Subject}, Concerns: concerns, SideRows: func(row model.SideRow) {
		if row.Whole || slices.ContainsFunc(row.Of, func(id string) bool { return e.own[id] }) {
			tell(row.Layer, rowText(row), true)
			return
		}
		for _, c := range row.Cells {
			if concerns([]byte(c.Words)) {
				tell(row.Layer, linesNaming(e.m, c.Words), false)
			}
		}
	}})
	if ctx.Err() != nil {
		return nil, model.FromContext(ctx, "gdpr-export")
	}
	if err != nil {
		e.miss(s.Name, "the rows beside its items cannot be read: %s", model.KindOf(err))
	}
	for _, layer := range slices.Sorted(maps.Keys(read)) {
		flush(layer)
	}
	for _, layer := range slices.Sorted(maps.Keys(closed)) {
		e.leaveOut(s.Name, layer, cmp.Or(kind[layer], string(model.LayerDerived)), reason, noText)
	}
	return told, failed
}

// rowText is a row, one cell to a line.
func rowText(row model.SideRow) string {
	var b strings.Builder
	for _, c := range row.Cells {
		if !utf8.ValidString(c.Text) {
			c.Text = fmt.Sprintf("(%d bytes that are no text)", len(c.Text))
		}
		if c.Text != "" {
			b.WriteString(strings.TrimPrefix(c.Column+": ", ": ") + c.Text + "\n")
		}
	}
	return b.String()
}

// layer exports the subject's part of a file beside the items: of a text the lines that name the subject, as
// they are read. A file that is no text is left out: it may hold others' data anywhere.
func (e *exporter) layer(ctx context.Context, s model.Store, l model.Layer, rep subject.Report) error {
	x := exportItem{Store: s.Name, ID: l.ID, Layer: layerName(l), Reason: "its bytes name the person"}
	if rep.Hits == 0 {
		x.Reason = "its name names the person"
	}
	f, err := s.Maintainer.OpenLayer(ctx, l.ID)
	if err != nil {
		e.miss(s.Name, "%s cannot be read: %s", l.ID, model.KindOf(err))
		return nil
	}
	in := bufio.NewReaderSize(f, 64<<10)
	begin, _ := in.Peek(8 << 10) // the later read repeats an error
	switch {
	case bytes.IndexByte(begin, 0) >= 0 && !decodes(begin):
		e.leaveOut(s.Name, l.ID, x.Layer, x.Reason, noText)
	case l.Bytes <= inlined || rep.Binary || !utf8.Valid(wholeRunes(begin)):
		err = e.smallLayer(x, in)
	default:
		x.Apart = true
		err = e.addFrom(x, ".md", newNamingLines(e.m, in))
	}
	return errors.Join(err, f.Close())
}

// noText says why a file is left out.
const noText = "it is no text and may hold others too; rows of a database that are text are given by themselves: look at the rest with the program that wrote it"

// decodes reports whether bytes that contain a NUL begin a text in another encoding.
func decodes(begin []byte) bool {
	_, _, ok := subject.Plain(begin[:len(begin)&^3])
	return ok
}

// wholeRunes drops a cut rune at the end.
func wholeRunes(b []byte) []byte {
	for i := 1; i <= min(len(b), utf8.UTFMax-1); i++ {
		if utf8.RuneStart(b[len(b)-i]) && !utf8.FullRune(b[len(b)-i:]) {
			return b[:len(b)-i]
		}
	}
	return b
}

// maxDecoded is the largest file in another encoding that is decoded.
const maxDecoded = 64 << 20

func (e *exporter) smallLayer(x exportItem, in io.Reader) error {
	b, err := io.ReadAll(io.LimitReader(in, maxDecoded+1))
	if err != nil {
		e.miss(x.Store, "%s cannot be read to the end", x.ID)
		return nil
	}
	body := string(b)
	if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		text, _, ok := subject.Plain(b)
		if !ok || len(b) > maxDecoded {
			e.leaveOut(x.Store, x.ID, x.Layer, x.Reason, noText)
			return nil
		}
		body = text
	}
	e.text(&x, body, mentions(e.m, body, true))
	return e.add(x)
}

// displaced exports the texts of memdesk's undo entries.
func (e *exporter) displaced() error {
	if e.d.Undo == nil {
		return nil
	}
	entries, damaged, err := e.d.Undo.List()
	if err != nil {
		e.miss(ownStore, "what undo keeps cannot be listed: %s", model.KindOf(err))
		return nil
	}
	if len(damaged) > 0 {
		e.miss(ownStore, "what undo keeps of %d changes cannot be read", len(damaged))
	}
	for _, u := range entries {
		full, body, err := e.d.Undo.Read(u.ID)
		if err != nil {
			e.miss(ownStore, "what undo keeps of a change cannot be read: %s", model.KindOf(err))
			continue
		}
		var all []error
		sides := full.AllSides()
		for i, text := range (undo.Entry{Sides: sides}).Bodies(body) {
			all = append(all, e.displacedItem(full.Store, undo.Entry{Side: sides[i]}, text))
		}
		for _, p := range full.Parts { // items that fell with it
			all = append(all, e.displacedItem(full.Store, undo.Entry{Side: undo.Side{Item: p.Item, Meta: p.Meta, Beside: p.Beside}}, p.Body))
		}
		if err := errors.Join(all...); err != nil {
			return err
		}
	}
	return nil
}

// origins exports memdesk's notes of who wrote what, of recalls and of agents' names: the entries that name the subject, and
// those about items that are the subject's alone, whose source the subject may ask for (Art. 15(1)(g)).
func (e *exporter) origins() error {
	theirs := map[model.Ref]bool{}
	for _, row := range e.rows {
		if row.Layer == layerItem && !row.Partial {
			theirs[model.Ref{Store: row.Store, ID: row.ID}] = true
		}
	}
	of := traced(e.m, func(store, _, id string) bool { return theirs[model.Ref{Store: store, ID: id}] })
	dir := filepath.Join(e.d.State, originLayer)
	var failed error
	err := eachFile(dir, true, func(path string) error {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		x := exportItem{Store: ownStore, ID: originLayer + "/" + filepath.Base(path), Layer: originLayer, Reason: "who wrote the person's items and when, what was recalled, and how agents call them"}
		var body strings.Builder
		for line := range strings.Lines(string(data)) {
			if !of([]byte(line)) {
				x.Partial = true
				continue
			}
			body.WriteString(line)
		}
		if x.Body = body.String(); x.Body != "" {
			failed = e.add(x)
		}
		return failed
	})
	if err != nil && failed == nil {
		e.miss(ownStore, "the notes of who wrote what cannot be read: %s", atomicfile.Pathless(err))
	}
	return failed
}

// displacedItem exports one item of an undo entry if it names the subject, as an erasure judges it.
func (e *exporter) displacedItem(store string, one undo.Entry, body string) error {
	named := entryNames(one, body, e.m.Names)
	if !named && !e.m.NamesBytes([]byte(body)) {
		return nil
	}
	x := exportItem{Store: ownStore, ID: store + ":" + one.Item, Layer: "undo", Reason: "replaced or removed by a change, kept for undo until it expires", Meta: map[string]string{}}
	if !named {
		return e.smallLayer(x, strings.NewReader(body))
	}
	for _, f := range one.Meta {
		if e.m.Names(f.Name + "\n" + f.Value) {
			x.Meta[f.Name] = f.Value
		}
	}
	if beside := linesNaming(e.m, strings.Join(entryTexts(undo.Entry{Side: undo.Side{Beside: one.Beside}}, ""), "\n")); beside != "" {
		x.Meta["beside"] = beside
	}
	e.text(&x, body, mentions(e.m, body, true))
	return e.add(x)
}

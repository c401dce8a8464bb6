package desk

import (
	"context"
	"encoding/base64"
	"encoding/csv"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// Datum is a row for export: its columns in order, with one name each.
type Datum struct {
	names  []string
	values []any // strings, numbers, booleans, lists of strings; nil is unknown
}

func (r *Datum) Add(name string, value any) {
	r.names = append(r.names, name)
	r.values = append(r.values, value)
}

// DatumOf is a row of names, each with its value.
func DatumOf(pairs ...any) (r Datum) {
	for pair := range slices.Chunk(pairs, 2) {
		r.Add(pair[0].(string), pair[1])
	}
	return r
}

// Object is the row for JSON.
func (r Datum) Object() map[string]any {
	out := map[string]any{}
	for i, n := range r.names {
		out[n] = r.values[i]
	}
	return out
}

// cells are the row for CSV; a cell like a formula becomes text (terminal-safety.md, policy 7).
func (r Datum) cells() []string {
	out := make([]string, len(r.values))
	for i, v := range r.values {
		switch v := v.(type) {
		case nil:
		case string:
			out[i] = safetext.Cell(v)
		case []string:
			out[i] = safetext.Cell(strings.Join(v, " "))
		default:
			b, err := safetext.MarshalJSON(v)
			if err == nil {
				out[i] = strings.Trim(string(b), `"`)
			}
		}
	}
	return out
}

func HeaderDatum(store string, h model.Header) Datum {
	flags := make([]string, len(h.Flags))
	for i, f := range h.Flags {
		flags[i] = string(f)
	}
	return DatumOf(
		"store", store, "id", model.EncodeID(h.ID), "tier", h.Tier, "scope", h.Scope, "title", h.Title, "bytes", h.Bytes,
		"modified", StampOf(h.Modified), "stamp", h.Stamp, "flags", flags,
	)
}

// itemDatum is a whole item. JSON cannot hold invalid UTF-8: the bytes are added beside it then.
func itemDatum(store string, it model.Item) Datum {
	r := HeaderDatum(store, it.Header)
	r.Add("revision", string(it.Revision))
	r.Add("meta", model.Values(it.Meta))
	r.Add("body", it.Body)
	if !utf8.ValidString(it.Body) {
		r.Add("body_base64", base64.StdEncoding.EncodeToString([]byte(it.Body)))
	}
	return r
}

// StampOf is a time as data, nil when it is not known.
func StampOf(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// exporter writes rows page by page, and says what it could not look at.
type exporter func(ctx context.Context, write func(Datum) error) (missing []safetext.Text, err error)

// ExportTable asks where a table goes, and writes all of its pages there.
func (ex *exports) ExportTable(name string, rows exporter) tea.Cmd {
	esc := ex.d.Esc
	stamp := ex.d.Time.Clock.Now().UTC().Format("20060102-150405")
	return ex.d.Modal.Show(ex.exportDialog(esc.Const("Export the table?"),
		esc.Const("All rows under the filter are written, however many pages: .csv for a spreadsheet, .jsonl for one JSON object per line."),
		"row", safetext.FileName("memdesk-"+name+"-"+stamp+".csv"),
		func(ctx context.Context, path string, e *export) dialog.Acted {
			return ex.writeTable(ctx, path, e, rows)
		}))
}

// ExportItem asks where an item goes, and writes it as it is stored.
func (ex *exports) ExportItem(ref model.Ref) tea.Cmd {
	esc := ex.d.Esc
	return ex.d.Modal.Show(ex.exportDialog(esc.Sprintf("Export %s?", esc.LineMax(ref.ID, prose.MaxTitle)),
		esc.Const("The document is written as the store holds it, control characters included; a name that ends in .json gets the item with all that is known about it."),
		"item", safetext.FileName(filepath.Base(ref.ID)),
		func(ctx context.Context, path string, e *export) dialog.Acted {
			return ex.writeFile(ctx, path, e, func(ctx context.Context, w io.Writer) error {
				s, it, err := ex.d.Readable(ctx, ref)
				if err != nil {
					return err
				}
				e.rows.Add(1)
				if strings.EqualFold(filepath.Ext(path), ".json") {
					b, err := safetext.MarshalJSON(itemDatum(ref.Store, it).Object())
					if err != nil {
						return err
					}
					_, err = w.Write(append(b, '\n'))
					return err
				}
				_, err = io.WriteString(w, it.Document().Encode(operator.DocumentKind(s, it.Tier)))
				return err
			})
		}))
}

func (ex *exports) exportDialog(question, about safetext.Text, noun, name string, act func(ctx context.Context, path string, e *export) dialog.Acted) *dialog.Dialog {
	esc := ex.d.Esc
	d := &dialog.Dialog{
		Title: esc.Const("Export"), NoReason: true,
		Lines: []text.Line{
			{Value: question, Kind: text.Title}, {Value: about},
			{Value: esc.Const("The file is made on the machine that memdesk runs on, for you alone (mode 0600), once all of it is written. One that is there already is not overwritten."), Kind: text.Note},
		},
		Fields: []dialog.Field{{Label: esc.Const("to: ")}},
	}
	d.Fields[0].Input.Set(name)
	e := &export{noun: noun}
	d.Choices = []dialog.Choice{{Verb: "Write", Stops: true, Begin: func() tea.Cmd { return ex.beginExport(d, e) }, Act: func(ctx context.Context, f dialog.Filled) dialog.Acted {
		out := act(ctx, strings.TrimSpace(f.Fields[0]), e)
		e.Ended.Store(true)
		if !out.Ok { // asked again, with the reason on top
			again := ex.exportDialog(question, about, noun, f.Fields[0], act)
			again.Lines = append([]text.Line{{Value: out.Text, Kind: text.Alert}}, again.Lines...)
			return dialog.Acted{Next: again}
		}
		if len(e.missing) > 0 { // the file stands
			out.Ok, out.Text = false, esc.Sprintf("%s; %s", out.Text, esc.Join(e.missing, "; "))
		}
		return out
	}}}
	return d
}

// writeTable writes every page. It runs in a command.
func (ex *exports) writeTable(ctx context.Context, path string, e *export, rows exporter) dialog.Acted {
	ext := strings.ToLower(filepath.Ext(path))
	if !slices.Contains([]string{".csv", ".jsonl", ".ndjson"}, ext) {
		return dialog.Acted{Text: ex.d.Esc.Const("The name must end in .csv or .jsonl: it says how the table is written.")}
	}
	return ex.writeFile(ctx, path, e, func(ctx context.Context, w io.Writer) (err error) {
		out := safetext.NewJSONWriter(w)
		write := func(r Datum) error { return out.Write(r.Object()) }
		if ext == ".csv" {
			c := csv.NewWriter(w)
			headed := false
			write = func(r Datum) error {
				if !headed {
					headed = true
					if err := c.Write(r.names); err != nil {
						return err
					}
				}
				return c.Write(r.cells())
			}
			defer func() {
				c.Flush()
				err = errors.Join(err, c.Error())
			}()
		}
		e.missing, err = rows(ctx, func(r Datum) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			e.rows.Add(1)
			return write(r)
		})
		return err
	})
}

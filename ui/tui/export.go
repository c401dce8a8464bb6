package tui

import (
	"context"
	"encoding/base64"
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// datum is a row as it is exported: its columns in order, with one name each.
type datum struct {
	names  []string
	values []any // strings, numbers, booleans, lists of strings; nil is unknown
}

func (r *datum) add(name string, value any) {
	r.names = append(r.names, name)
	r.values = append(r.values, value)
}

// object is the row for JSON.
func (r datum) object() map[string]any {
	out := map[string]any{}
	for i, n := range r.names {
		out[n] = r.values[i]
	}
	return out
}

// cells are the row for CSV. A cell that a spreadsheet could take for a formula
// is made a text (terminal-safety.md, policy 7).
func (r datum) cells() []string {
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

func headerDatum(store string, h model.Header) datum {
	var r datum
	r.add("store", store)
	r.add("id", model.EncodeID(h.ID))
	r.add("tier", h.Tier)
	r.add("scope", h.Scope)
	r.add("title", h.Title)
	r.add("bytes", h.Bytes)
	r.add("modified", stampOf(h.Modified))
	r.add("stamp", h.Stamp)
	flags := make([]string, len(h.Flags))
	for i, f := range h.Flags {
		flags[i] = string(f)
	}
	r.add("flags", flags)
	return r
}

// itemDatum is an item whole. JSON cannot hold what is not UTF-8: the bytes stand
// beside it then.
func itemDatum(store string, it model.Item) datum {
	r := headerDatum(store, it.Header)
	r.add("revision", string(it.Revision))
	meta := map[string]string{}
	for _, f := range it.Meta {
		meta[f.Name] = f.Value
	}
	r.add("meta", meta)
	r.add("body", it.Body)
	if !utf8.ValidString(it.Body) {
		r.add("body_base64", base64.StdEncoding.EncodeToString([]byte(it.Body)))
	}
	return r
}

// stampOf is a time as data, nil when it is not known.
func stampOf(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// exporter writes rows page by page and says how many.
type exporter func(ctx context.Context, write func(datum) error) error

// exportTable asks where a table goes, and writes all of its pages there.
func (ex *exports) exportTable(name string, rows exporter) tea.Cmd {
	esc := ex.d.esc
	stamp := ex.d.time.Clock.Now().UTC().Format("20060102-150405")
	return ex.d.modal.show(ex.exportDialog(esc.Const("Export the table?"),
		esc.Const("All rows under the filter are written, however many pages: .csv for a spreadsheet, .jsonl for one JSON object per line."),
		"row", safetext.FileName("memdesk-"+name+"-"+stamp+".csv"),
		func(ctx context.Context, path string, e *export) acted { return ex.writeTable(ctx, path, e, rows) }))
}

// exportItem asks where an item goes, and writes it as it is stored.
func (ex *exports) exportItem(ref model.Ref) tea.Cmd {
	esc := ex.d.esc
	return ex.d.modal.show(ex.exportDialog(esc.Sprintf("Export %s?", esc.LineMax(ref.ID, prose.MaxTitle)),
		esc.Const("The document is written as the store holds it, control characters included; a name that ends in .json gets the item with all that is known about it."),
		"item", safetext.FileName(filepath.Base(ref.ID)),
		func(ctx context.Context, path string, e *export) acted {
			return ex.writeFile(ctx, path, e, func(ctx context.Context, w io.Writer) error {
				s, it, err := ex.d.readable(ctx, ref)
				if err != nil {
					return err
				}
				e.rows.Add(1)
				if strings.EqualFold(filepath.Ext(path), ".json") {
					b, err := safetext.MarshalJSON(itemDatum(ref.Store, it).object())
					if err != nil {
						return err
					}
					_, err = w.Write(append(b, '\n'))
					return err
				}
				_, err = io.WriteString(w, it.Document().Encode(kindOf(s, it.Tier)))
				return err
			})
		}))
}

func (ex *exports) exportDialog(question, about safetext.Text, noun, name string, act func(ctx context.Context, path string, e *export) acted) *dialog {
	esc := ex.d.esc
	d := &dialog{
		title: esc.Const("Export"), noReason: true,
		lines: []text.Line{
			{Value: question, Kind: text.Title}, {Value: about},
			{Value: esc.Const("The file is made on the machine that memdesk runs on, for you alone (mode 0600), once all of it is written. One that is there already is not overwritten."), Kind: text.Note},
		},
		fields: []field{{label: esc.Const("to: ")}},
	}
	d.fields[0].input.Set(name)
	e := &export{noun: noun}
	d.choices = []choice{{verb: "Write", stops: true, begin: func() tea.Cmd { return ex.beginExport(d, e) }, act: func(ctx context.Context, f filled) acted {
		out := act(ctx, strings.TrimSpace(f.fields[0]), e)
		e.ended.Store(true)
		if out.next != nil {
			return out
		}
		if !out.ok { // asked again with the reason on top
			again := ex.exportDialog(question, about, noun, f.fields[0], act)
			again.lines = append([]text.Line{{Value: esc.Sprintf("!! %s", out.text), Kind: text.Warn}}, again.lines...)
			return acted{next: again}
		}
		return out
	}}}
	return d
}

// writeTable writes every page. It runs in a command.
func (ex *exports) writeTable(ctx context.Context, path string, e *export, rows exporter) acted {
	ext := strings.ToLower(filepath.Ext(path))
	if !slices.Contains([]string{".csv", ".jsonl", ".ndjson"}, ext) {
		return acted{text: ex.d.esc.Const("The name must end in .csv or .jsonl: it says how the table is written.")}
	}
	return ex.writeFile(ctx, path, e, func(ctx context.Context, w io.Writer) (err error) {
		write := jsonRows(w)
		if ext == ".csv" {
			c := csv.NewWriter(w)
			write = csvRows(c)
			defer func() {
				c.Flush()
				err = errors.Join(err, c.Error())
			}()
		}
		return rows(ctx, func(r datum) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			e.rows.Add(1)
			return write(r)
		})
	})
}

func jsonRows(w io.Writer) func(datum) error {
	out := safetext.NewJSONWriter(w)
	return func(r datum) error { return out.Write(r.object()) }
}

func csvRows(c *csv.Writer) func(datum) error {
	headed := false
	return func(r datum) error {
		if !headed {
			headed = true
			if err := c.Write(r.names); err != nil {
				return err
			}
		}
		return c.Write(r.cells())
	}
}

// cause drops the path that the operator has just typed.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}

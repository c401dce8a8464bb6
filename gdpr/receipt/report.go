package receipt

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"memdesk/internal/safetext"
	"memdesk/model"
)

// Report says how far an unfinished erasure has come. It is not signed and proves nothing: partial work has
// no receipt. It names no person.
type Report struct {
	V         int     `json:"v"`
	Format    string  `json:"format"` // "memdesk-status-report"
	Request   string  `json:"request"`
	Subject   string  `json:"subject"` // keyed pseudonym
	State     string  `json:"state"`
	Reason    string  `json:"reason,omitempty"`
	Plan      string  `json:"plan_hash,omitempty"` // of the reported run
	Received  string  `json:"received"`
	Deadline  string  `json:"deadline"`
	Due       string  `json:"due"`
	Begun     string  `json:"begun,omitempty"` // RFC 3339, UTC
	Made      string  `json:"made"`
	Forgotten int64   `json:"forgotten"`
	Redacted  int64   `json:"redacted"`
	Held      int64   `json:"held"`
	Stores    []Store `json:"stores"`
	Layers    []Layer `json:"layers"`
	// Left lists the work before the request can end.
	Left    []Left   `json:"left"`
	Exports []Export `json:"exports"` // neither handed over nor deleted
	Backups []Backup `json:"backups"`
	Notes   []string `json:"notes"`
}

// Left is one thing that is not done, and how to finish it.
type Left struct {
	Store   string        `json:"store"`
	Layer   string        `json:"layer,omitempty"` // empty: not about one layer
	Verdict model.Verdict `json:"verdict,omitempty"`
	Reason  string        `json:"reason"`
	Do      string        `json:"do"`
}

// JSON is the report as a file.
func (r Report) JSON() ([]byte, error) {
	r.V, r.Format = 1, "memdesk-status-report"
	r.Stores, r.Layers, r.Left, r.Notes = notNil(r.Stores), notNil(r.Layers), notNil(r.Left), notNil(r.Notes)
	r.Exports, r.Backups = notNil(r.Exports), notNil(r.Backups)
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, model.E(model.Internal, "report", err)
	}
	return append(b, '\n'), nil
}

// Markdown is the report as a page to read and to print; all as for a receipt.
func (r Report) Markdown(all bool) string {
	p := &page{}
	p.line("# Where an erasure stands")
	p.line("")
	p.line("This is no receipt. Nothing of it is signed.")
	p.facts([][2]string{{"request", r.Request}, {"person", r.Subject + " (pseudonym)"}, {"state", r.State}, {"received", r.Received},
		{"deadline", r.Deadline + " (" + r.Due + ")"}, {"begun", cmp.Or(r.Begun, "-")}, {"this page is of", r.Made}, {"plan", cmp.Or(r.Plan, "-")}})
	if r.Reason != "" {
		p.line("")
		p.line("%s", p.cell(r.Reason))
	}
	p.line("")
	p.line("%d items were forgotten, %d redacted, %d held back.", r.Forgotten, r.Redacted, r.Held)
	p.line("")
	p.line("## What is left")
	p.line("")
	if len(r.Left) == 0 {
		p.line("Nothing was tried yet that could be told of.")
	}
	for _, l := range r.Left {
		p.line("- %s", p.cell(l.String()))
	}
	p.stores(r.Stores)
	p.layers(r.Layers, all)
	list(p, "Exports", "", r.Exports)
	list(p, "Backups", "", Folded(r.Backups))
	return p.String()
}

// page is a Markdown text with every foreign word escaped.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) cell(s string) string { return Plain(s) }

// Plain is a foreign text as it must stand in Markdown to be read as text alone.
func Plain(s string) string {
	return outerUnderscores.ReplaceAllStringFunc(markup.Replace(safetext.Line(s).String()), func(u string) string { return strings.ReplaceAll(u, "_", `\_`) })
}

// markup and outerUnderscores keep a foreign word text: Markdown reads no other character as anything inside a cell,
// and an underscore inside a word as itself. Commands stay readable in the raw page. GitHub's dialect also
// makes bare addresses of the web links; one of mail may become a link to itself.
var markup = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", `\<`, "&", `\&`, "[", `\[`, "]", `\]`, "*", `\*`, "`", "\\`", "~", `\~`, "#", `\#`, "://", `\://`, "www.", `www\.`)

var outerUnderscores = regexp.MustCompile(`\b_+|_+\b`)

func (p *page) facts(rows [][2]string) {
	p.line("")
	p.line("| | |")
	p.line("|---|---|")
	for _, row := range rows {
		p.line("| %s | %s |", row[0], p.cell(row[1]))
	}
}

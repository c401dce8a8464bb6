package receipt

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"memdesk/model"
)

// Markdown is the receipt as a page to read and to print: layers that are not clean one by one, the rest as
// numbers or, with all, a row for every kind. The signed file is the proof; the page says so.
func (r Receipt) Markdown(keyID string, all bool) string {
	p := &page{}
	p.line("# Receipt of an erasure")
	p.facts([][2]string{
		{"request", r.Request}, {"person", r.Subject + " (pseudonym; the id itself is not kept)"}, {"status", r.StatusWords()}, {"ground", r.Ground},
		{"received", r.Received}, {"deadline", r.Deadline}, {"begun", r.Begun}, {"finished", r.Finished}, {"operator", r.Operator.String()},
		{"approved by", r.ApproverWords()}, {"policy", r.Policy.String()}, {"plan", r.Plan}, {"signed with key", keyID},
	})
	p.line("")
	p.line("%d items were forgotten, %d redacted, %d held back.", r.Forgotten, r.Redacted, Items(r.Held))
	list(p, "Where the person still is", "", r.Open)
	p.stores(r.Stores)
	p.layers(r.Layers, all)
	list(p, "Attested", "Nobody could open these; a person looked at them.", r.Attested)
	list(p, "Exports", "", r.Exports)
	list(p, "Recipients", "", r.Recipients)
	list(p, "Backups", "", Folded(r.Backups))
	list(p, "Limits", "", r.Notes)
	p.line("")
	p.line("This page is a copy for people. The signed file is the proof: `memdesk gdpr verify FILE` checks it offline, with `--key %s` also where this desk is not known.", p.cell(keyID))
	return p.String()
}

// list writes a chapter of single lines; nothing where there are none.
func list[T any](p *page, title, says string, lines []T) {
	if len(lines) == 0 {
		return
	}
	p.line("")
	p.line("## %s", title)
	p.line("")
	if says != "" {
		p.line("%s", says)
		p.line("")
	}
	for _, l := range lines {
		p.line("- %s", p.cell(fmt.Sprint(l)))
	}
}

func (p *page) stores(stores []Store) {
	p.line("")
	p.line("## Stores")
	p.line("")
	p.line("| store | kind | forgotten | redacted | held | rows scrubbed |")
	p.line("|---|---|---|---|---|---|")
	for _, s := range stores {
		p.line("| %s | %s | %d | %d | %d | %d |", p.cell(s.Store), p.cell(s.Kind), s.Forgotten, s.Redacted, s.Held, s.Rows)
	}
}

// layers writes the layers that are not clean, a row each, then the clean ones.
func (p *page) layers(layers []Layer, all bool) {
	standing, clean := Split(layers)
	how := methods{}
	p.line("")
	p.line("## Layers")
	p.line("")
	switch {
	case len(layers) == 0:
		p.line("None was looked at yet.")
		return
	case len(standing) == 0:
		p.line("All are clean: looked at, and nothing names the person.")
	default:
		p.line("What is not clean. Layers of one kind of which the same can be said stand in one line; the file names each.")
		p.tables("###", standing, &how)
	}
	if clean.Layers > 0 {
		p.line("")
		p.line("### Clean")
		p.line("")
		p.line("%s. The file names each.", p.cell(clean.String()))
		p.clean(clean, all, &how)
	}
	p.line("")
	p.line("How it was looked at:")
	p.line("")
	for i, m := range how {
		p.line("%d. %s", i+1, p.cell(m))
	}
	list(p, "Out of reach", "", reached(layers))
}

// clean writes the clean layers of each store in a line, or as tables.
func (p *page) clean(f Fold, all bool, how *methods) {
	if all {
		p.tables("####", f.Rows, how)
		return
	}
	p.line("")
	p.line("| store | layers | bytes looked at | which, and how |")
	p.line("|---|--:|--:|---|")
	for _, st := range storesOf(f.Rows) {
		_, own := Split(slices.DeleteFunc(slices.Clone(f.Rows), func(l Layer) bool { return l.Store != st }))
		var kinds []string
		for _, k := range own.Kinds {
			var by []string
			for _, m := range k.Methods {
				by = append(by, strconv.Itoa(how.number(m)))
			}
			kinds = append(kinds, k.String()+" ("+strings.Join(by, ", ")+")")
		}
		p.line("| %s | %d | %d | %s |", p.cell(st), own.Layers, own.Bytes, p.cell(strings.Join(kinds, ", ")))
	}
	for i, n := range f.Notes {
		if i == 0 {
			p.line("")
		}
		p.line("- %s: %s: %s", p.cell(n.Store), p.cell(n.Layer), p.cell(n.Reason))
	}
}

// tables writes layers by store, under a heading each.
func (p *page) tables(heading string, layers []Layer, how *methods) {
	for _, st := range storesOf(layers) {
		p.line("")
		p.line("%s %s", heading, p.cell(st))
		p.line("")
		p.line("| layer | verdict | bytes looked at | hits | how | note |")
		p.line("|---|---|--:|--:|---|---|")
		for _, l := range grouped(layers, st) {
			p.line("| %s | %s | %d | %d | %d | %s |", p.cell(l.name()), strings.ReplaceAll(string(l.Verdict), "_", " "), l.BytesScanned, l.Hits, how.number(l.Method), p.cell(l.Reason))
		}
	}
}

// methods are numbered in the order in which they appear.
type methods []string

func (m *methods) number(method string) int {
	if i := slices.Index(*m, method); i >= 0 {
		return i + 1
	}
	*m = append(*m, method)
	return len(*m)
}

// group is layers of one kind with the same verdict and remarks.
type group struct {
	Layer
	kind  string
	count int
}

func (g group) name() string {
	if g.count == 1 {
		return g.Layer.Layer
	}
	return fmt.Sprintf("%d %s", g.count, g.kind)
}

func storesOf(layers []Layer) []string {
	var out []string
	for _, l := range layers {
		if !slices.Contains(out, l.Store) {
			out = append(out, l.Store)
		}
	}
	return out
}

// grouped joins a store's layers. A layer that names the subject, or could not be looked at, keeps a line of
// its own.
func grouped(layers []Layer, store string) []group {
	var out []group
	at := map[[4]string]int{}
	for _, l := range layers {
		if l.Store != store {
			continue
		}
		k := kindOf(l)
		g := group{Layer: l, kind: cmp.Or(k.many, k.one), count: 1}
		alone := l.Hits > 0 || l.Verdict != model.VerdictClean && l.Verdict != model.VerdictOutOfScope
		key := [4]string{g.kind, string(l.Verdict), l.Method, l.Reason}
		i, known := at[key]
		if alone || !known {
			if !alone {
				at[key] = len(out)
			}
			out = append(out, g)
			continue
		}
		out[i].count++
		out[i].BytesScanned += l.BytesScanned
	}
	return out
}

// reached are the reasons of layers out of reach, each once.
func reached(layers []Layer) []string {
	var out []string
	for _, st := range storesOf(layers) {
		for _, g := range grouped(layers, st) {
			if g.Verdict == model.VerdictOutOfScope {
				out = append(out, st+": "+g.name()+": "+g.Reason)
			}
		}
	}
	return out
}

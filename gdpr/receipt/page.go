package receipt

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"memdesk/model"
)

// Markdown is the receipt as a page to read and to print. The signed file is the
// proof; the page says so.
func (r Receipt) Markdown(keyID string) string {
	p := newPage()
	p.line("# Receipt of an erasure")
	p.facts([][2]string{
		{"request", r.Request}, {"person", r.Subject + " (pseudonym; the id itself is not kept)"}, {"received", r.Received}, {"deadline", r.Deadline},
		{"begun", r.Begun}, {"finished", r.Finished}, {"operator", r.Operator}, {"approved by", orNone(r.Approver)}, {"plan", r.Plan}, {"signed with key", keyID},
	})
	p.line("")
	p.line("%d items were forgotten, %d redacted, %d held back.", r.Forgotten, r.Redacted, r.Held)
	p.stores(r.Stores)
	p.layers(r.Layers)
	p.backups(r.Stores)
	p.line("")
	p.line("This page is a copy for people. The signed file is the proof: `memdesk gdpr verify FILE` checks it offline, with `--key %s` also where this desk is not known.", p.cell(keyID))
	return p.String()
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

func (p *page) layers(layers []Layer) {
	p.line("")
	p.line("## Layers")
	p.line("")
	p.line("Layers of one kind of which the same can be said stand in one line; the file names each.")
	var methods []string
	for _, st := range storesOf(layers) {
		p.line("")
		p.line("### %s", p.cell(st))
		p.line("")
		p.line("| layer | verdict | bytes looked at | hits | how | note |")
		p.line("|---|---|--:|--:|---|---|")
		for _, l := range grouped(layers, st) {
			how := slices.Index(methods, l.Method) + 1
			if how == 0 {
				methods = append(methods, l.Method)
				how = len(methods)
			}
			p.line("| %s | %s | %d | %d | %d | %s |", p.cell(l.name()), strings.ReplaceAll(string(l.Verdict), "_", " "), l.BytesScanned, l.Hits, how, p.cell(l.Reason))
		}
	}
	p.line("")
	p.line("How it was looked at:")
	p.line("")
	for i, m := range methods {
		p.line("%d. %s", i+1, p.cell(m))
	}
	if notes := reached(layers); len(notes) > 0 {
		p.line("")
		p.line("## Out of reach")
		p.line("")
		for _, n := range notes {
			p.line("- %s", p.cell(n))
		}
	}
}

// backups says until when copies out of reach may hold the person.
func (p *page) backups(stores []Store) {
	p.line("")
	p.line("## Backups")
	p.line("")
	for _, s := range stores {
		if s.Backups != "" {
			p.line("- %s: %s", p.cell(s.Store), p.cell(s.Backups))
		}
	}
}

func orNone(s string) string {
	if s == "" {
		return "nobody: no approval was required"
	}
	return s
}

// group is layers of one kind of which the same can be said.
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

// grouped joins a store's layers. What names the person, or could not be looked
// at, keeps a line of its own.
func grouped(layers []Layer, store string) []group {
	var out []group
	at := map[[4]string]int{}
	for _, l := range layers {
		if l.Store != store {
			continue
		}
		g := group{Layer: l, kind: kindOf(l.Layer), count: 1}
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

// kindOf tells layers that are alike by what their names end in.
func kindOf(layer string) string {
	base := path.Base(layer)
	switch ext := path.Ext(base); {
	case strings.HasSuffix(layer, "/"):
		return "empty directories"
	case ext == ".lock":
		return "lock files"
	case strings.Contains(base, ".tmp"):
		return "temporary files"
	case ext != "" && ext != base:
		return "files *" + ext
	case strings.Contains(layer, "/"):
		return "files"
	}
	return layer // a word of its own: items, recall, names
}

// reached are the reasons of what was out of reach, each once.
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

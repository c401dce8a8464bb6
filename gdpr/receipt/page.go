package receipt

import (
	"fmt"
	"strings"

	"memdesk/internal/safetext"
)

// Markdown is the receipt as a page to read and to print. The signed file is the
// proof; the page says so.
func (r Receipt) Markdown(keyID string) string {
	var b strings.Builder
	esc := safetext.Escaper{}
	cell := func(s string) string { return strings.ReplaceAll(esc.Line(s).String(), "|", "\\|") }
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Receipt of an erasure")
	line("")
	line("| | |")
	line("|---|---|")
	for _, row := range [][2]string{
		{"request", r.Request}, {"person", r.Subject + " (pseudonym; the id itself is not kept)"}, {"received", r.Received}, {"deadline", r.Deadline},
		{"begun", r.Begun}, {"finished", r.Finished}, {"operator", r.Operator}, {"approved by", orNone(r.Approver)}, {"plan", r.Plan}, {"signed with key", keyID},
	} {
		line("| %s | %s |", row[0], cell(row[1]))
	}
	line("")
	line("%d items were forgotten, %d redacted, %d held back.", r.Forgotten, r.Redacted, r.Held)
	line("")
	line("## Stores")
	line("")
	line("| store | kind | forgotten | redacted | held | rows scrubbed |")
	line("|---|---|---|---|---|---|")
	for _, s := range r.Stores {
		line("| %s | %s | %d | %d | %d | %d |", cell(s.Store), cell(s.Kind), s.Forgotten, s.Redacted, s.Held, s.Rows)
	}
	line("")
	line("## Layers")
	line("")
	line("| store | layer | verdict | how | bytes | hits | note |")
	line("|---|---|---|---|---|---|---|")
	for _, l := range r.Layers {
		line("| %s | %s | %s | %s | %d | %d | %s |", cell(l.Store), cell(l.Layer), string(l.Verdict), cell(l.Method), l.BytesScanned, l.Hits, cell(l.Reason))
	}
	if len(r.Notes) > 0 {
		line("")
		line("## Out of reach")
		line("")
		for _, n := range r.Notes {
			line("- %s", cell(n))
		}
	}
	line("")
	line("This page is a copy for people. The signed file is the proof: `memdesk gdpr verify FILE` checks it offline.")
	return b.String()
}

func orNone(s string) string {
	if s == "" {
		return "nobody: no approval was required"
	}
	return s
}

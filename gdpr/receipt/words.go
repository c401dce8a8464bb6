package receipt

import (
	"fmt"
	"slices"
	"strings"
)

// StatusWords say the status to people.
func (r Receipt) StatusWords() string {
	if r.Status == StatusInScope {
		return "complete in scope: memdesk changed all that it can reach; the person still is in what is named below"
	}
	return "complete: no layer that can be reached holds the person"
}

// ApproverWords name the approver.
func (r Receipt) ApproverWords() string {
	if r.Approver == nil {
		return "nobody: no approval was required"
	}
	if r.Approver.Method == BySession {
		return r.Approver.String() + ", by the record of a session that this key authenticated"
	}
	return r.Approver.String()
}

func (p Party) String() string {
	switch {
	case p.Name == "" && p.Key == "":
		return "unknown"
	case !p.Authenticated && strings.HasPrefix(p.Name, "unauthenticated "): // audit.Actor.ID of a shell says it itself
		return p.Name
	case !p.Authenticated:
		return p.Name + " (not authenticated)"
	case p.Name == "" || p.Name == p.Key:
		return p.Key
	}
	return p.Name + " (" + p.Key + ")"
}

func (p Policy) String() string {
	words := "no approval is required"
	if p.Approval {
		words = "a second operator had to approve"
		if n := len(p.Approvers); n > 0 {
			words += fmt.Sprintf(", one of %d keys", n)
		}
		if p.Method == BySession {
			words += ", by a signature or by the record of a session"
		}
	}
	words += fmt.Sprintf("; policy %.16s", p.Hash)
	if p.Record > 0 {
		words += fmt.Sprintf(", set by %s in record %d of the audit log", p.By, p.Record)
	}
	return words
}

func (a Attested) String() string {
	return fmt.Sprintf("%s: %s: by %s on %s; %s", a.Store, a.Layer, a.By, a.At, a.Ground)
}

func (e Export) String() string {
	words := fmt.Sprintf("export %d of %d items, made %s", e.N, e.Items, e.Made)
	switch e.State {
	case ExportHandedOver:
		return words + ", handed over " + e.At
	case ExportDeleted:
		return words + ", deleted " + e.At
	}
	return words + ", neither handed over nor deleted: it still holds the person"
}

func (r Recipient) String() string {
	words := r.Name + " (" + strings.Join(r.Stores, ", ") + "): "
	switch {
	case r.Told == "":
		return words + "not told yet (Art. 19)"
	case r.Answered == "":
		return words + "told " + r.Told + ", no answer yet"
	}
	return words + "told " + r.Told + ", answered " + r.Answered
}

func (b Backup) String() string {
	words := b.Store + ": " + b.Reason
	if b.Where != "" {
		words = b.Store + ": " + b.Where + ": " + b.Reason
	}
	if b.Guard != "" {
		words += "; after a restore: " + b.Guard
	}
	return words
}

// Folded joins the stores of whose backups the same is said, for people; a file has a row for each store.
func Folded(all []Backup) []Backup {
	var out []Backup
	for _, b := range all {
		at := slices.IndexFunc(out, func(o Backup) bool {
			o.Store = b.Store
			return o == b
		})
		if at < 0 {
			out = append(out, b)
			continue
		}
		out[at].Store += ", " + b.Store
	}
	return out
}

// String is the row as a line for people.
func (l Left) String() string {
	at := l.Store
	if l.Layer != "" {
		at += ": " + l.Layer
	}
	if l.Verdict != "" {
		at += " (" + strings.ReplaceAll(string(l.Verdict), "_", " ") + ")"
	}
	return at + ": " + l.Reason + ". To do: " + l.Do
}

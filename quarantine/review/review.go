// Package review lists what scanners have blocked across a store: the entries of its own quarantine and the
// live items that the scanner rejects, each with the place of the hit and the state of its source; and it
// releases by edit. It changes memory only through the store's Retain and Forget.
package review

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"memdesk/model"
	"memdesk/quarantine"
)

// Entry is one blocked text. All text in it is hostile.
type Entry struct {
	Store    string
	ID       string // handle for Forget: of the quarantine entry, or of the live item
	Source   string // label or id of the blocked text
	SourceID string // of the live item, empty when unknown
	Filed    bool   // in the store's quarantine; false: only the live item was found
	SHA256   string
	Bytes    int64
	At       time.Time // when the store filed it; zero for a live item

	Category, Pattern string // upstream's verdict
	Line, Col         int    // 1-based, of the first hit; 0 when the body could not be read
	Before, Match     string // the matched span and its context, as stored
	After             string
	Decoded           string // the decoded run or the folded form, when the match is not the stored text
	Findings          []quarantine.Finding

	Live          Liveness
	FalsePositive string // why this looks like a known false positive; empty when not
	Problem       string // why the entry could not be read or verified
	Body          string // only from Read
	Fields        []model.Field
}

// Excerpt is the matched span in its context.
func (e Entry) Excerpt() string { return e.Before + e.Match + e.After }

// Liveness says what the source of a blocked text is now. Unknown is not clean.
type Liveness uint8

// The answers.
const (
	Unknown  Liveness = iota // nobody could look at it
	Poisoned                 // it would be blocked today
	Clean                    // it passes the scanner
	Gone
	Waits // there is none: the text was never written
)

// String is the answer in a word.
func (l Liveness) String() string {
	return [...]string{"unknown", "poisoned", "clean", "gone", "waits"}[l]
}

// Verdicts of the gate, which no store's scanner can repeat.
const (
	CategoryOrigin  = "origin"  // an untrusted writer where trust is needed (AD12)
	CategorySignals = "signals" // it looks planted; the pattern is the heaviest signal
)

// around is how many characters of context an excerpt has on each side.
const around = 40

// List streams every blocked text of a store: its filed entries first, then live items that no filed entry of
// the same content covers. Its last entry has no id and names what the store could not list, if anything. An error
// ends the stream; the entries before it are valid.
func List(ctx context.Context, s model.Store) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		covered := map[string]bool{}
		if s.Quarantine != nil {
			filed, err := s.Quarantine.Quarantined(ctx)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for _, q := range filed {
				e, err := Read(ctx, s, q.ID)
				if err != nil {
					e = fromFile(s, q)
					e.Problem = err.Error()
				}
				e.Body, e.Findings = "", nil
				covered[e.SourceID+"\x00"+e.SHA256] = true
				if !yield(e, nil) {
					return
				}
			}
		}
		for it, err := range everyItem(ctx, s) {
			e, hit := Entry{}, true
			switch {
			case errors.As(err, new(unlisted)):
				e = Entry{Store: s.Name, Problem: err.Error()}
			case err != nil && it.ID == "":
				yield(e, err)
				return
			case err != nil:
				e = Entry{Store: s.Name, ID: it.ID, Source: it.ID, SourceID: it.ID, Problem: "not scanned: " + err.Error()}
			default:
				e, hit = fromItem(s, it)
				e.Body, e.Findings = "", nil
				hit = hit && !covered[e.SourceID+"\x00"+e.SHA256]
			}
			if hit && !yield(e, nil) {
				return
			}
		}
	}
}

// unlisted are the parts of a store that could not be listed, in words.
type unlisted []string

func (u unlisted) Error() string { return "not looked at: " + strings.Join(u, "; ") }

// everyItem reads every item of a store, hidden ones too. An error is beside the id of the item that could not be
// read; without an id it ends the list. That of a list with gaps is unlisted.
func everyItem(ctx context.Context, s model.Store) iter.Seq2[model.Item, error] {
	return func(yield func(model.Item, error) bool) {
		if s.Browser == nil {
			return
		}
		var gaps unlisted
		for page, err := range model.Pages(ctx, s.Browser, model.PageRequest{Hidden: true, Limit: model.MaxPage}) {
			if err != nil {
				yield(model.Item{}, err)
				return
			}
			for _, h := range page.Items {
				it, err := s.Browser.Read(ctx, h.ID)
				if errors.Is(err, model.NotFound) { // deleted since the listing
					continue
				}
				if err != nil {
					it = model.Item{Header: model.Header{ID: h.ID}}
				}
				if !yield(it, err) {
					return
				}
			}
			for _, p := range page.Problems { // a store may repeat them on every page
				if !slices.Contains(gaps, p) {
					gaps = append(gaps, p)
				}
			}
		}
		if len(gaps) > 0 {
			yield(model.Item{}, gaps)
		}
	}
}

// Read returns one entry with its body, by the id that List gave: a filed entry
// or a live item that the scanner rejects. NotFound for anything else.
func Read(ctx context.Context, s model.Store, id string) (Entry, error) {
	if s.Quarantine != nil {
		q, err := s.Quarantine.ReadQuarantined(ctx, id)
		if err == nil {
			e := fromFile(s, q)
			if e.Live != Waits {
				e.Live = liveness(ctx, s, q.SourceID)
			}
			return e, nil
		}
		if !errors.Is(err, model.NotFound) && !errors.Is(err, model.InvalidInput) {
			return Entry{}, err
		}
	}
	if s.Browser == nil {
		return Entry{}, model.Errorf(model.NotFound, "quarantine", "no entry %q in store %s", id, s.Name)
	}
	it, err := s.Browser.Read(ctx, id)
	if err != nil {
		return Entry{}, err
	}
	e, hit := fromItem(s, it)
	if !hit {
		return Entry{}, model.Errorf(model.NotFound, "quarantine", "item %q is not blocked: the scanner finds nothing in it", id)
	}
	return e, nil
}

func liveness(ctx context.Context, s model.Store, id string) Liveness {
	if id == "" || s.Browser == nil {
		return Unknown
	}
	it, err := s.Browser.Read(ctx, id)
	if errors.Is(err, model.NotFound) {
		return Gone
	}
	if err != nil {
		return Unknown
	}
	if _, hit := quarantine.RulesOf(s.Scanner).Load(it.Body); hit {
		return Poisoned
	}
	return Clean
}

// fromFile keeps the store's recorded verdict and finds its place again.
func fromFile(s model.Store, q model.Quarantined) Entry {
	e := Entry{Store: s.Name, ID: q.ID, Source: q.Source, SourceID: q.SourceID, Filed: true, SHA256: q.SHA256, Bytes: q.Bytes,
		At: q.At, Category: q.Category, Pattern: q.Pattern, Problem: q.Problem, Body: q.Body, Fields: q.Fields}
	if HeldID(q.ID) {
		e.Live = Waits
	}
	e.locate(quarantine.RulesOf(s.Scanner))
	return e
}

func fromItem(s model.Store, it model.Item) (Entry, bool) {
	v, hit := quarantine.RulesOf(s.Scanner).Load(it.Body)
	if !hit {
		return Entry{}, false
	}
	e := Entry{Store: s.Name, ID: it.ID, Source: it.ID, SourceID: it.ID, SHA256: quarantine.Sum(it.Body), Bytes: int64(len(it.Body)),
		Category: v.Category, Pattern: v.Pattern, Live: Poisoned, Body: it.Body}
	e.locate(quarantine.RulesOf(s.Scanner))
	return e, true
}

// HeldSource is the source that a held write of an agent names, and HeldPrefix begins its id. Only the id is
// memdesk's own word; a store's file may name any source.
const (
	HeldSource = "door"
	HeldPrefix = "door/"
)

// HeldID reports whether an id has the form of a held write's: the prefix and 32 hexadecimal digits. An item of a
// store may begin with the prefix too.
func HeldID(id string) bool {
	digits, ok := strings.CutPrefix(id, HeldPrefix)
	return ok && len(digits) == 32 && strings.Trim(digits, "0123456789abcdef") == ""
}

// locate fills in the place of the hit in the body.
func (e *Entry) locate(rules quarantine.RuleSet) {
	if e.Body == "" {
		return
	}
	e.Findings = rules.All(e.Body)
	if len(e.Findings) == 0 {
		// The verdict on a held addition is that of the item with it.
		if _, hit := rules.Load(e.Body); e.Filed && !hit && e.Problem == "" && !HeldID(e.ID) {
			e.Problem = "this scanner finds nothing in it: filed by other rules, or not with this content"
		}
		return
	}
	f := e.Findings[0]
	e.Line, e.Col, e.Decoded = f.Line, f.Col, f.Decoded
	before, match, after := quarantine.Excerpt(e.Body, f, around)
	e.Before, e.Match, e.After = strings.Clone(before), strings.Clone(match), strings.Clone(after) // a list keeps them without the body
	if why, ok := rules.KnownFalsePositive(e.Body); ok {
		e.FalsePositive = why
	}
}

package cli

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"memdesk/internal/recalled"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/origin"
)

type itemsFlags struct {
	tier, query, order, cursor string
	limit                      int
	all, origin                bool
	filter                     operator.ItemFilter
}

func (a *app) itemsCommand() *cobra.Command {
	var f itemsFlags
	c := &cobra.Command{
		Use: "items", Short: "Headers of what is stored",
		Long: "Lists headers in the store's own order unless --order says otherwise. --all streams every page,\n" +
			"archived and bookkeeping items included; without it one page is shown and the rest is counted.\n" +
			"--subject, --agent, --type and --confidence read the items; one that does not say is left out.",
		RunE: a.onStores(func(ctx context.Context, s *operator.Session, args []string) error {
			if err := f.filter.Check(); err != nil {
				return err
			}
			f.filter.Writers = s
			if members := s.Fleet.Members(); f.cursor != "" && len(members) != 1 {
				return usage("--cursor belongs to one store: name it with --store")
			}
			head := []string{"REF", "TIER", "BYTES", "MODIFIED", "FLAGS", "TITLE"}
			if f.origin {
				head = slices.Insert(head, 5, "ORIGIN")
			}
			tab, err := a.listed(head...)
			if err != nil {
				return err
			}
			t := tally{app: a, asked: true, plain: f.tier == "" && f.order == ""}
			tab.orSay("found no items")
			t.each(s.Fleet.Members(), func(store model.Store) error { return a.itemsOf(ctx, store, f, tab) })
			tab.partly(t.bad+t.refused+t.lacking > 0)
			tab.flush()
			return t.result()
		}),
	}
	fl := c.Flags()
	fl.StringVar(&f.tier, "tier", "", "only this `TIER`")
	fl.StringVar(&f.query, "query", "", "only what matches `TEXT`")
	fl.StringVar(&f.order, "order", "", "`ORDER`: newest, oldest, id, largest, as the store has them")
	fl.IntVar(&f.limit, "limit", 0, "at most `N` per store (default 100)")
	fl.StringVar(&f.cursor, "cursor", "", "go on at the `CURSOR` that the last page gave")
	fl.BoolVar(&f.all, "all", false, "every page, archived and bookkeeping items included")
	a.filterFlags(fl, &f.filter)
	fl.StringVar(&f.filter.Agent, "agent", "", "only items of this `AGENT`, or written by it")
	fl.BoolVar(&f.origin, "origin", false, "also who wrote each item last, as far as memdesk or its store knows")
	return a.listing(c, false)
}

func (a *app) itemsOf(ctx context.Context, s model.Store, f itemsFlags, tab *table) error {
	req := model.PageRequest{Tier: f.tier, Query: f.query, Order: model.Order(f.order), Cursor: f.cursor, Hidden: f.all}
	left, unlimited := f.limit, f.all && f.limit == 0
	if left == 0 && !unlimited {
		left = model.DefaultPage
	}
	var problems []string // of every page; a store may name one on each
	for {
		req.Limit = model.MaxPage
		if !unlimited {
			req.Limit = min(left, model.MaxPage)
		}
		page, err := f.filter.List(ctx, s, req)
		if err != nil {
			return err
		}
		for _, h := range page.Items {
			r := newItemRow(s.Name, h)
			if f.origin {
				tab.put("item", writtenItemRow{r, newWriterRow(a.session.WriterOf(ctx, s, h))})
				continue
			}
			tab.put("item", r)
		}
		for _, p := range page.Problems {
			if !slices.Contains(problems, p) {
				problems = append(problems, p)
			}
		}
		tab.page()
		left -= len(page.Items)
		if page.Next == "" || !unlimited && left <= 0 {
			var hidden *int64
			if a.flags.json || !a.flags.quiet { // somebody sees it
				hidden = hiddenOf(ctx, s, f, page.Total)
			}
			a.printPageEnd(s.Name, page, f.all, hidden)
			return a.incomplete(s.Name, problems)
		}
		if err := a.out.Err(); err != nil { // the output has no reader
			return err
		}
		req.Cursor = page.Next
	}
}

// incomplete prints what a list could not read, and returns the exit code for a partial list.
func (a *app) incomplete(store string, problems []string) error {
	for _, p := range problems {
		a.failed(model.Ref{Store: store}, errors.New("not looked at: "+p))
	}
	return partialIf(len(problems) > 0)
}

// written reads an item and finds its writer; nil when unknown.
func (a *app) written(ctx context.Context, s model.Store, id string) *origin.Written {
	if s.Browser == nil {
		return nil
	}
	it, err := s.Browser.Read(ctx, id)
	if err != nil {
		return nil
	}
	return a.session.WriterOfItem(s, it)
}

// writerRow is who wrote an item: null, or unknown in words.
type writerRow struct {
	Origin *originRow `json:"origin"`
	Words  string     `json:"-" col:"ORIGIN"`
}

func newWriterRow(w *origin.Written) writerRow {
	if w == nil {
		return writerRow{nil, origin.Unknown}
	}
	return writerRow{new(newOriginRow(*w)), writerWords(*w)}
}

// writerWords are actor, source and trust, without those that are not known and without a trust that the store's own
// words say. What an agent said of itself takes nothing away.
func writerWords(w origin.Written) string {
	source := w.Source()
	if w.Channel == origin.Unknown {
		source = w.Detail
	}
	trust := w.Trust
	if w.Kept == origin.InStore && slices.Contains(strings.Fields(w.Detail), trust) {
		trust = ""
	}
	words := slices.DeleteFunc([]string{w.Actor, source, trust}, func(s string) bool { return s == "" || s == origin.Unknown })
	return cmp.Or(strings.Join(words, " "), origin.Unknown)
}

// pageRow says how much of a store a list did not show.
type pageRow struct {
	Store        string  `json:"store"`
	Next         *string `json:"next"`  // cursor of the next page
	Total        *int64  `json:"total"` // null: unknown
	TotalAtLeast bool    `json:"total_at_least"`
	Hidden       *int64  `json:"hidden"` // archived and bookkeeping items that --all adds; null: unknown
}

// hiddenOf counts what --all would add to a list of total items; nil when unknown, as below a query or a filter.
func hiddenOf(ctx context.Context, s model.Store, f itemsFlags, total model.Count) *int64 {
	switch {
	case f.all:
		return new(int64)
	case f.query != "" || !f.filter.IsZero() || total.Unknown || total.AtLeast:
		return nil
	}
	whole, err := s.Browser.List(ctx, model.PageRequest{Tier: f.tier, Limit: 1, Hidden: true})
	if err != nil || whole.Total.Unknown || whole.Total.AtLeast {
		return nil
	}
	return new(max(whole.Total.N-total.N, 0))
}

// printPageEnd prints how much of a store the list did not show; all says that --all was given.
func (a *app) printPageEnd(store string, p model.Page, all bool, hidden *int64) {
	a.emit("page", pageRow{store, nilIfEmpty(p.Next), onlyIf(!p.Total.Unknown, p.Total.N), p.Total.AtLeast, hidden})
	if hidden != nil && *hidden > 0 {
		a.hintf("%s: --all adds %s, archived or bookkeeping, which `memdesk tiers` counts too", store, plural(*hidden, "item"))
	}
	if p.Next == "" {
		return
	}
	total := "there are more"
	switch {
	case p.Total.Unknown:
	case p.Total.AtLeast:
		total = "there are at least " + plural(p.Total.N, "item")
	default:
		total = "there are " + plural(p.Total.N, "item")
	}
	rest := "with --all"
	if all {
		rest = "without --limit"
	}
	a.hintf("%s: %s; go on with --cursor %s, or take all %s", store, total, p.Next, rest)
	if a.flags.sort != "" {
		a.hintf("%s: --sort has sorted the rows of this page only", store)
	}
}

// itemRow is an item without its text.
type itemRow struct {
	itemAt
	Tier      string       `json:"tier"`
	Scope     string       `json:"scope"`
	Title     string       `json:"title"`
	Bytes     int64        `json:"bytes"`
	Modified  stamp        `json:"modified"`
	Stamp     string       `json:"stamp"`
	Revision  *string      `json:"revision"`
	Flags     []model.Flag `json:"flags"`
	FlagWords string       `json:"-" col:"FLAGS"`
}

type writtenItemRow struct {
	itemRow
	writerRow
}

type documentRow struct {
	itemRow
	Meta       map[string]string `json:"meta"`
	Body       string            `json:"body"`
	BodyBase64 string            `json:"body_base64,omitempty"` // the bytes, where JSON cannot hold them
	Links      []itemLinkRow     `json:"links"`
	LinksTotal int64             `json:"links_total"`
}

// itemLinkRow is a relation as one of its members sees it.
type itemLinkRow struct {
	ID    string   `json:"id"`
	Kind  string   `json:"kind"`
	Role  string   `json:"role"`
	Label string   `json:"label"`
	Other []string `json:"other"`
}

func newItemRow(store string, h model.Header) itemRow {
	return itemRow{itemAt: newItemAt(store, h.ID), Tier: h.Tier, Scope: h.Scope, Title: h.Title, Bytes: h.Bytes,
		Modified: stamp(h.Modified), Stamp: h.Stamp, Revision: nilIfEmpty(string(h.Revision)), Flags: list(h.Flags), FlagWords: joinFlags(h)}
}

func joinFlags(h model.Header) string {
	return orDash(strings.Join(mapped(h.Flags, func(f model.Flag) string { return string(f) }), ","))
}

func (a *app) showCommand() *cobra.Command {
	version := ""
	c := &cobra.Command{
		Use: "show REF", Short: "One item, whole",
		Long: "Shows one item with its metadata; whatever could drive the terminal is escaped visibly.\n" +
			"--raw writes the document exactly as `memdesk retain` takes it back, to a pipe or a file only.",
		RunE: a.onItem(func(ctx context.Context, _ *operator.Session, s model.Store, ref model.Ref) error {
			if err := a.checkRaw(); err != nil {
				return err
			}
			it, err := readItem(ctx, s, ref.ID, version)
			if err != nil {
				return err
			}
			switch {
			case a.flags.raw:
				_, err = a.out.WriteString(it.Document().Encode(operator.DocumentKind(s, it.Tier)))
			case a.flags.json:
				a.emit("item", newDocumentRow(s.Name, it))
			default:
				a.showPlain(s, it)
			}
			return err
		}),
	}
	c.Flags().BoolVar(&a.flags.raw, "raw", false, "the stored document, unescaped, to a pipe or file")
	c.Flags().StringVar(&version, "version", "", "the item as it was at this `VERSION`, see `memdesk history`")
	return c
}

// checkRaw refuses --raw on a terminal, and where objects are wanted.
func (a *app) checkRaw() error {
	switch {
	case a.flags.raw && a.flags.json:
		return usage("--raw writes the document itself, which is no JSON: leave out --json, whose objects hold the body")
	case a.flags.raw && a.Terminal(a.Stdout):
		return usage("--raw writes unescaped bytes: send it to a file or a pipe")
	}
	return nil
}

// readItem reads an item, or its version.
func readItem(ctx context.Context, s model.Store, id, version string) (model.Item, error) {
	switch {
	case version != "" && s.History == nil:
		return model.Item{}, noHistory(s)
	case version != "":
		return s.History.ReadRevision(ctx, id, version)
	case s.Browser == nil:
		return recalled.Read(ctx, s, id)
	}
	return s.Browser.Read(ctx, id)
}

func newDocumentRow(store string, it model.Item) documentRow {
	links := mapped(it.Links, func(l model.Link) itemLinkRow {
		return itemLinkRow{model.EncodeID(l.ID), l.Kind, l.Role, l.Label, l.Other}
	})
	return documentRow{newItemRow(store, it.Header), model.Values(it.Meta), it.Body, exactBody(it.Body), links, it.LinksTotal}
}

// exactBody is a text in base64 where JSON cannot hold its bytes, else empty.
func exactBody(body string) string {
	if utf8.ValidString(body) {
		return ""
	}
	return base64.StdEncoding.EncodeToString([]byte(body))
}

func (a *app) showPlain(s model.Store, it model.Item) {
	a.linef("%s", refOf(s.Name, it.ID))
	a.linef("tier: %s", it.Tier)
	a.fieldf("scope: %s", it.Scope)
	a.linef("bytes: %d  modified: %s  revision: %s  flags: %s", it.Bytes, when(it.Modified), string(it.Revision), joinFlags(it.Header))
	for _, f := range it.Meta {
		a.linef("%s: %s", f.Name, f.Value)
	}
	for _, l := range it.Links {
		if l.ID == "" {
			a.linef("%s: %s", l.Role, strings.Join(l.Other, ", "))
		} else {
			a.linef("link: %s as %s of %s %q with %s", l.ID, l.Role, l.Kind, l.Label, strings.Join(l.Other, ", "))
		}
	}
	if more := it.LinksTotal - int64(len(it.Links)); more > 0 {
		a.linef("and %s", plural(more, "more link"))
	}
	a.linef("")
	a.body(it.Body)
}

// filterFlags adds the flags of a filter.
func (a *app) filterFlags(fl *pflag.FlagSet, f *operator.ItemFilter) {
	fl.StringVar(&f.Subject, "subject", "", "only what concerns this person (`ID`), by the store's own keys")
	fl.StringVar(&f.Type, "type", "", "only items of this `TYPE` or kind")
	a.timeVar(fl, &f.Since, "since", "only what changed at this `TIME` or later (2026-05-21, 2026-05-21T10:00:00Z or 7d)")
	a.timeVar(fl, &f.Until, "until", "only what changed before this `TIME`")
	fl.Float64Var(&f.Confidence, "confidence", 0, "only items of this confidence or more, `0..1`")
	fl.StringVar((*string)(&f.Archived), "archived", "", "items that the store's own search skips: `also|only`")
}

func noHistory(s model.Store) error {
	return model.Errorf(model.Unsupported, "history", "store %s keeps no earlier versions; `memdesk undo list` shows what memdesk itself replaced or removed", s.Name)
}

type versionRow struct {
	itemAt
	Version  string `json:"version"`
	At       stamp  `json:"at"`
	By       string `json:"by"`
	Bytes    int64  `json:"bytes"`
	SHA256   string `json:"sha256" col:"HASH"`
	Readable bool   `json:"readable"`
	*editRow
}

// editRow is the change that made a version, of a store that records changes.
type editRow struct {
	Action   string  `json:"action"`
	Previous *string `json:"previous"`
	New      *string `json:"new"`
}

// historyRow says what a store records of an item's versions.
type historyRow struct {
	itemAt
	State    model.HistoryState `json:"state"`
	Reason   string             `json:"reason"`
	Versions int                `json:"versions"`
}

func (a *app) historyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "history REF", Short: "Earlier versions that the store itself keeps",
		Long: "Lists the versions of an item that its store recorded, newest first, or its changes, oldest first; or says why\n" +
			"there are none: not recorded is not the same as never changed. `memdesk show REF --version V` shows one.",
		RunE: a.onItem(func(ctx context.Context, _ *operator.Session, s model.Store, ref model.Ref) error {
			if s.History == nil {
				return noHistory(s)
			}
			h, err := s.History.Revisions(ctx, ref.ID)
			if err != nil {
				return err
			}
			putAll(a.table("VERSION", "AT", "BY", "BYTES", "READABLE", "HASH"), "version", h.Versions, func(v model.Version) versionRow {
				return versionRow{newItemAt(s.Name, ref.ID), v.ID, stamp(v.At), v.By, v.Bytes, v.Hash, v.Readable, (*editRow)(v.Change)}
			})
			a.emit("history", historyRow{newItemAt(s.Name, ref.ID), h.State, h.Reason, len(h.Versions)})
			if h.Reason != "" || len(h.Versions) == 0 {
				a.hintf("%s: %s", string(h.State), orDash(h.Reason))
			}
			return nil
		}),
	}
}

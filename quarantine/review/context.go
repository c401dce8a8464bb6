package review

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode"

	"memdesk/model"
	"memdesk/quarantine/signal"
)

// Write is a text on its way into a store, with its context.
type Write struct {
	Store   model.Store // asked for related items; only its name is required
	Tier    string
	ID, Key string        // of the item; empty when the store makes an id
	Text    string        // the added text, or the whole
	Becomes string        // the item's text afterwards
	Fields  []model.Field // new or changed fields
	Was     *model.Item   // the existing item; nil: none
	Trusted bool
	History History // nil: no writers on record
}

// History holds facts about writers.
type History interface {
	// Vouched reports whether a trusted writer wrote the item's current text.
	Vouched(it model.Item) bool
	// Lately counts the writes of this write's writer since a time, up to a few hundred.
	Lately(since time.Duration) int
}

// The signals that a text alone does not give. They are computed when a write is judged, and none is enough
// alone.
var (
	sigContradicts = signal.Signal{Name: "contradicts", Title: "says otherwise than an older item that somebody vouched for", Weight: 3}
	sigManyPlaces  = signal.Signal{Name: "many_places", Title: "the same stands in several places, or of several people", Weight: 2}
	sigProtected   = signal.Signal{Name: "protected_key", Title: "changes what says who the agent is, what it wants or what it may do", Weight: 2}
	sigNamesTool   = signal.Signal{Name: "names_tool", Title: "names a command, an address, a package or a key where preferences or facts are kept", Weight: 1}
	sigBurst       = signal.Signal{Name: "burst", Title: "its writer has written a lot within a minute", Weight: 1}
)

// ContextSignals are the signals from context, without evidence.
func ContextSignals() []signal.Signal {
	return []signal.Signal{sigContradicts, sigManyPlaces, sigProtected, sigNamesTool, sigBurst}
}

// The bounds of a search around a write.
const (
	aroundTime    = 100 * time.Millisecond
	aroundQueries = 3        // of the store, one for each sentence
	aroundItems   = 12       // that are read
	aroundBytes   = 16 << 10 // of each
	placesFrom    = 3
	burstWrites   = 30
	burstTime     = time.Minute
)

// Around are the signals from the context of a write. It asks the store a few bounded questions; one without
// an answer in time gives no signal.
func Around(ctx context.Context, w Write) []signal.Signal {
	var out []signal.Signal
	add := func(s signal.Signal, evidence string) {
		s.Evidence = evidence
		out = append(out, s)
	}
	if key := protectedKey(w); key != "" {
		add(sigProtected, key)
	}
	if start, end := toolIn(w); start >= 0 {
		s := sigNamesTool
		s.Start, s.End = start, end
		out = append(out, s)
	}
	if w.History != nil {
		if n := w.History.Lately(burstTime); n >= burstWrites {
			add(sigBurst, strconv.Itoa(n)+" writes within a minute")
		}
	}
	ctx, cancel := context.WithTimeout(ctx, aroundTime)
	defer cancel()
	said, sameAs := signal.StatementsOf(w.Text), signal.SameOfOthers(w.Text)
	places := map[string]bool{}
	first := ""
	contradicted := w.Trusted || w.History == nil // a trusted writer may correct a text
	look := func(it model.Item) {
		body := it.Body
		if len(body) > aroundBytes {
			body = strings.ToValidUTF8(body[:aroundBytes], "")
		}
		if !contradicted && w.History.Vouched(it) {
			if start, end, ok := said.Contradicts(signal.StatementsOf(body)); ok {
				s := sigContradicts
				s.Start, s.End, s.Evidence = start, end, model.Ref{Store: w.Store.Name, ID: it.ID}.String()
				out, contradicted = append(out, s), true
			}
		}
		if it.ID == w.ID {
			return
		}
		for line := range strings.Lines(body) {
			if same, names := sameAs(line); same {
				if first == "" {
					first = model.Ref{Store: w.Store.Name, ID: it.ID}.String()
				}
				places[it.Scope+"\x00"+strconv.FormatUint(names, 36)] = true
			}
		}
	}
	if w.Was != nil {
		look(*w.Was)
	}
	for _, it := range related(ctx, w, said) {
		look(it)
	}
	if len(places) >= placesFrom {
		add(sigManyPlaces, strconv.Itoa(len(places))+" places, one is "+first)
	}
	return out
}

// related are items of the store on the text's topic.
func related(ctx context.Context, w Write, said signal.Statements) []model.Item {
	if w.Store.Provider == nil || w.Store.Browser == nil {
		return nil
	}
	var out []model.Item
	seen := map[string]bool{w.ID: true, "": true}
	for _, query := range said.Queries(aroundQueries) {
		res, err := w.Store.Provider.Recall(ctx, model.RecallRequest{Query: query, Limit: aroundItems})
		if err != nil {
			continue
		}
		for _, h := range res.Hits {
			if seen[h.ID] || len(out) == aroundItems {
				continue
			}
			seen[h.ID] = true
			if it, err := w.Store.Browser.Read(ctx, h.ID); err == nil {
				out = append(out, it)
			}
		}
	}
	return out
}

// protected are the words in keys and headings that define an agent's identity, goals and permissions.
var protected = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`identity persona soul goal goals objective objectives mission policy policies principles guardrails permissions instructions
		identität ziel ziele auftrag richtlinie richtlinien grundsätze berechtigungen anweisungen
		identité objectif objectifs politique politiques principes permissions consignes
		identidad objetivo objetivos misión política políticas principios permisos instrucciones
		身份 目标 使命 政策 原则 权限 指令`) {
		m[w] = true
	}
	return m
}()

// protectedKey is the protected name whose text a write changes; empty when it changes none.
func protectedKey(w Write) string {
	for _, name := range []string{w.ID, w.Key} {
		for _, word := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) }) {
			if protected[word] {
				return name
			}
		}
	}
	if w.Was == nil {
		return ""
	}
	before := protectedSections(w.Was.Body)
	after := protectedSections(w.Becomes)
	for name, text := range before {
		if after[name] != text {
			return name
		}
	}
	for name := range after {
		if _, had := before[name]; !had {
			return name
		}
	}
	return ""
}

// protectedSections are the texts under protected headings: from a Markdown heading to the next, or a line of
// `name: value`.
func protectedSections(text string) map[string]string {
	sections := map[string]*strings.Builder{}
	add := func(name, text string) {
		if sections[name] == nil {
			sections[name] = &strings.Builder{}
		}
		sections[name].WriteString(text)
	}
	open := ""
	for line := range strings.Lines(text) {
		name, rest, colon := strings.Cut(strings.TrimSpace(line), ":")
		heading := strings.HasPrefix(name, "#")
		name = strings.ToLower(strings.Trim(name, "#*-_ \t\""))
		switch {
		case heading && protected[name]:
			open = name
			add(name, rest+"\n")
		case heading:
			open = ""
		case colon && protected[name]:
			add(name, rest)
		case open != "":
			add(open, line)
		}
	}
	out := map[string]string{}
	for name, b := range sections {
		out[name] = b.String()
	}
	return out
}

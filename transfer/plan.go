// Package transfer moves content from one store to another through Browser and Retain, item by item. It says
// before it starts where items go and what cannot be copied, never overwrites unasked, and can continue where
// it was stopped.
package transfer

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/model"
)

// Options narrow and direct a transfer.
type Options struct {
	Tier    string            // of the source; empty: all
	Map     map[string]string // tier of the destination by tier of the source; "*" for all others
	Replace bool              // replace existing items, keeping them for undo
}

// Plan lists the steps of a transfer, made from the stores' declarations alone.
type Plan struct {
	From, To model.Store
	Tiers    []TierMapping
	Replace  bool
	// Author gives the context of an item's write, so that its writer can stay its writer; nil: the context as it is.
	Author func(ctx context.Context, it model.Item) context.Context

	only     string
	rest     string // the tier for those that the destination has not; empty: none
	sameKind bool
	// family says that both stores declare the same tiers, so they know the same fields.
	family bool
}

// TierMapping says where a tier's items go; To is empty where they cannot, and Why says why.
type TierMapping struct {
	From, To string
	Why      string
}

// NewPlan is Unsupported where the source cannot be listed, or the destination cannot be read: nothing could
// be compared or continued there.
func NewPlan(from, to model.Store, o Options) (Plan, error) {
	switch {
	case from.Name == to.Name:
		return Plan{}, model.Errorf(model.InvalidInput, "copy", "source and destination are the same store")
	case from.Kind == to.Kind && inside(cmp.Or(to.Place, to.Location), cmp.Or(from.Place, from.Location)): // each run would copy the copies of the last
		return Plan{}, model.Errorf(model.InvalidInput, "copy", "the destination lies inside the source, %s: give it a place of its own", from.Location)
	case from.Browser == nil:
		return Plan{}, model.Errorf(model.Unsupported, "copy", "store %s cannot be listed, so nothing can be copied from it", from.Name)
	case to.Browser == nil:
		return Plan{}, model.Errorf(model.Unsupported, "copy", "store %s cannot be looked at: what is there could be neither compared nor taken up again", to.Name)
	case to.ReadOnly:
		return Plan{}, model.Refuse("copy", "store "+to.Name+" is read-only: "+to.ReadOnlyReason)
	}
	p := Plan{From: from, To: to, Replace: o.Replace, only: o.Tier, rest: o.Map["*"], sameKind: from.Kind == to.Kind, family: slices.Equal(tierNames(from), tierNames(to))}
	for name, target := range o.Map {
		if _, ok := from.Tier(name); !ok && name != "*" {
			return Plan{}, unknownTier(from, name)
		}
		if _, ok := to.Tier(target); !ok {
			return Plan{}, unknownTier(to, target)
		}
	}
	if _, ok := from.Tier(o.Tier); o.Tier != "" && !ok {
		return Plan{}, unknownTier(from, o.Tier)
	}
	for _, t := range from.Tiers {
		if o.Tier == "" || o.Tier == t.Name {
			p.Tiers = append(p.Tiers, p.mapTier(t, o.Map))
		}
	}
	return p, nil
}

// inside reports whether a path is a place of files or below it, links followed. A location that is no path holds nothing.
func inside(path, place string) bool {
	if _, err := os.Stat(place); err != nil || !filepath.IsAbs(place) {
		return false
	}
	path, err := filepath.Abs(path)
	below, rerr := filepath.Rel(real(place), real(path))
	return err == nil && rerr == nil && filepath.IsLocal(below)
}

// real is a path without links; what does not exist yet is taken as it is written.
func real(path string) string {
	if whole, err := filepath.EvalSymlinks(path); err == nil {
		return whole
	}
	if up := filepath.Dir(path); up != path {
		return filepath.Join(real(up), filepath.Base(path))
	}
	return path
}

func unknownTier(s model.Store, name string) error {
	return model.Errorf(model.InvalidInput, "copy", "store %s has no tier %q; it has %s", s.Name, name, strings.Join(tierNames(s), ", "))
}

func tierNames(s model.Store) []string {
	out := make([]string, len(s.Tiers))
	for i, t := range s.Tiers {
		out[i] = t.Name
	}
	return out
}

// mapTier keeps a tier's name where the destination has it, or makes it: a text tree may derive its tiers
// from its content, so an empty one lacks the source's.
func (p Plan) mapTier(from model.TierSpec, asked map[string]string) TierMapping {
	to, name := p.To, from.Name
	m := TierMapping{From: name, To: name}
	_, same := to.Tier(name)
	switch {
	case asked[name] != "":
		m.To = asked[name]
	case !same && asked["*"] != "":
		m.To = asked["*"]
	}
	t, ok := to.Tier(m.To)
	if !ok && p.sameKind && m.To == name && from.Document == model.Opaque {
		t, ok = from, true
	}
	switch {
	case !ok:
		m.To, m.Why = "", fmt.Sprintf("store %s has no tier of that name; map it to one", to.Name)
	case !t.Writable || t.OwnerMakes:
		m.To, m.Why = "", fmt.Sprintf("tier %s of store %s is filled by its own writer only", t.Name, to.Name)
	}
	return m
}

// beside reports whether both stores keep data beside an item's document.
func (p Plan) beside() bool { return p.family && p.From.Beside != nil && p.To.Beside != nil }

// Carries reports whether any tier goes anywhere.
func (p Plan) Carries() bool {
	return slices.ContainsFunc(p.Tiers, func(m TierMapping) bool { return m.To != "" })
}

// mapping returns that of a tier; an undeclared tier goes nowhere.
func (p Plan) mapping(tier string) TierMapping {
	for _, m := range p.Tiers {
		if m.From == tier {
			return m
		}
	}
	return TierMapping{From: tier, Why: "the source does not declare this tier"}
}

// Words describes the plan to people, one statement per line.
func (p Plan) Words() []string {
	var out []string
	for _, m := range p.Tiers {
		if m.To == "" {
			out = append(out, fmt.Sprintf("tier %s is not copied: %s", m.From, m.Why))
		} else {
			out = append(out, fmt.Sprintf("tier %s goes to tier %s", m.From, m.To))
		}
	}
	structured := func(s model.Store) bool { return len(s.Tiers) > 0 && s.Tiers[0].Document == model.Structured }
	switch from, to := structured(p.From), structured(p.To); {
	case from && to && p.family:
		out = append(out, "ids and fields are kept, times and access counts too")
	case to:
		out = append(out, "ids are kept where the destination takes them; fields, title, scope and time go where it has a place for them, others are named item by item")
	case from:
		out = append(out, "fields, title, scope and time become front matter before the text")
	case p.sameKind:
		out = append(out, "paths and bytes are kept")
	default:
		out = append(out, "bytes are kept; a name is made of the path where the destination takes one")
	}
	if p.beside() {
		out = append(out, "vectors are kept where the destination has a place for them; an item whose vector is not says so", "not copied: version history, quarantine entries")
	} else {
		out = append(out, "not copied: version history, quarantine entries, the agent's own log, access counts; vectors go to a graph, where the source keeps them")
	}
	if p.carriesLog() {
		out = append(out, fmt.Sprintf("the agent's own log (recurse: evolution_log, without its metadata) becomes items of %d events, hidden as bookkeeping", logPart))
	}
	if !p.family && slices.ContainsFunc(p.Tiers, func(m TierMapping) bool { t, ok := p.To.Tier(m.To); return ok && t.KeyRule != model.KeyRequired }) {
		out = append(out, "where the destination makes its own ids, a second copy makes second items")
	}
	if p.Replace {
		return append(out, "what stands there already and differs is replaced, and kept for undo")
	}
	return append(out, "what stands there already is left as it is")
}

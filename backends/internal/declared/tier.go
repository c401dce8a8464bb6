// Package declared is what stores say of themselves: why nothing may be written, that they know no scopes, the rules that
// they cannot keep, and, in the JSON of every server, their tiers.
package declared

import "memdesk/model"

// ReadOnly says why nothing may be written to a store; empty where it may.
type ReadOnly string

// Check refuses a change of a read-only store.
func (why ReadOnly) Check(op string) error {
	if why == "" {
		return nil
	}
	return model.Refuse(op, "the store is read-only: "+string(why))
}

// Unscoped says of a store that it has no workspaces, crews and agents.
type Unscoped string

// Check refuses a request that names one (provider-contract.md R17, R27).
func (why Unscoped) Check(op, workspace, crew, agent string) error {
	if workspace+crew+agent == "" {
		return nil
	}
	return model.Errorf(model.InvalidInput, op, "%s", string(why))
}

// Tier is a model.TierSpec on its way.
type Tier struct {
	Name       string             `json:"name"`
	Title      string             `json:"title,omitempty"`
	KeyRule    model.KeyRule      `json:"key_rule"`
	KeyHint    string             `json:"key_hint,omitempty"`
	Cap        int64              `json:"cap,omitempty"`
	CapUnit    model.CapUnit      `json:"cap_unit,omitempty"`
	Writable   bool               `json:"writable"`
	Hidden     bool               `json:"hidden,omitempty"`
	Document   model.DocumentKind `json:"document"`
	Sealed     bool               `json:"sealed,omitempty"`
	Aside      bool               `json:"aside,omitempty"`
	OwnerMakes bool               `json:"owner_makes,omitempty"`
	Owned      bool               `json:"owned,omitempty"`
	Titled     bool               `json:"titled,omitempty"`
	Text       model.TextForm     `json:"text,omitempty"`
	Extra      string             `json:"extra,omitempty"`
	Renews     []string           `json:"renews,omitempty"`
}

// Deviate declares rules that a store cannot keep, with one reason.
func Deviate(reason string, rules ...string) (out []model.Deviation) {
	for _, r := range rules {
		out = append(out, model.Deviation{Rule: r, Reason: reason})
	}
	return out
}

// Of is a tier as it travels.
func Of(t model.TierSpec) Tier {
	return Tier{t.Name, t.Title, t.KeyRule, t.KeyHint, t.Cap, t.CapUnit, t.Writable, t.Hidden, t.Document, t.Sealed, t.Aside, t.OwnerMakes, t.Owned, t.Titled, t.Text, t.Extra, t.Renews}
}

// Spec is the tier that was declared.
func (t Tier) Spec() model.TierSpec {
	return model.TierSpec{Name: t.Name, Title: t.Title, KeyRule: t.KeyRule, KeyHint: t.KeyHint, Cap: t.Cap,
		CapUnit: t.CapUnit, Writable: t.Writable, Hidden: t.Hidden, Document: t.Document, Sealed: t.Sealed, Aside: t.Aside, OwnerMakes: t.OwnerMakes, Owned: t.Owned, Titled: t.Titled, Text: t.Text, Extra: t.Extra, Renews: t.Renews}
}

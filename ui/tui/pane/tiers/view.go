package tiers

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/model"
	"memdesk/ui/tui/desk"
)

// itemOrders are all orders that stores may have.
var itemOrders = []string{"", string(model.OrderNewest), string(model.OrderOldest), string(model.OrderID), string(model.OrderLargest)}

func (l *items) Keep() backends.ViewConfig {
	return backends.ViewConfig{Store: l.At.Store, Tier: l.At.Tier, Scope: l.At.Scope, Filter: l.Query, Order: string(l.Order), Hidden: l.p.Overview.hidden}
}

func (o *overview) Keep() backends.ViewConfig {
	v := backends.ViewConfig{Filter: o.Query, Hidden: o.hidden}
	if o.order > 0 {
		v.Order = treeOrders[o.order]
	}
	return v
}

// Bring shows the tree, or the items of a store.
func (p *Pane) Bring(v backends.ViewConfig) (tea.Cmd, bool) {
	was := p.Overview.hidden
	p.Overview.hidden = v.Hidden
	if v.Store == "" {
		p.show(p.Overview)
		p.Overview.order = max(slices.Index(treeOrders, v.Order), 0)
		return tea.Batch(p.Overview.changed(), p.Overview.Apply(v.Filter)), true
	}
	opened, ok := p.OpenList(desk.ScopeOf{Store: v.Store, Tier: v.Tier, Scope: v.Scope})
	if !ok { // it has said why
		p.Overview.hidden = was
		return opened, false
	}
	counted := p.Overview.changed()
	if p.Items.Order = model.Order(v.Order); v.Order != "" && !slices.Contains(p.Items.Orders, p.Items.Order) {
		p.Items.Order = ""
		p.d.Warn("%s has no order %q; o goes through those that it has", v.Store, v.Order)
	}
	return tea.Batch(counted, opened, p.Items.Narrow(v.Filter)), true
}

// CheckView takes any store: which ones are open is known when the view is brought.
func (p *Pane) CheckView(v backends.ViewConfig) (key string, err error) {
	orders, check := treeOrders, p.Overview.Check
	if v.Store != "" {
		orders, check = itemOrders, p.Items.Check
	}
	switch err := check(v.Filter); {
	case err != nil:
		return "filter", err
	case v.Order != "" && !slices.Contains(orders, v.Order):
		return "order", fmt.Errorf("there is no order %q; there are %s", v.Order, strings.Join(orders[1:], "; "))
	case v.Store == "" && v.Tier != "":
		return "tier", errors.New("which store? a tier wants store beside it")
	case v.Store == "" && v.Scope != "":
		return "scope", errors.New("which store? a scope wants store beside it")
	}
	return "", nil
}

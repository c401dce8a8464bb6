package tiers

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/model"
	"memdesk/ui/act"
)

func (l *items) oneOrder() string {
	return act.When(len(l.Orders) < 2, "this store has one order only")
}

// nextOrder lists the items in the next order of the store, or in the one before.
func (l *items) nextOrder(by int) func() tea.Cmd {
	return func() tea.Cmd {
		i := max(slices.Index(l.Orders, l.Order), 0)
		return l.orderBy(string(l.Orders[(i+by+len(l.Orders))%len(l.Orders)]))
	}
}

// sortKeys are those of every list, as far as the store has orders.
func (l *items) sortKeys() []act.Act {
	turned := func() model.Order {
		return map[model.Order]model.Order{model.OrderNewest: model.OrderOldest, model.OrderOldest: model.OrderNewest}[l.ordered()]
	}
	oneWay := func() string {
		return act.When(!slices.Contains(l.Orders, turned()), "this store has this order one way only")
	}
	return []act.Act{
		{Keys: []string{">"}, Doc: "sort by the next order of the store, as o does", Why: l.oneOrder, Do: l.nextOrder(1)},
		{Keys: []string{"<"}, Doc: "sort by the order of the store before", Why: l.oneOrder, Do: l.nextOrder(-1)},
		{Keys: []string{"-"}, Doc: "sort the other way round, where the store can", Why: oneWay, Do: func() tea.Cmd { return l.orderBy(string(turned())) }},
	}
}

// ordered is the order of the list; without a choice it is the store's first.
func (l *items) ordered() model.Order {
	if l.Order == "" && len(l.Orders) > 0 {
		return l.Orders[0]
	}
	return l.Order
}

// orderBy lists the items in an order of the store.
func (l *items) orderBy(name string) tea.Cmd {
	if !slices.Contains(l.Orders, model.Order(name)) {
		return l.d.Tell("the orders of this store: %s", strings.ReplaceAll(strings.Trim(fmt.Sprint(l.Orders), "[]"), " ", ", "))
	}
	l.Order = model.Order(name)
	l.d.Tell("order: %s", name)
	l.Unfiltered = nil
	return l.Restart(false)
}

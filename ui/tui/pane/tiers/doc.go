// Package tiers is the pane that browses: stores with their tiers, items, one item.
package tiers

// Package recall is the pane that asks every store as an agent would.
package recall

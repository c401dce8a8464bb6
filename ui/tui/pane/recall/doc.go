// Package recall is the pane that queries every store as an agent would.
package recall

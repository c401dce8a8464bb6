// Package conflicts is the pane that triages second copies.
package conflicts

// Package health is the pane that watches every store, open or not.
package health

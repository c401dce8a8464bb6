// Package pane holds what panes share beside the desk: acts, the item on the whole screen, the writers.
package pane

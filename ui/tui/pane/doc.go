// Package pane holds the parts of the console that panes share beside the desk: the acts of more
// than one pane, the item on the whole screen, the writers. Each pane is a package below it.
package pane

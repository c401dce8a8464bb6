// Package pane is what the panes of the console share beside the desk: the acts of more than
// one pane, the item on the whole screen, who wrote what. Each pane is a package below it.
package pane

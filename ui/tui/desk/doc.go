// Package desk is shared by the panes and the acts of the console: the open stores, the sources of
// rows and changes, the frame around them, and the files that are written.
package desk

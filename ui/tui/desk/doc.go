// Package desk is what the panes and the acts of the console share: the open stores, what is
// read and changed through, the frame around them, and the files that are written.
package desk

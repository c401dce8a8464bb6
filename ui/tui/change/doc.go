// Package change asks for and makes the changes that several panes have: forget, undo, take
// back; and it shows the versions of an item.
package change

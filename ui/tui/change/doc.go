// Package change has the changes that panes share: forget, undo, take back; and the versions of an item.
package change

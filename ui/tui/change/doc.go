// Package change asks for and makes the changes that several panes share: forget, undo, take back;
// it also shows the versions of an item.
package change

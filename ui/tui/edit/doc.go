// Package edit takes texts from a store to an editor and back, and keeps them when a store
// does not take them.
package edit

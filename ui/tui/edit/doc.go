// Package edit takes texts from a store to an editor and back, and keeps those that a store does not take.
package edit

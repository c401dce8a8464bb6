// Package linear is the console as a conversation of lines, for screen readers and for
// terminals that cannot place text. It drives the frame's own panes and acts.
package linear

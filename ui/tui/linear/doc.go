// Package linear is the console as a conversation of lines. It drives the frame's own panes and acts.
package linear

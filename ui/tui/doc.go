// Package tui is the console: one Bubble Tea program over a fleet of open stores, with a pane bar,
// windowed lists and a pager. It shows, navigates and asks before every act. It opens no store,
// changes memory only through the given Acts, and puts outside strings on the screen only as
// safetext.Text.
package tui

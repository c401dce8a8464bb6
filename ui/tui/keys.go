package tui

import "memdesk/ui/act"

// obeyed is told of each key and command that is carried out. Only tests set it: they
// ask which ones no robot has pressed.
var obeyed func(b act.Act)

// questioned is told of each question that is asked, and of each that is cancelled.
// Only tests set it, for the same end.
var questioned func(d *dialog, cancelled bool)

package tui

import "memdesk/ui/act"

// obeyed is told of each key and command that is carried out. Only tests set it: they
// ask which ones no robot has pressed.
var obeyed func(b act.Act)

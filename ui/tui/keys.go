package tui

import "memdesk/ui/act"

// obeyed hears each key and command that is carried out. Only tests set it, to find those without a robot.
var obeyed func(b act.Act)

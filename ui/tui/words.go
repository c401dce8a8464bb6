package tui

import "memdesk/model"

// flagWords explains the flags of an item.
var flagWords = map[model.Flag]string{
	model.FlagArchived:    "archived: the store's own search skips it",
	model.FlagBookkeeping: "bookkeeping: the agent's machinery, hidden by default",
	model.FlagNearCap:     "near its cap: 80 % or more is used",
	model.FlagOverCap:     "over its cap",
	model.FlagBinary:      "binary: not UTF-8, shown escaped",
	model.FlagReadOnly:    "read-only: only its own writer may change it",
	model.FlagEdge:        "a hyperedge: it connects other items",
	model.FlagBlocked:     "blocked: the scanner rejects it, agents do not get it",
	model.FlagPending:     "pending: waits for somebody's approval",
	model.FlagUnreadable:  "unreadable: the store cannot give its content",
}

func flagText(f model.Flag) string {
	if w, ok := flagWords[f]; ok {
		return w
	}
	return string(f)
}

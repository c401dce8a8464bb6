package act

// The acts on memory and on requests, each with its word, its key and its effect: the same in every pane,
// after `:`, in the linear mode and on the command line.

// Acts on lists and texts. In a list on the screen, those with a row take the one at the cursor.
var (
	Open = Act{Name: "read", Keys: []string{"enter", "right", "l"}, Show: "enter", Verb: "open", Args: "NUMBER or REF",
		Doc: "read a row of the last list, or an item", Examples: []string{"open 3", "3; a number alone opens too", "open graph:node-17"}}
	Items = Act{Name: "items", Keys: []string{"enter", "right", "l"}, Show: "enter", Verb: "items", Args: "NUMBER",
		Doc: "the items of this store, scope or tier", Examples: []string{"items 2"}}
	Filter = Act{Name: "filter", Keys: []string{"/"}, Verb: "filter", Args: "[WORDS]",
		Doc: "only rows with these words, or without them after a !; without words, all", Examples: []string{"filter deploy friday", "filter !draft; what does not have the word", "filter; everything again"}}
	Next  = Act{Keys: []string{"pgdown", "ctrl+f"}, Show: "PgDn", Verb: "next", Doc: "one screen down", Examples: []string{"next; of a list, the next twenty"}}
	More  = Act{Keys: []string{"}"}, Verb: "more", Doc: "go on with a long text"}
	Order = Act{Name: "order", Keys: []string{"o"}, Verb: "order", Args: "[NAME]",
		Doc: "sort by the next order that the store offers", Examples: []string{"order; which there are", "order newest"}}
	Hidden = Act{Name: "hidden", Keys: []string{"a"}, Verb: "hidden",
		Doc: "show or leave out archived and bookkeeping items and hidden tiers", Examples: []string{"hidden"}}
	MarkAll = Act{Keys: []string{"*"}, Verb: "mark all", Doc: "mark all rows that match the filter, however many pages they take", Examples: []string{"mark all"}}
	Mark    = Act{Name: "mark", Keys: []string{"space"}, Verb: "mark", Args: "NUMBERS", Doc: "mark this row for the next act, or take the mark away", Examples: []string{"mark 1 3-5; rows for the next act"}}
	Unmark  = Act{Keys: []string{"u"}, Verb: "unmark", Doc: "take all marks away", Examples: []string{"unmark"}}
	Back    = Act{Name: "back", Keys: []string{"esc"}, Verb: "back", Doc: "one level back, keeping the place", Examples: []string{"back; to where this list was opened"}}
	Refresh = Act{Name: "refresh", Keys: []string{"ctrl+r", "f5"}, Verb: "refresh", Doc: "ask the stores again for what is shown", Examples: []string{"refresh; a list from its start, as it is now"}}
	Undo    = Act{Keys: []string{"z"}, Verb: "undo last", Doc: "undo the last act of this session; :undo lists earlier ones", Examples: []string{"undo last"}}
	Help    = Act{Name: "help", Keys: []string{"?"}, Verb: "help", Args: "[WORDS]", Doc: "the keys that work here", Examples: []string{"help", "help forget"}}
)

// Acts on items.
var (
	Create = Act{Name: "create", Keys: []string{"c"}, Verb: "create", Args: "[STORE [TIER [SCOPE]]]", Doc: "create an item here, in $EDITOR",
		Examples: []string{"create; where the last list is", "create crewship daily"}}
	Edit = Act{Name: "edit", Keys: []string{"e"}, Verb: "edit", Args: "NUMBER or REF", Doc: "edit this item in $EDITOR; nothing is written before you have seen the difference",
		Examples: []string{"edit 3", "edit vault:notes/plan.md"}}
	Append = Act{Name: "append", Keys: []string{"A"}, Verb: "append", Args: "NUMBER or REF", Doc: "append to this item, in $EDITOR",
		Examples: []string{"append 3"}}
	Forget = Act{Name: "forget", Keys: []string{"d"}, Verb: "forget", Args: "[NUMBER or REF]", Marks: true, Doc: "forget this item, or all that are marked, after a question",
		Examples: []string{"forget 3", "forget; all that are marked"}}
	History = Act{Name: "history", Keys: []string{"H"}, Verb: "history", Args: "NUMBER or REF", Doc: "the recorded versions of this item, to read and to compare",
		Examples: []string{"history 3"}}
	Log    = Act{Name: "log", Keys: []string{"L"}, Doc: "what the audit log has about this item"}
	Export = Act{Name: "export", Keys: []string{"x"}, Verb: "export", Args: "[NUMBER or REF]", Doc: "export the table as it is filtered to a file, CSV or JSON lines",
		Examples: []string{"export 3; one item", "export; the list, as CSV or JSON lines"}}
	Compare = Act{Name: "compare", Keys: []string{"c"}, Verb: "compare", Args: "NUMBER [NUMBER]", Marks: true,
		Doc: "compare with the version that is marked (space), or with the item as it is now", Examples: []string{"compare 2; with the item as it is now", "compare 1 2"}}
	Restore = Act{Name: "restore", Keys: []string{"u"}, Verb: "restore", Args: "NUMBER", Doc: "undo this change"}
)

// Acts on entries of the quarantine.
var (
	Release = Act{Name: "release", Keys: []string{"e"}, Verb: "release", Args: "NUMBER",
		Doc: "release by edit: the source, or the text of a held write, opens in $EDITOR, and what you save must pass the scanner", Examples: []string{"release 1"}}
	Delete = Act{Name: "delete", Keys: []string{"d"}, Verb: "delete", Args: "[NUMBER]", Marks: true,
		Doc: "delete this entry of the quarantine, or all that are marked, after a question; sources stay as they are", Examples: []string{"delete 1", "delete; all that are marked"}}
	SameRule = Act{Name: "same rule", Keys: []string{"R"}, Verb: "rule", Args: "NUMBER",
		Doc: "mark all entries that the same rule has blocked, in every store", Examples: []string{"rule 1"}}
)

// Takeback is for rows that have a writer.
var Takeback = Act{Name: "take back", Keys: []string{"T"}, Verb: "takeback", Args: "NUMBER",
	Doc: "take back everything that this writer wrote since a time, after a preview", Examples: []string{"takeback 1"}}

// Acts on stories.
var (
	Stories  = Act{Name: "stories", Keys: []string{"S"}, Verb: "stories", Doc: "what is blocked and what looks planted, grouped by who wrote it or by what it says"}
	Harmless = Act{Name: "harmless", Keys: []string{"F"}, Verb: "harmless", Args: "NUMBER",
		Doc: "mark this story and all that say nearly the same as harmless, after a question", Examples: []string{"harmless 1"}}
)

// Acts on conflicts.
var (
	KeepBase  = Act{Name: "keep base", Keys: []string{"b"}, Verb: "keep base", Args: "NUMBER", Marks: true, Doc: "resolve: keep the base as it is and remove the copy, after a question"}
	KeepCopy  = Act{Name: "keep copy", Keys: []string{"c"}, Verb: "keep copy", Args: "NUMBER", Marks: true, Doc: "resolve: put the copy in the base's place, after a question"}
	KeepBoth  = Act{Name: "keep both", Keys: []string{"B"}, Verb: "keep both", Args: "NUMBER", Marks: true, Doc: "resolve: keep both, and give the copy a name of its own"}
	Merge     = Act{Name: "merge", Keys: []string{"m"}, Verb: "merge", Args: "NUMBER", Doc: "go through the differences one by one", Examples: []string{"merge 1"}}
	EditBoth  = Act{Name: "edit", Keys: []string{"e"}, Verb: "edit", Args: "NUMBER", Doc: "write the result in the editor, both sides between marks"}
	Redundant = Act{Keys: []string{"D"}, Verb: "redundant", Doc: "remove every redundant copy of all stores, after a question that counts them", Examples: []string{"redundant"}}
)

// Acts on erasure requests, and on the steps of a plan.
var (
	Request = Act{Name: "new", Keys: []string{"a"}, Verb: "request", Doc: "file a request to be forgotten", Examples: []string{"request"}}
	Plan    = Act{Name: "plan", Keys: []string{"p"}, Verb: "plan", Args: "[NUMBER]",
		Doc: "search every store and make the plan anew; nothing is changed", Examples: []string{"plan 1"}}
	Show = Act{Name: "open", Keys: []string{"enter"}, Verb: "show", Args: "NUMBER",
		Doc: "what comes next: the plan, the run, what is left, or the receipt", Examples: []string{"show 1"}}
	Unfold    = Act{Name: "unfold", Keys: []string{"enter"}, Verb: "unfold", Args: "NUMBER", Doc: "list what is planned in this store or layer, or fold it away"}
	UnfoldAll = Act{Keys: []string{"F"}, Verb: "unfold all", Doc: "list all that is planned in every store, or fold all of it away"}
	Hold      = Act{Name: "hold", Keys: []string{"H"}, Verb: "hold", Args: "NUMBER", Marks: true,
		Doc: "hold back this item, the marked ones, or all below this heading, on a ground that permits it", Examples: []string{"hold 4"}}
	Lift = Act{Keys: []string{"U"}, Verb: "unhold", Args: "NUMBER", Marks: true,
		Doc: "lift a hold, so that the item goes too", Examples: []string{"unhold 1"}}
	Choose = Act{Name: "choose", Keys: []string{"c"}, Verb: "choose", Args: "NUMBER", Marks: true,
		Doc: "switch this item, the marked ones, or all below this heading between forget and redact", Examples: []string{"choose 4"}}
	Withdraw = Act{Keys: []string{"W"}, Verb: "withdraw", Args: "NUMBER",
		Doc: "withdraw the request: it is closed without an erasure, and its names go", Examples: []string{"withdraw 1"}}
	Approve = Act{Name: "approve", Keys: []string{"A"}, Verb: "approve", Args: "[NUMBER]",
		Doc: "approve the plan with your own key, or read who must approve it, and how", Examples: []string{"approve 1"}}
	Erase = Act{Name: "erase", Keys: []string{"E"}, Verb: "erase", Args: "[NUMBER]",
		Doc: "carry out the plan that was made, after a question", Examples: []string{"erase 1"}}
	Retry = Act{Name: "retry", Keys: []string{"r"}, Verb: "retry", Args: "NUMBER",
		Doc: "go on with what is left, after a question", Examples: []string{"retry 1"}}
	Pause = Act{Name: "pause", Keys: []string{"P"}, Verb: "pause", Args: "NUMBER",
		Doc: "pause the run at its next step, or let it go on", Examples: []string{"pause 1"}}
	ExportPerson = Act{Keys: []string{"x"}, Verb: "export", Args: "NUMBER", Doc: "export everything about the person, for the person"}
	Deadline     = Act{Keys: []string{"T"}, Verb: "deadline", Args: "NUMBER",
		Doc: "the deadline: extend it, or stop the clock while an identity is checked", Examples: []string{"deadline 1"}}
	Verify = Act{Name: "verify", Keys: []string{"v"}, Verb: "verify", Args: "NUMBER",
		Doc: "look again at every store and layer; nothing is changed", Examples: []string{"verify 1"}}
	Layers = Act{Keys: []string{"V"}, Verb: "layers", Args: "NUMBER",
		Doc: "the layers with their verdicts, as the last run or the receipt has them", Examples: []string{"layers 1"}}
	Receipt = Act{Keys: []string{"S"}, Verb: "receipt", Args: "NUMBER",
		Doc: "save the receipt to a file, or of what is not complete the status report", Examples: []string{"show 1; reads it", "receipt 1; saves it"}}
	Attest = Act{Name: "attest", Keys: []string{"t"}, Verb: "attest", Args: "NUMBER", Doc: "say that you looked at this layer, which the program cannot open or change"}
)

// Acts on long work.
var (
	Stop     = Act{Name: "stop it", Keys: []string{"C"}, Verb: "stop", Args: "NUMBER", Doc: "stop this job at its next step, after a question; what is done stays done", Examples: []string{"stop 1"}}
	Outcomes = Act{Name: "outcomes", Keys: []string{"enter"}, Verb: "outcomes", Args: "NUMBER", Doc: "what became of each item of this job; the job itself where it is not of this session"}
)

// OnLists are the acts with a word on every list and text.
func OnLists() []Act {
	return []Act{Open, Filter, Next, More, MarkAll, Mark, Unmark, Back, Refresh, Undo}
}

// OnItems are the acts with a word on one item.
func OnItems() []Act { return []Act{Edit, Append, Forget, History, Export} }

package tui

// bench is the desk with the acts that more than one pane has.
type bench struct {
	*desk
	edits     *edits
	undos     *undos
	removals  *removals
	revisions *revisions
	takebacks *takebacks
	work      *underway
}

func newBench(d *desk) *bench {
	work := &underway{d: d}
	return &bench{
		desk: d, work: work, edits: &edits{d: d}, undos: &undos{d: d, work: work}, removals: &removals{d, work},
		revisions: &revisions{d}, takebacks: &takebacks{d, work},
	}
}

package origin

// Within sets the size in bytes at which a trace starts a new file.
func (t *Trace) Within(most int64) { t.most = most }

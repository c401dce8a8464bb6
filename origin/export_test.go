package origin

// Within sets after how many bytes a trace begins a new file.
func (t *Trace) Within(most int64) { t.most = most }

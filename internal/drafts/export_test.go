package drafts

// Abandon drops the lock as the death of the process does, and clears nothing.
func (f *Folder) Abandon() { _ = f.held.Close() }

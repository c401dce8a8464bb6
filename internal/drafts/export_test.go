package drafts

// Abandon drops the lock as the death of the process does, without a cleanup.
func (f *Folder) Abandon() { _ = f.held.Close() }

package tui

// OnObeyed has f called for each key and command that is carried out, on the update
// loop.
func OnObeyed(f func(Binding)) { obeyed = f }

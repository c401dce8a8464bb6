package walk

// Follow follows one tree by itself.
func Follow(root string) (*Follower, error) { return new(queue).follow(root) }

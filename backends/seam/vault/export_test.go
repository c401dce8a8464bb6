package vault

import "memdesk/backends/seam"

// Tree is the member as the published seam sees it (S21), from the memory root.
func Tree(cfg Config) (*seam.Dir, error) {
	at, err := resolve(cfg)
	if err != nil {
		return nil, err
	}
	return at.tree(cfg, at.memory)
}

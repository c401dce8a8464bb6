package hypergraph

import "memdesk/model"

// address returns the item that a write without an id targets: the one that its key names, or a new one
// without a key.
func (a *adapter) address(req model.RetainRequest) (string, error) {
	if req.ID == "" && req.Key == "" {
		return "", a.checkTier("retain", req.Tier)
	}
	t, err := a.target(req)
	if err != nil {
		return "", err
	}
	return t.String(), nil
}

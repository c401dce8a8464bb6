//go:build !linux

package gdpr

import (
	"context"
	"os"
	"slices"

	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// handles cannot look: the system does not show open files as files. In a directory whose files change that is not clean.
func (x *run) handles(_ context.Context, s model.Store, p *part) (receipt.Layer, bool) {
	info, err := os.Stat(s.Location)
	return receipt.Layer{Store: s.Name, Layer: "open handles", Method: "not looked at", Verdict: model.VerdictUnaudited,
		Reason: "this system does not show who holds a removed file open",
	}, err == nil && info.IsDir() && slices.ContainsFunc(p.Steps, func(st Step) bool { return st.changes() })
}

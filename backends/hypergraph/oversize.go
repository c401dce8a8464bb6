package hypergraph

import "memdesk/model"

// MaxText is the most bytes that the texts of one node or edge may have together. A larger row, which
// only another program can have written, is never read into memory: it is listed with its size and can
// be forgotten.
const MaxText = 64 << 20

// tooLarge is Unsupported for an item of so many bytes.
func tooLarge(op, id string, bytes int64) error {
	return model.Errorf(model.Unsupported, op, "%.200q has %d bytes and is not read: memdesk reads items up to %d; it can be listed and forgotten", id, bytes, MaxText)
}

// markOversize makes the header of an item whose text was not read.
func markOversize(h model.Header, bytes int64) model.Header {
	h.Title, h.Bytes = "(too large to be read)", bytes
	h.Flags = append(h.Flags, model.FlagUnreadable)
	return h
}

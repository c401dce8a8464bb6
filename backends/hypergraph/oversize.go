package hypergraph

import "memdesk/model"

// MaxText is the most bytes that a text of a node or an edge may have: its content or label, its metadata and its provenance.
// A larger row, which only another program can have written, is never read into memory: it is listed with its size and can be
// forgotten.
const MaxText = 64 << 20

// tooLarge is Unsupported for an item of so many bytes.
func tooLarge(op, id string, bytes int64) error {
	return model.Errorf(model.Unsupported, op, "%.200q has %d bytes and is not read: memdesk reads items up to %d; it can be listed and forgotten", id, bytes, MaxText)
}

// fits is InvalidInput for an item of which nobody could read a text again.
func fits(texts ...string) error {
	for _, t := range texts {
		if len(t) > MaxText {
			return model.Errorf(model.InvalidInput, "retain", "it would have a text of %d bytes: an item of this store has at most %d", len(t), MaxText)
		}
	}
	return nil
}

// markOversize makes the header of an item whose text was not read.
func markOversize(h model.Header, bytes int64) model.Header {
	h.Title, h.Bytes = "(too large to be read)", bytes
	h.Flags = append(h.Flags, model.FlagUnreadable)
	return h
}

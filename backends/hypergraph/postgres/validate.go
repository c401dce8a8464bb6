package postgres

import (
	"encoding/binary"
	"math"

	"memdesk/backends/hypergraph"
)

var vocabulary = hypergraph.Recurse()

// maxVectorDimensions is the published limit (provider-contract.md H12).
const maxVectorDimensions = 16000

// encodeVector is little-endian float32, as in recurse (recurse.md, Encodings as
// stored).
func encodeVector(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// Package vectors compares vectors by the angle between them. It stores nothing.
package vectors

import (
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Dot is the inner product of two vectors of equal length. Eight parallel sums keep the processor's
// units busy; a single sum cannot.
func Dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for len(a) >= 8 {
		x, y := a[:8:8], b[:8:8]
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		s4 += x[4] * y[4]
		s5 += x[5] * y[5]
		s6 += x[6] * y[6]
		s7 += x[7] * y[7]
		a, b = a[8:], b[8:]
	}
	for i, x := range a {
		s0 += x * b[i]
	}
	return (s0 + s4) + (s1 + s5) + ((s2 + s6) + (s3 + s7))
}

// eachChunk is how many vectors one processor takes at once.
const eachChunk = 1024

// Each computes a score for every index, on all processors, and waits for them.
func Each(n int, score func(i int) float64) []float64 {
	out := make([]float64, n)
	var next atomic.Int64
	work := func() {
		for {
			from := int(next.Add(eachChunk)) - eachChunk
			if from >= n {
				return
			}
			for i := from; i < min(from+eachChunk, n); i++ {
				out[i] = score(i)
			}
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+eachChunk-1)/eachChunk) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return out
}

// Length is the Euclidean length.
func Length(v []float32) float64 {
	var n float64
	for _, x := range v {
		n += float64(x) * float64(x)
	}
	return math.Sqrt(n)
}

// Unit is v scaled to length 1; nil for a vector of length 0 or with a value that is not finite.
func Unit(v []float32) []float32 {
	length := Length(v)
	if !(length > 0) || math.IsInf(length, 0) {
		return nil
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) / length)
	}
	return out
}

// Encode writes recurse's form: little-endian float32 (recurse.md, Encodings as stored).
func Encode(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// Decode reads little-endian float32 (recurse.md, Encodings as stored) into buf; nil where the bytes
// are no multiple of four.
func Decode(raw []byte, buf []float32) []float32 {
	if len(raw)%4 != 0 {
		return nil
	}
	buf = slices.Grow(buf[:0], len(raw)/4)[:len(raw)/4]
	for i := range buf {
		buf[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return buf
}

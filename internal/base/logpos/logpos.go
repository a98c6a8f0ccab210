// Package logpos encodes positions in a store's log as bytes.
package logpos

import "encoding/binary"

// A Position identifies a change in a log, or the base, which is the state before the first change. Its encoding
// consists of little-endian integers:
//
//	offset size field
//	 0   16 identity of the log
//	16    8 sequence number of the change, or of the base
//	24    8 offset of its record in the file, or 0 for the base
//	32   32 hash of the chain at the change
type Position struct {
	LogID      [16]byte
	Seq        uint64
	FileOffset int64
	ChainHash  [32]byte
}

const encodedSize = 64

// Encode returns the encoding of p, which has 64 bytes.
func (p Position) Encode() string {
	var b [encodedSize]byte
	copy(b[:], p.LogID[:])
	binary.LittleEndian.PutUint64(b[16:], p.Seq)
	binary.LittleEndian.PutUint64(b[24:], uint64(p.FileOffset))
	copy(b[32:], p.ChainHash[:])
	return string(b[:])
}

// DecodePosition decodes the output of Encode. ok is false if s does not have 64 bytes.
func DecodePosition[S ~string](s S) (p Position, ok bool) {
	if len(s) != encodedSize {
		return p, false
	}
	b := []byte(s)
	return Position{LogID: [16]byte(b), Seq: binary.LittleEndian.Uint64(b[16:]),
		FileOffset: int64(binary.LittleEndian.Uint64(b[24:])), ChainHash: [32]byte(b[32:])}, true
}

// IsAtOrBefore reports whether both positions belong to the same log and p is not after q.
func (p Position) IsAtOrBefore(q Position) bool { return p.LogID == q.LogID && p.Seq <= q.Seq }

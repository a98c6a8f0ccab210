// This file implements signatures. The signature of a document is a Bloom filter with the pairs of words that follow
// each other in the document's text. If a search looks for a phrase, the signatures exclude most documents that contain
// the words in another order, so that the caller need not read their texts.

package index

import (
	"math"
	"slices"
)

// A signature has signatureBitsPerPair bits for each word pair, rounded up to units of 32 bits, and each pair sets at
// most signatureBitsOfPair bits. About one in 18 signatures without a pair seems to contain it.
const (
	signatureBitsPerPair = 6
	signatureBitsOfPair  = 4
	signatureUnitBits    = 32
	// maximum number of units of a signature, because the number is stored in two bytes
	maxSignatureUnits = math.MaxUint16
)

// signatureUnitCount returns the number of units in the signature of a document. A signature is a bit set that tells
// which pairs of words the document contains. The argument pairs is the number of word pairs. A unit has
// signatureUnitBits bits, and a signature has at most maxSignatureUnits units.
func signatureUnitCount(pairs int) int {
	return min((pairs*signatureBitsPerPair+signatureUnitBits-1)/signatureUnitBits, maxSignatureUnits)
}

// signatureBitNumbers returns the numbers of the bits that a pair sets in a signature with the given number of units,
// which must be above 0.
func signatureBitNumbers(pairHash uint32, units int) (bits [signatureBitsOfPair]uint32) {
	mixed := uint64(pairHash) * 0x9e3779b97f4a7c15
	bit, step := uint32(mixed>>32), uint32(mixed)|1
	for i := range bits {
		bits[i] = uint32(uint64(bit) * uint64(units*signatureUnitBits) >> 32)
		bit += step
	}
	return bits
}

// appendSignature appends the signature with these pairs to units.
func appendSignature(units, pairHashes []uint32) []uint32 {
	from, n := len(units), signatureUnitCount(len(pairHashes))
	units = slices.Grow(units, n)[:from+n]
	signature := units[from:]
	clear(signature)
	for _, hash := range pairHashes {
		for _, bit := range signatureBitNumbers(hash, n) {
			signature[bit/signatureUnitBits] |= 1 << (bit % signatureUnitBits)
		}
	}
	return units
}

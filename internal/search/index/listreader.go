// This file decodes the posting lists of a snapshot into postings or columns. It decodes the postings in batches, with
// a simple loop for each step.

package index

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"sync"
)

// decodeBatchSize is the number of postings in a batch. The decoded values fit into the processor's L1 cache.
const decodeBatchSize = 512

// cachedLengths limits for how many document lengths a [listReader] caches the result of bm25Scale.impact, the upper
// bound of a posting's share in a score. Only lengths below cachedLengths are cached.
const cachedLengths = 4096

// listReader decodes one posting list of a snapshot.
type listReader struct {
	snapshot   *snapshotTerms
	encoded    []byte // bytes of the posting list that are not decoded yet, followed by listPaddingBytes more bytes
	remaining  uint32 // number of postings that are not decoded yet
	minNextDoc uint64 // the next posting's document number is at least this number

	// The batch of postings that was decoded last.
	numbers [decodeBatchSize]uint32
	tfs     [decodeBatchSize]uint16
	impacts [decodeBatchSize]uint8

	// by document length: impact of a posting for a term that occurs once, or 0 if not computed yet. The slice is
	// empty if the list is so short that caching is not worthwhile.
	impactsForOne []uint8
	impactMemory  [cachedLengths]uint8 // memory that impactsForOne uses
}

// listPaddingBytes is how many bytes must follow a list in memory, because the decoder may read that many bytes from
// the start of each posting. Their content does not matter.
const listPaddingBytes = 8

// listReaders is a pool of readers for reuse, because a reader needs about 8 kB.
var listReaders = sync.Pool{New: func() any { return new(listReader) }}

// openList returns a reader for the posting list of a term. The list is at the start of b. The caller must call
// release.
func (img *snapshotTerms) openList(t *snapshotTerm, b []byte) (*listReader, error) {
	r := listReaders.Get().(*listReader)
	r.snapshot = img
	r.encoded = b[:t.listSize+listPaddingBytes]
	r.remaining = t.df
	r.minNextDoc = 0
	r.impactsForOne = nil
	if t.df > cachedLengths {
		r.impactsForOne = r.impactMemory[:]
		clear(r.impactsForOne)
	}
	if crc32.Checksum(b[:t.listSize], castagnoli) != t.checksum {
		return r, fmt.Errorf("%w: the list of a term does not match its checksum", errSnapshot)
	}
	return r, nil
}

// release returns the reader to the pool.
func (r *listReader) release() {
	r.snapshot, r.encoded = nil, nil
	listReaders.Put(r)
}

// decodeBatch decodes the next batch of postings and returns their number, which is 0 at the list's end.
func (r *listReader) decodeBatch() (n int, err error) {
	n = int(min(r.remaining, decodeBatchSize))
	if err := r.decodePostings(n); err != nil {
		return 0, err
	}
	lens := r.snapshot.docLengths
	sc := r.snapshot.impactScale
	ones := r.impactsForOne
	for i, number := range r.numbers[:n] {
		dl, tf := lens[number], r.tfs[i]
		switch {
		case dl == unscoredLength:
			return 0, fmt.Errorf("%w: a list names a document that is not there", errSnapshot)
		case tf != OneTF || dl >= uint32(len(ones)):
			r.impacts[i] = sc.impact(tf, dl)
			continue
		case ones[dl] == 0:
			ones[dl] = sc.impact(tf, dl)
		}
		r.impacts[i] = ones[dl]
	}
	return n, nil
}

// multiByteMask selects two bits in each of eight bytes. The bits say whether the distance continues in another byte,
// and whether a frequency follows. If all of these bits are 0, the eight bytes encode eight postings.
const multiByteMask = 0x8181818181818181

// decodePostings decodes the document numbers and frequencies of the next n postings. One-byte and two-byte postings
// are mixed unpredictably, so the code does not branch on the length.
func (r *listReader) decodePostings(n int) error {
	b := r.encoded
	next := r.minNextDoc
	docs := uint64(len(r.snapshot.docLengths))
	for i := 0; i < n; i++ {
		if i+8 <= n && len(b) >= 8+listPaddingBytes {
			if eight := binary.LittleEndian.Uint64(b); eight&multiByteMask == 0 {
				for k := range 8 {
					next += eight & 0xff >> 1
					r.numbers[i+k], r.tfs[i+k] = uint32(next), OneTF
					next++
					eight >>= 8
				}
				if next > docs {
					return fmt.Errorf("%w: a list names a document that is not there", errSnapshot)
				}
				b, i = b[8:], i+7
				continue
			}
		}
		if len(b) <= listPaddingBytes {
			return fmt.Errorf("%w: a list is cut short", errSnapshot)
		}
		two := uint64(binary.LittleEndian.Uint16(b))
		more := two >> 7 & 1
		v, size := two&0x7f|two>>8&0x7f<<7&-more, 1+int(more)
		if more&(two>>15) != 0 {
			v, size = binary.Uvarint(b[:len(b)-listPaddingBytes])
			if size <= 0 {
				return fmt.Errorf("%w: a list is cut short", errSnapshot)
			}
		}
		b = b[size:]
		tf := uint64(OneTF)
		if v&1 != 0 {
			tf, size = uint64(b[0]), 1
			if tf >= 0x80 {
				tf, size = binary.Uvarint(b)
			}
			switch {
			case size <= 0, tf == 0, tf > math.MaxUint16:
				return fmt.Errorf("%w: a list has an unknown form", errSnapshot)
			}
			b = b[size:]
		}
		number := next + v>>1
		if v>>1 >= docs || number >= docs {
			return fmt.Errorf("%w: a list names a document that is not there", errSnapshot)
		}
		next = number + 1
		r.numbers[i], r.tfs[i] = uint32(number), uint16(tf)
	}
	r.encoded = b
	r.remaining = r.remaining - uint32(n)
	r.minNextDoc = next
	hasRest := r.remaining == 0 && len(b) > listPaddingBytes
	if len(b) < listPaddingBytes || hasRest {
		return fmt.Errorf("%w: a list has an unknown form", errSnapshot)
	}
	return nil
}

// appendPostings decodes all postings and appends them to list.
func (r *listReader) appendPostings(list []posting) ([]posting, error) {
	for r.remaining > 0 {
		n, err := r.decodeBatch()
		if err != nil {
			return list, err
		}
		for i := range n {
			list = append(list, posting{r.numbers[i], r.tfs[i], r.impacts[i]})
		}
	}
	return list, nil
}

// fillColumns decodes a term's list of documents into empty columns. Each document with the term has an impact, which
// bounds the term's contribution to the document's score. fillColumns returns the largest impact.
func (r *listReader) fillColumns(w *columns) (most uint8, err error) {
	for r.remaining > 0 {
		n, err := r.decodeBatch()
		if err != nil {
			return 0, err
		}
		for _, impact := range r.impacts[:n] {
			most = max(most, impact)
		}
		w.appendBatch(r.numbers[:n], r.tfs[:n], r.impacts[:n])
	}
	w.finishColumns()
	return most, nil
}

// appendBatch appends documents that contain the term: their numbers, the term's frequencies and impacts. Like
// pushPosting, it appends to several arrays, but it appends many elements at once.
func (w *columns) appendBatch(numbers []uint32, tfs []uint16, impacts []uint8) {
	w.impacts = append(w.impacts, impacts...)
	from := len(w.docs)
	w.docs = w.docs[:from+len(numbers)]
	docs := w.docs[from:]
	for i, number := range numbers {
		docs[i] = uint16(number)
	}
	for _, number := range numbers {
		w.startIndexes[number>>w.startShift]++
	}
	if w.docBits != nil {
		for _, number := range numbers {
			w.docBits[number/64] |= 1 << (number % 64)
		}
	}
	if w.denseTFs == nil {
		w.tfs = append(w.tfs, tfs...)
		return
	}
	for i, number := range numbers {
		tf := tfs[i] / w.denseUnit
		w.denseTFs[number] = uint8(min(tf, maxDenseTF))
		if tf >= maxDenseTF {
			w.largePostings = append(w.largePostings, posting{number, tfs[i], impacts[i]})
		}
	}
}

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

// cachedDocLengthLimit limits a cache in each [postingListReader]. For a term that occurs once in a document, the
// reader caches the result of bm25Scale.scoreImpact by the document's length. The impact is the upper bound of a
// posting's contribution to a score. Only lengths below cachedDocLengthLimit are cached.
const cachedDocLengthLimit = 4096

// postingListReader decodes one posting list of a snapshot.
type postingListReader struct {
	snapshot *snapshotTerms
	// bytes of the posting list that are not decoded yet, followed by postingListPaddingBytes more bytes
	encoded           []byte
	remainingPostings uint32 // number of postings that are not decoded yet
	minNextDoc        uint64 // the next posting's document number is at least this number

	// The batch of postings that was decoded last.
	batchDocNumbers      [decodeBatchSize]uint32
	batchTermFrequencies [decodeBatchSize]uint16
	batchScoreImpacts    [decodeBatchSize]uint8

	// Impacts of postings for a term that occurs once, by document length. An impact is an upper bound of what a
	// posting can add to a score. It is 0 if it was not computed yet. The slice is empty if the list is so short that
	// caching is not worthwhile.
	singleOccurrenceImpacts      []uint8
	singleOccurrenceImpactBuffer [cachedDocLengthLimit]uint8 // memory that singleOccurrenceImpacts uses
}

// postingListPaddingBytes is how many bytes must follow a list in memory, because the decoder may read that many bytes
// from the start of each posting. Their content does not matter.
const postingListPaddingBytes = 8

// postingListReaderPool is a pool of readers for reuse, because a reader needs about 8 kB.
var postingListReaderPool = sync.Pool{New: func() any { return new(postingListReader) }}

// openPostingList returns a reader for the posting list of a term. The list is at the start of b. The caller must call
// the reader's method returnToPool, even if openPostingList returns an error.
func (img *snapshotTerms) openPostingList(t *snapshotTerm, b []byte) (*postingListReader, error) {
	r := postingListReaderPool.Get().(*postingListReader)
	r.snapshot = img
	r.encoded = b[:t.listSize+postingListPaddingBytes]
	r.remainingPostings = t.docFrequency
	r.minNextDoc = 0
	r.singleOccurrenceImpacts = nil
	if t.docFrequency > cachedDocLengthLimit {
		r.singleOccurrenceImpacts = r.singleOccurrenceImpactBuffer[:]
		clear(r.singleOccurrenceImpacts)
	}
	if crc32.Checksum(b[:t.listSize], castagnoli) != t.checksum {
		return r, fmt.Errorf("%w: the list of a term does not match its checksum", errDamagedSnapshot)
	}
	return r, nil
}

// returnToPool returns the reader to the pool.
func (r *postingListReader) returnToPool() {
	r.snapshot, r.encoded = nil, nil
	postingListReaderPool.Put(r)
}

// decodeBatch decodes the next batch of postings and returns their number, which is 0 at the list's end.
func (r *postingListReader) decodeBatch() (n int, err error) {
	n = int(min(r.remainingPostings, decodeBatchSize))
	if err := r.decodePostings(n); err != nil {
		return 0, err
	}
	lens := r.snapshot.docLengths
	sc := r.snapshot.scoreImpactScale
	ones := r.singleOccurrenceImpacts
	for i, number := range r.batchDocNumbers[:n] {
		dl, tf := lens[number], r.batchTermFrequencies[i]
		switch {
		case dl == unscoredDocumentLength:
			return 0, fmt.Errorf("%w: a list names a document that is not there", errDamagedSnapshot)
		case tf != FrequencyPerOccurrence || dl >= uint32(len(ones)):
			r.batchScoreImpacts[i] = sc.scoreImpact(tf, dl)
			continue
		case ones[dl] == 0:
			ones[dl] = sc.scoreImpact(tf, dl)
		}
		r.batchScoreImpacts[i] = ones[dl]
	}
	return n, nil
}

// multiByteMask selects two bits in each of eight bytes of an encoded posting list. One bit says that the distance to
// the next document's number continues in another byte. The second bit says that a frequency follows. If all of these
// bits are 0, the eight bytes encode eight postings.
const multiByteMask = 0x8181818181818181

// bytePairMask selects the same bits in four byte pairs, but in a pair's second byte only the first of the two bits. If
// the selected bits are bytePairBits, each pair encodes a posting with a distance and a frequency. The keyword lists,
// to which a search's conditions refer, consist mostly of such pairs.
const (
	bytePairMask = 0x8081808180818081
	bytePairBits = 0x0001000100010001
)

// decodePostings decodes the next n postings. It stores their document numbers in r.batchDocNumbers and their term
// frequencies in r.batchTermFrequencies. If the next eight postings are one byte each, it decodes all eight at once. If
// the next four postings are two bytes each, it decodes all four at once. A posting of one byte has the frequency
// FrequencyPerOccurrence.
//
// Otherwise decodePostings decodes one posting at a time. The code for this case has no branch that depends on whether
// the posting has one or two bytes, because postings of both lengths are mixed unpredictably. If the encoded data is
// damaged, the error matches errDamagedSnapshot.
func (r *postingListReader) decodePostings(n int) error {
	b := r.encoded
	next := r.minNextDoc
	docs := uint64(len(r.snapshot.docLengths))
	for i := 0; i < n; i++ {
		if i+8 <= n && len(b) >= 8+postingListPaddingBytes {
			eight := binary.LittleEndian.Uint64(b)
			decoded := 0
			hasFrequencies := true // whether all decoded frequencies are above 0
			switch {
			case eight&multiByteMask == 0:
				for ; decoded < 8; decoded++ {
					next += eight & 0xff >> 1
					r.batchDocNumbers[i+decoded], r.batchTermFrequencies[i+decoded] = uint32(
						next,
					), FrequencyPerOccurrence
					next++
					eight >>= 8
				}
			case eight&bytePairMask == bytePairBits:
				for ; decoded < 4; decoded++ {
					next += eight & 0xff >> 1
					tf := uint16(eight >> 8 & 0xff)
					hasFrequencies = hasFrequencies && tf > 0
					r.batchDocNumbers[i+decoded], r.batchTermFrequencies[i+decoded] = uint32(next), tf
					next++
					eight >>= 16
				}
			}
			switch {
			case next > docs:
				return fmt.Errorf("%w: a list names a document that is not there", errDamagedSnapshot)
			case !hasFrequencies:
				return fmt.Errorf("%w: a list has an unknown form", errDamagedSnapshot)
			case decoded > 0:
				b, i = b[8:], i+decoded-1
				continue
			}
		}
		if len(b) <= postingListPaddingBytes {
			return fmt.Errorf("%w: a list is cut short", errDamagedSnapshot)
		}
		two := uint64(binary.LittleEndian.Uint16(b))
		more := two >> 7 & 1
		v, size := two&0x7f|two>>8&0x7f<<7&-more, 1+int(more)
		if more&(two>>15) != 0 {
			v, size = binary.Uvarint(b[:len(b)-postingListPaddingBytes])
			if size <= 0 {
				return fmt.Errorf("%w: a list is cut short", errDamagedSnapshot)
			}
		}
		b = b[size:]
		tf := uint64(FrequencyPerOccurrence)
		if v&1 != 0 {
			tf, size = uint64(b[0]), 1
			if tf >= 0x80 {
				tf, size = binary.Uvarint(b)
			}
			switch {
			case size <= 0, tf == 0, tf > math.MaxUint16:
				return fmt.Errorf("%w: a list has an unknown form", errDamagedSnapshot)
			}
			b = b[size:]
		}
		number := next + v>>1
		if v>>1 >= docs || number >= docs {
			return fmt.Errorf("%w: a list names a document that is not there", errDamagedSnapshot)
		}
		next = number + 1
		r.batchDocNumbers[i], r.batchTermFrequencies[i] = uint32(number), uint16(tf)
	}
	r.encoded = b
	r.remainingPostings = r.remainingPostings - uint32(n)
	r.minNextDoc = next
	hasRest := r.remainingPostings == 0 && len(b) > postingListPaddingBytes
	if len(b) < postingListPaddingBytes || hasRest {
		return fmt.Errorf("%w: a list has an unknown form", errDamagedSnapshot)
	}
	return nil
}

// appendPostings decodes all postings and appends them to list.
func (r *postingListReader) appendPostings(list []posting) ([]posting, error) {
	for r.remainingPostings > 0 {
		n, err := r.decodeBatch()
		if err != nil {
			return list, err
		}
		for i := range n {
			list = append(list, posting{r.batchDocNumbers[i], r.batchTermFrequencies[i], r.batchScoreImpacts[i]})
		}
	}
	return list, nil
}

// fillPostingColumns decodes a term's list of documents into empty columns. Each document with the term has an impact,
// which bounds the term's contribution to the document's score. fillPostingColumns returns the largest impact.
func (r *postingListReader) fillPostingColumns(w *postingColumns) (largestImpact uint8, err error) {
	for r.remainingPostings > 0 {
		n, err := r.decodeBatch()
		if err != nil {
			return 0, err
		}
		for _, impact := range r.batchScoreImpacts[:n] {
			largestImpact = max(largestImpact, impact)
		}
		w.appendBatch(r.batchDocNumbers[:n], r.batchTermFrequencies[:n], r.batchScoreImpacts[:n])
	}
	w.finishColumns()
	return largestImpact, nil
}

// appendBatch appends postings of one term to the columns. A posting consists of a document number, the term's
// frequency in the document, and the impact, which measures how much the term adds to the document's score. The three
// slices must have the same length.
func (w *postingColumns) appendBatch(docNumbers []uint32, termFrequencies []uint16, scoreImpacts []uint8) {
	w.scoreImpacts = append(w.scoreImpacts, scoreImpacts...)
	from := len(w.docNumberLowBits)
	w.docNumberLowBits = w.docNumberLowBits[:from+len(docNumbers)]
	docs := w.docNumberLowBits[from:]
	for i, number := range docNumbers {
		docs[i] = uint16(number)
	}
	for _, number := range docNumbers {
		w.firstPostingIndexes[number>>w.firstPostingIndexShift]++
	}
	if w.docBitSet != nil {
		for _, number := range docNumbers {
			w.docBitSet[number/64] |= 1 << (number % 64)
		}
	}
	if w.frequencyBytes == nil {
		w.termFrequencies = append(w.termFrequencies, termFrequencies...)
		return
	}
	for i, number := range docNumbers {
		tf := termFrequencies[i] / w.frequencyBytesUnit
		w.frequencyBytes[number] = uint8(min(tf, largeFrequencyByte))
		if tf >= largeFrequencyByte {
			w.largeFrequencyPostings = append(
				w.largeFrequencyPostings,
				posting{number, termFrequencies[i], scoreImpacts[i]},
			)
		}
	}
}

// This file decodes posting lists of a snapshot into postings or columns. It decodes some
// postings at a time, in separate simple loops.

package index

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"sync"
)

// someRead is the number of postings that are decoded at a time. The decoded values fit
// into the processor's L1 cache.
const someRead = 512

// lenOnes is the number of document lengths for which a [listReader] caches impacts.
const lenOnes = 4096

// listReader decodes a posting list.
type listReader struct {
	img  *image
	b    []byte // the rest of the list and listMargin more bytes
	left uint32 // number of postings that are not decoded yet
	next uint64 // smallest possible document number of the next posting

	// The postings that were decoded last.
	numbers [someRead]uint32
	tfs     [someRead]uint16
	impacts [someRead]uint8

	// impacts by document length for a TF of One, 0 if not computed yet (empty for a
	// short list)
	ones  []uint8
	table [lenOnes]uint8 // memory for ones
}

// listMargin is the number of bytes that must follow a list in memory, with any content,
// because the decoder may read that many bytes from the start of any posting.
const listMargin = 8

// listReaders is a pool, because a reader needs about 8 kB.
var listReaders = sync.Pool{New: func() any { return new(listReader) }}

// list returns a reader for a term's posting list at the start of b. The caller must
// release it.
func (img *image) list(t *imageTerm, b []byte) (*listReader, error) {
	r := listReaders.Get().(*listReader)
	r.img = img
	r.b = b[:t.size+listMargin]
	r.left = t.df
	r.next = 0
	r.ones = nil
	if t.df > lenOnes {
		r.ones = r.table[:]
		clear(r.ones)
	}
	if crc32.Checksum(b[:t.size], castagnoli) != t.check {
		return r, fmt.Errorf("%w: the list of a term does not match its checksum", errSnapshot)
	}
	return r, nil
}

// release puts the reader back into listReaders.
func (r *listReader) release() {
	r.img, r.b = nil, nil
	listReaders.Put(r)
}

// decodeSome decodes the next postings and returns their number.
func (r *listReader) decodeSome() (n int, err error) {
	n = int(min(r.left, someRead))
	if err := r.decode(n); err != nil {
		return 0, err
	}
	lens := r.img.lens
	sc := r.img.sc
	ones := r.ones
	for i, number := range r.numbers[:n] {
		dl, tf := lens[number], r.tfs[i]
		switch {
		case dl == unscored:
			return 0, fmt.Errorf("%w: a list names a document that is not there", errSnapshot)
		case tf != One || dl >= uint32(len(ones)):
			r.impacts[i] = sc.impact(tf, dl)
			continue
		case ones[dl] == 0:
			ones[dl] = sc.impact(tf, dl)
		}
		r.impacts[i] = ones[dl]
	}
	return n, nil
}

// longOrTF masks two bits in each of eight bytes: whether the distance has another byte, and whether
// a TF follows. If all these bits are 0, the eight bytes encode eight postings.
const longOrTF = 0x8181818181818181

// decode decodes the document numbers and TFs of the next n postings. A posting has one or
// two bytes in an unpredictable order, so the code does not branch on the length.
func (r *listReader) decode(n int) error {
	b := r.b
	next := r.next
	docs := uint64(len(r.img.lens))
	for i := 0; i < n; i++ {
		if i+8 <= n && len(b) >= 8+listMargin {
			if eight := binary.LittleEndian.Uint64(b); eight&longOrTF == 0 {
				for k := range 8 {
					next += eight & 0xff >> 1
					r.numbers[i+k], r.tfs[i+k] = uint32(next), One
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
		if len(b) <= listMargin {
			return fmt.Errorf("%w: a list is cut short", errSnapshot)
		}
		two := uint64(binary.LittleEndian.Uint16(b))
		more := two >> 7 & 1
		v, size := two&0x7f|two>>8&0x7f<<7&-more, 1+int(more)
		if more&(two>>15) != 0 {
			v, size = binary.Uvarint(b[:len(b)-listMargin])
			if size <= 0 {
				return fmt.Errorf("%w: a list is cut short", errSnapshot)
			}
		}
		b = b[size:]
		tf := uint64(One)
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
	r.b = b
	r.left = r.left - uint32(n)
	r.next = next
	hasRest := r.left == 0 && len(b) > listMargin
	if len(b) < listMargin || hasRest {
		return fmt.Errorf("%w: a list has an unknown form", errSnapshot)
	}
	return nil
}

// appendPostings appends all postings to list.
func (r *listReader) appendPostings(list []posting) ([]posting, error) {
	for r.left > 0 {
		n, err := r.decodeSome()
		if err != nil {
			return list, err
		}
		for i := range n {
			list = append(list, posting{r.numbers[i], r.tfs[i], r.impacts[i]})
		}
	}
	return list, nil
}

// fillColumns adds all postings to empty columns and returns the largest impact.
func (r *listReader) fillColumns(w *columns) (most uint8, err error) {
	for r.left > 0 {
		n, err := r.decodeSome()
		if err != nil {
			return 0, err
		}
		for _, impact := range r.impacts[:n] {
			most = max(most, impact)
		}
		w.pushAll(r.numbers[:n], r.tfs[:n], r.impacts[:n])
	}
	w.finish()
	return most, nil
}

// pushAll adds several postings, like push.
func (w *columns) pushAll(numbers []uint32, tfs []uint16, impacts []uint8) {
	w.impacts = append(w.impacts, impacts...)
	from := len(w.docs)
	w.docs = w.docs[:from+len(numbers)]
	docs := w.docs[from:]
	for i, number := range numbers {
		docs[i] = uint16(number)
	}
	for _, number := range numbers {
		w.starts[number>>w.shift]++
	}
	if w.bits != nil {
		for _, number := range numbers {
			w.bits[number/64] |= 1 << (number % 64)
		}
	}
	if w.dense == nil {
		w.tfs = append(w.tfs, tfs...)
		return
	}
	for i, number := range numbers {
		tf := tfs[i] / w.unit
		w.dense[number] = uint8(min(tf, largeTF))
		if tf >= largeTF {
			w.large = append(w.large, posting{number, tfs[i], impacts[i]})
		}
	}
}

// A view is an index segment (a group of documents) together with a list that contains the segment's deleted documents.
// This file counts the documents of a view that contain a term and are not deleted. Such counts are needed if the terms
// of the deleted documents are not known.

package index

import (
	"math"
	"math/bits"
	"strings"
)

// countDF counts the view's documents that have the term and are not deleted.
func (v *segmentView) countDF(text string, hash uint64) int {
	if v.snapshot != nil {
		d := v.snapshot.loadDocuments(text)
		return v.countLiveBits(d.docBitSet) + v.countLiveDocNumbers(d.docNumbers) + v.countLivePostings(d.postings)
	}
	var one [1]posting
	alone := one[:0]
	f, _ := v.findTerm(text, hash, &alone)
	return v.countLivePostings(f.postings)
}

func (v *segmentView) countLivePostings(p postings) (n int) {
	for _, q := range p.list {
		if !v.isDeleted(q.docNumber) {
			n++
		}
	}
	switch w := p.columns; {
	case w == nil:
	case w.docBitSet != nil:
		n += v.countLiveBits(w.docBitSet)
	default:
		for i, upper := 0, uint32(0); i < p.count(); i++ {
			if !v.isDeleted(w.postingAt(i, &upper).docNumber) {
				n++
			}
		}
	}
	return n
}

func (v *segmentView) countLiveDocNumbers(docNumbers []uint32) (n int) {
	for _, number := range docNumbers {
		if !v.isDeleted(number) {
			n++
		}
	}
	return n
}

func (v *segmentView) countLiveBits(docBitSet []uint64) (n int) {
	for i, set := range docBitSet {
		if v.deletedBitSet != nil {
			set &^= v.deletedBitSet[i]
		}
		n += bits.OnesCount64(set)
	}
	return n
}

// eachLiveTerm calls fn with each term that begins with prefix, until fn returns false. df is the number of documents
// that contain the term and are not deleted.
func (v *segmentView) eachLiveTerm(prefix string, fn func(text string, df int) bool) {
	if v.snapshot != nil {
		v.snapshot.eachTermDocuments(prefix, func(text string, numbers []uint32) bool {
			return fn(text, v.countLiveDocNumbers(numbers))
		})
		return
	}
	var room []posting
	for n := range v.termCount() {
		text := v.termCountsAt(n).text
		if strings.HasPrefix(text, prefix) &&
			!fn(text, v.countLivePostings(postings{list: v.termPostings(n, &room)})) {
			return
		}
	}
}

// eachTermDocuments calls the function fn for each term that begins with prefix, in order, until fn returns false. It
// passes the term's text and the numbers of the documents that contain the term. The slice numbers is valid until the
// next call of fn. eachTermDocuments does not cache the blocks that it reads. If a block cannot be read,
// eachTermDocuments records the error in img and ends.
func (img *snapshotTerms) eachTermDocuments(prefix string, fn func(text string, numbers []uint32) bool) {
	first, last := img.findPrefixTermRange(prefix)
	var numbers []uint32
	for n := first; n < last && img.docs.Err() == nil; n += termsPerBlock {
		k := &img.blocks[n/termsPerBlock]
		ts, err := img.readBlock(k)
		if err != nil {
			img.recordReadError(err)
			return
		}
		var lists []byte // posting lists of the block, or nil while no term of the block has the prefix
		for i := range ts {
			t := &ts[i]
			if !strings.HasPrefix(t.text, prefix) {
				continue
			}
			if lists == nil {
				lists, err = readBytesAt(img.reader, k.listsOffset, int64(k.listsSize), math.MaxInt64)
			}
			if err == nil {
				numbers, err = img.appendDocuments(numbers[:0], t, lists[t.listOffset-k.listsOffset:])
			}
			if err != nil {
				img.recordReadError(err)
				return
			}
			if !fn(t.text, numbers) {
				return
			}
		}
	}
}

// appendDocuments appends the numbers of the documents that contain the term t to the slice numbers, and returns the
// extended slice. The slice b must begin with the term's encoded posting list, which is the list of these documents. If
// the list cannot be decoded, appendDocuments returns an error and the numbers that it has decoded so far.
func (img *snapshotTerms) appendDocuments(numbers []uint32, t *snapshotTerm, b []byte) ([]uint32, error) {
	r, err := img.openPostingList(t, b)
	defer r.returnToPool()
	for err == nil && r.remainingPostings > 0 {
		n := int(min(r.remainingPostings, decodeBatchSize))
		err = r.decodePostings(n)
		if err == nil {
			numbers = append(numbers, r.batchDocNumbers[:n]...)
		}
	}
	return numbers, err
}

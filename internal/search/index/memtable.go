// This file implements the memtable, a hash table with the terms of the newest documents. Readers may use it while
// documents are added.

package index

import (
	"math"
	"sync/atomic"
)

// memtable contains the terms of a segment that is still growing. A new version of the memtable follows each change,
// and all versions share the same arrays. A version uses the elements up to its own lengths, and new elements are
// written after these. The elements are linked in chains that start with the newest element, so a reader skips elements
// that are newer than its version. If an array is full, the next version gets larger arrays.
//
//	slots      hash ──► newest term ──► the term before it in the slot ──► …
//	terms      its text ─► newest posting ──► the posting before it ──► …
//	postings   {document, tf}, or {deletedElsewhereMark}
//
// A posting normally consists of a document that contains the term, and the term's frequency in the document. A posting
// with deletedElsewhereMark says that a document with the term was deleted from another segment.
type memtable struct {
	// hash table: for each slot, the number of the newest term in the slot, plus 1, or 0 (the slot count is a power of
	// two)
	newestTermBySlot []uint32
	terms            []memTerm
	postings         []memPosting
	postingEnds      []uint32 // for each document, the index in postings after the document's last posting
}

type memTerm struct {
	text        string
	hash        uint64
	nextInSlot  uint32 // number of the next older term in the same slot of the hash table, plus 1
	lastPosting uint32 // number of the term's newest posting, which is an index in memtable.postings, plus 1
}

type memPosting struct {
	term        uint32
	docNumber   uint32 // number of the document that contains the term, or deletedElsewhereMark
	prevPosting uint32 // index, plus 1, of the previous posting with the same term, or 0 if there is none
	tf          uint16
}

// deletedElsewhereMark, in place of a document number, means that a document with the term was deleted from an older
// index part.
const deletedElsewhereMark = math.MaxUint32

// A memtable with maxMemDocs documents, or with maxMemPostings pairs of a term and a document, is full. A call that
// fills a memtable may still add all its changes, but a single call adds fewer than maxMemDocs documents. Therefore a
// memtable always has fewer than 64 documents, so that one 64-bit word has a bit for each document.
const (
	maxMemDocs     = 32
	maxMemPostings = 1 << 14
	minMemCapacity = 512 // initial capacity for postings
)

// isFull reports whether the memtable must be converted to an ordinary segment.
func (m *memtable) isFull() bool {
	return len(m.postingEnds) >= maxMemDocs || len(m.postings) >= maxMemPostings
}

// findTerm returns the number of the term with this text and hash. It returns false for an unknown term.
func (m *memtable) findTerm(text string, hash uint64) (uint32, bool) {
	if len(m.newestTermBySlot) == 0 {
		return 0, false
	}
	terms := m.terms[:cap(m.terms)]
	slot := int(hash) & (len(m.newestTermBySlot) - 1)
	for i := atomic.LoadUint32(&m.newestTermBySlot[slot]); i > 0; i = terms[i-1].nextInSlot {
		t := &terms[i-1]
		if int(i) > len(m.terms) || t.hash != hash {
			continue
		}
		if t.text == text {
			return i - 1, true
		}
	}
	return 0, false
}

// eachPosting calls fn with each posting of term n, the newest first.
func (m *memtable) eachPosting(n uint32, fn func(p *memPosting)) {
	postings := m.postings[:cap(m.postings)]
	for i := atomic.LoadUint32(&m.terms[n].lastPosting); i > 0; i = postings[i-1].prevPosting {
		if int(i) <= len(m.postings) {
			fn(&postings[i-1])
		}
	}
}

// countDocuments returns two counts for term n. df is the number of documents in the memtable that contain the term.
// lostCount is the number of documents with the term that were deleted from other segments since the memtable was
// created.
func (m *memtable) countDocuments(n uint32) (df, lostCount int) {
	m.eachPosting(n, func(p *memPosting) {
		if p.docNumber == deletedElsewhereMark {
			lostCount++
		} else {
			df++
		}
	})
	return df, lostCount
}

// appendPostings appends the postings of term n to list, and returns the extended list. The appended postings are in
// ascending order of their documents. A posting names a document that contains the term. The result deletedElsewhere is
// the number of documents with the term that were deleted, but that are stored in segments of the index other than this
// memtable. The upper bounds of the term's contributions to scores (impacts) are set to the maximum, because they are
// not computed for the newest documents.
func (m *memtable) appendPostings(list []posting, n uint32) (_ []posting, deletedElsewhere int) {
	from := len(list)
	m.eachPosting(n, func(p *memPosting) {
		if p.docNumber == deletedElsewhereMark {
			deletedElsewhere++
		} else {
			list = append(list, posting{p.docNumber, p.tf, maxScoreImpact})
		}
	})
	for i, j := from, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list, deletedElsewhere
}

// eachDocumentTerm calls fn with the number of each term in a document.
func (m *memtable) eachDocumentTerm(number uint32, fn func(n uint32)) {
	from := uint32(0)
	if number > 0 {
		from = m.postingEnds[number-1]
	}
	for _, p := range m.postings[from:m.postingEnds[number]] {
		if p.docNumber == number {
			fn(p.term)
		}
	}
}

// addPosting records that a document contains a term. Readers must not use this version of the memtable yet. doc is
// the number of the newest document, or deletedElsewhereMark.
func (m *memtable) addPosting(text string, hash uint64, doc uint32, tf uint16) {
	if len(m.terms) == cap(m.terms) || len(m.postings) == cap(m.postings) {
		m.growTermArrays()
	}
	n, ok := m.findTerm(text, hash)
	if !ok {
		n = uint32(len(m.terms))
		m.terms = append(m.terms, memTerm{text: text, hash: hash})
		m.insertTermInSlotChain(n)
	}
	t := &m.terms[n]
	if t.lastPosting > 0 && doc != deletedElsewhereMark {
		// The document contains the term several times, so add to its posting.
		if p := &m.postings[t.lastPosting-1]; p.docNumber == doc {
			p.tf = uint16(min(uint32(p.tf)+uint32(tf), math.MaxUint16))
			return
		}
	}
	m.postings = append(m.postings, memPosting{n, doc, t.lastPosting, tf})
	atomic.StoreUint32(&t.lastPosting, uint32(len(m.postings)))
}

// insertTermInSlotChain inserts term n at the start of the linked list that contains the terms in the same hash table
// slot.
func (m *memtable) insertTermInSlotChain(n uint32) {
	slot := &m.newestTermBySlot[int(m.terms[n].hash)&(len(m.newestTermBySlot)-1)]
	m.terms[n].nextInSlot = *slot
	atomic.StoreUint32(slot, n+1)
}

// growTermArrays doubles the capacity of the memtable's arrays. Readers must not use this version of the memtable yet.
func (m *memtable) growTermArrays() {
	room := max(minMemCapacity, 2*cap(m.postings))
	m.postings = append(make([]memPosting, 0, room), m.postings...)
	m.terms = append(make([]memTerm, 0, room/2), m.terms...)
	m.newestTermBySlot = make([]uint32, room/2)
	for n := range m.terms {
		m.insertTermInSlotChain(uint32(n))
	}
}

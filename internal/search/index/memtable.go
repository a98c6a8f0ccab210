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
	terms            []memtableTerm
	postings         []memtablePosting
	postingEnds      []uint32 // for each document, the index in postings after the document's last posting
}

type memtableTerm struct {
	text        string
	hash        uint64
	nextInSlot  uint32 // number of the next older term in the same slot of the hash table, plus 1
	lastPosting uint32 // number of the term's newest posting, which is an index in memtable.postings, plus 1
}

type memtablePosting struct {
	term          uint32
	docNumber     uint32 // number of the document that contains the term, or deletedElsewhereMark
	prevPosting   uint32 // index, plus 1, of the previous posting with the same term, or 0 if there is none
	termFrequency uint16
}

// deletedElsewhereMark, in place of a document number, means that a document with the term was deleted from an older
// index part.
const deletedElsewhereMark = math.MaxUint32

// A memtable with maxMemtableDocs documents, or with maxMemtablePostings pairs of a term and a document, is full. A
// call that fills a memtable may still add all its changes, but a single call adds fewer than maxMemtableDocs
// documents. Therefore a memtable always has fewer than 64 documents, so that one 64-bit word has a bit for each
// document.
const (
	maxMemtableDocs        = 32
	maxMemtablePostings    = 1 << 14
	initialPostingCapacity = 512 // initial capacity for postings
)

// isFull reports whether the memtable must be converted to an ordinary segment.
func (m *memtable) isFull() bool {
	return len(m.postingEnds) >= maxMemtableDocs || len(m.postings) >= maxMemtablePostings
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

// eachPosting calls fn with each posting of the term with the number termNumber, the newest first.
func (m *memtable) eachPosting(termNumber uint32, fn func(p *memtablePosting)) {
	postings := m.postings[:cap(m.postings)]
	for i := atomic.LoadUint32(&m.terms[termNumber].lastPosting); i > 0; i = postings[i-1].prevPosting {
		if int(i) <= len(m.postings) {
			fn(&postings[i-1])
		}
	}
}

// countDocuments returns two counts for the term with the number termNumber. docFrequency is the number of documents in
// the memtable that contain the term. lostCount is the number of documents with the term that were deleted from other
// segments since the memtable was created.
func (m *memtable) countDocuments(termNumber uint32) (docFrequency, lostCount int) {
	m.eachPosting(termNumber, func(p *memtablePosting) {
		if p.docNumber == deletedElsewhereMark {
			lostCount++
		} else {
			docFrequency++
		}
	})
	return docFrequency, lostCount
}

// appendPostings appends the postings of the term with the number termNumber to the slice list, and returns the
// extended slice. A posting says that a document contains the term. The appended postings are in ascending order of
// their document numbers. Their score impacts, which are upper bounds of the term's contributions to scores, are set to
// the maximum, because they are not computed for the newest documents.
//
// The memtable also records which terms were in documents that were deleted from other segments. The result
// deletedElsewhere is the number of such documents that contained the term.
func (m *memtable) appendPostings(list []posting, termNumber uint32) (_ []posting, deletedElsewhere int) {
	from := len(list)
	m.eachPosting(termNumber, func(p *memtablePosting) {
		if p.docNumber == deletedElsewhereMark {
			deletedElsewhere++
		} else {
			list = append(list, posting{p.docNumber, p.termFrequency, maxScoreImpact})
		}
	})
	for i, j := from, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list, deletedElsewhere
}

// eachDocumentTerm calls fn with the number of each term in a document.
func (m *memtable) eachDocumentTerm(docNumber uint32, fn func(n uint32)) {
	from := uint32(0)
	if docNumber > 0 {
		from = m.postingEnds[docNumber-1]
	}
	for _, p := range m.postings[from:m.postingEnds[docNumber]] {
		if p.docNumber == docNumber {
			fn(p.term)
		}
	}
}

// addPosting records that the newest document of the memtable, which has the number docNumber, contains a term. If
// docNumber is deletedElsewhereMark, addPosting records instead that a document with the term was deleted from another
// segment. The memtable must be a new version that no reader uses yet.
func (m *memtable) addPosting(text string, hash uint64, docNumber uint32, termFrequency uint16) {
	if len(m.terms) == cap(m.terms) || len(m.postings) == cap(m.postings) {
		m.growTermArrays()
	}
	n, ok := m.findTerm(text, hash)
	if !ok {
		n = uint32(len(m.terms))
		m.terms = append(m.terms, memtableTerm{text: text, hash: hash})
		m.insertTermInSlotChain(n)
	}
	t := &m.terms[n]
	if t.lastPosting > 0 && docNumber != deletedElsewhereMark {
		// The document contains the term several times, so add to its posting.
		if p := &m.postings[t.lastPosting-1]; p.docNumber == docNumber {
			p.termFrequency = uint16(min(uint32(p.termFrequency)+uint32(termFrequency), math.MaxUint16))
			return
		}
	}
	m.postings = append(m.postings, memtablePosting{n, docNumber, t.lastPosting, termFrequency})
	atomic.StoreUint32(&t.lastPosting, uint32(len(m.postings)))
}

// insertTermInSlotChain inserts the term with the number termNumber at the start of the linked list that contains the
// terms in the same hash table slot.
func (m *memtable) insertTermInSlotChain(termNumber uint32) {
	slot := &m.newestTermBySlot[int(m.terms[termNumber].hash)&(len(m.newestTermBySlot)-1)]
	m.terms[termNumber].nextInSlot = *slot
	atomic.StoreUint32(slot, termNumber+1)
}

// growTermArrays doubles the capacity of the memtable's arrays. Readers must not use this version of the memtable yet.
func (m *memtable) growTermArrays() {
	room := max(initialPostingCapacity, 2*cap(m.postings))
	m.postings = append(make([]memtablePosting, 0, room), m.postings...)
	m.terms = append(make([]memtableTerm, 0, room/2), m.terms...)
	m.newestTermBySlot = make([]uint32, room/2)
	for n := range m.terms {
		m.insertTermInSlotChain(uint32(n))
	}
}

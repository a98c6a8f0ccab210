// This file implements the memtable, a hash table with the terms of the newest documents.
// A memtable grows while readers use it.

package index

import (
	"math"
	"sync/atomic"
)

// memtable has the terms of a segment that is still growing. All its versions share the
// same arrays. A version uses the elements below its own lengths, and new elements are
// written after those. Chains start with the newest element, so a reader skips elements
// that are newer than its version. If an array is full, the next version gets larger
// arrays.
//
//	slots      hash ──► newest term ──► the term before it in the slot ──► …
//	terms      its text ─► newest posting ──► the posting before it ──► …
//	postings   {document, tf}, or that a document of another segment lost the term
type memtable struct {
	slots    []uint32 // term number plus 1, or 0 (the length is a power of two)
	terms    []memTerm
	postings []memPosting
	ends     []uint32 // end of each document's postings, by document number
}

type memTerm struct {
	text string
	hash uint64
	next uint32 // next older term in the same slot, plus 1
	last uint32 // newest posting, plus 1
}

type memPosting struct {
	term   uint32
	doc    uint32 // document number or lostPosting
	before uint32 // next older posting of the term, plus 1
	tf     uint16
}

// lostPosting is the document number for a document that was deleted from another segment.
const lostPosting = math.MaxUint32

// A memtable with this many documents or postings is full. Even with the changes of another call, a
// memtable has less than 64 documents, so that a word has a bit for each document.
const (
	memDocs     = 32
	memPostings = 1 << 14
	memLeast    = 512 // initial capacity for postings
)

// isFull reports whether the memtable must be converted to a segment.
func (m *memtable) isFull() bool { return len(m.ends) >= memDocs || len(m.postings) >= memPostings }

// find returns the number of the term with this text and hash.
func (m *memtable) find(text string, hash uint64) (uint32, bool) {
	if len(m.slots) == 0 {
		return 0, false
	}
	terms := m.terms[:cap(m.terms)]
	for i := atomic.LoadUint32(&m.slots[int(hash)&(len(m.slots)-1)]); i > 0; i = terms[i-1].next {
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

// each calls fn with the postings of a term, newest first.
func (m *memtable) each(n uint32, fn func(p *memPosting)) {
	postings := m.postings[:cap(m.postings)]
	for i := atomic.LoadUint32(&m.terms[n].last); i > 0; i = postings[i-1].before {
		if int(i) <= len(m.postings) {
			fn(&postings[i-1])
		}
	}
}

// count returns the number of documents that have the term, and the number of documents
// that lost it.
func (m *memtable) count(n uint32) (df, lost int) {
	m.each(n, func(p *memPosting) {
		if p.doc == lostPosting {
			lost++
		} else {
			df++
		}
	})
	return df, lost
}

// appendPostings appends a term's postings to list, in ascending order of documents. It
// also returns the number of documents that lost the term. All impacts are set to the
// maximum.
func (m *memtable) appendPostings(list []posting, n uint32) (_ []posting, lost int) {
	from := len(list)
	m.each(n, func(p *memPosting) {
		if p.doc == lostPosting {
			lost++
		} else {
			list = append(list, posting{p.doc, p.tf, impactSteps})
		}
	})
	for i, j := from, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list, lost
}

// eachTerm calls fn with the numbers of a document's terms.
func (m *memtable) eachTerm(number uint32, fn func(n uint32)) {
	from := uint32(0)
	if number > 0 {
		from = m.ends[number-1]
	}
	for _, p := range m.postings[from:m.ends[number]] {
		if p.doc == number {
			fn(p.term)
		}
	}
}

// add adds a posting to a version that is not published yet. doc is the number of the newest
// document so far, or lostPosting.
func (m *memtable) add(text string, hash uint64, doc uint32, tf uint16) {
	if len(m.terms) == cap(m.terms) || len(m.postings) == cap(m.postings) {
		m.grow()
	}
	n, ok := m.find(text, hash)
	if !ok {
		n = uint32(len(m.terms))
		m.terms = append(m.terms, memTerm{text: text, hash: hash})
		m.link(n)
	}
	t := &m.terms[n]
	if t.last > 0 && doc != lostPosting {
		if p := &m.postings[t.last-1]; p.doc == doc { // a document that contains the term twice has a single posting
			p.tf = uint16(min(uint32(p.tf)+uint32(tf), math.MaxUint16))
			return
		}
	}
	m.postings = append(m.postings, memPosting{n, doc, t.last, tf})
	atomic.StoreUint32(&t.last, uint32(len(m.postings)))
}

// link inserts a term at the start of its slot's chain.
func (m *memtable) link(n uint32) {
	slot := &m.slots[int(m.terms[n].hash)&(len(m.slots)-1)]
	m.terms[n].next = *slot
	atomic.StoreUint32(slot, n+1)
}

// grow doubles the arrays' capacity. The version must not be published yet.
func (m *memtable) grow() {
	room := max(memLeast, 2*cap(m.postings))
	m.postings = append(make([]memPosting, 0, room), m.postings...)
	m.terms = append(make([]memTerm, 0, room/2), m.terms...)
	m.slots = make([]uint32, room/2)
	for n := range m.terms {
		m.link(uint32(n))
	}
}

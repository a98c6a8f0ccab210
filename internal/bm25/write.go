// This file holds the changes: put, delete and compaction.

package bm25

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// Put adds the document, or replaces the one of that id. newer breaks ties
// between equal scores: larger comes first. The texts of the terms are copied
// where the index keeps them. The cost is that of the document's own terms.
func (x *Index) Put(id uint64, newer int64, d Doc) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(id)
	if len(d.Terms) > 0 || x.countEmpty {
		x.add(id, newer, d)
	}
	x.compactIfWorthIt()
	x.settle()
}

// Delete removes the document of that id, if there is one.
func (x *Index) Delete(id uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(id)
	x.compactIfWorthIt()
	x.settle()
}

// add appends a document. Its number is the largest, so lists stay sorted.
func (x *Index) add(id uint64, newer int64, d Doc) {
	number := uint32(len(x.docs))
	distinct := x.distinct[:0]
	dl := min(d.Len, dead-1)
	for _, w := range d.Terms {
		if w.TF == 0 {
			continue
		}
		n := x.lookUp(w.Text)
		t := &x.terms[n]
		if t.pending == 0 {
			distinct = append(distinct, n)
		}
		t.pending = uint16(min(uint32(t.pending)+uint32(w.TF), math.MaxUint16))
	}
	scale := x.ofImpacts()
	k := scale.rest + float64(scale.slope*float64(dl))
	for _, n := range distinct {
		t := &x.terms[n]
		if len(t.list) == cap(t.list) && len(t.list)-int(t.df) > len(t.list)/3 {
			// A document that is rewritten often fills the lists of its
			// terms with the dead. Room is made before any is asked for.
			t.list = slices.DeleteFunc(t.list, func(p posting) bool { return x.lens[p.doc] == dead })
			t.setGuide()
		}
		t.push(posting{number, t.pending, impact(float64(t.pending), k)})
		t.df++
		t.pending = 0
	}
	slices.Sort(distinct)
	x.docs = append(x.docs, doc{id, newer, packTerms(distinct)})
	x.date(d.Time)
	x.lens = append(x.lens, dl)
	x.numbers[id] = number
	x.living++
	x.total += uint64(dl)
	x.distinct = distinct
}

// lookUp returns the number of a term, which may be new. A text has few words
// often: those looked up last are found without the dictionary.
func (x *Index) lookUp(text string) uint32 {
	if x.recent == nil {
		x.recent = new([recents]uint32)
	}
	r := &x.recent[place(text)]
	if n := *r; int(n) < len(x.terms) && x.terms[n].text == text && text != "" {
		return n
	}
	n, ok := x.dict[text]
	if !ok {
		n = x.newTerm(text)
	}
	*r = n
	return n
}

// packTerms returns rising numbers as varints, each less the one before: about
// two bytes each.
func packTerms(numbers []uint32) []byte {
	n, last := 0, uint32(0)
	for _, k := range numbers {
		n += (bits.Len32((k-last)|1) + 6) / 7
		last = k
	}
	b := make([]byte, 0, n)
	last = 0
	for _, k := range numbers {
		b = binary.AppendUvarint(b, uint64(k-last))
		last = k
	}
	return b
}

// eachTerm calls fn with the numbers that packTerms wrote.
func eachTerm(b []byte, fn func(n uint32)) {
	last := uint32(0)
	for len(b) > 0 {
		k, n := binary.Uvarint(b)
		b = b[n:]
		last += uint32(k)
		fn(last)
	}
}

// newTerm gives the term a number. The text is copied: it is often a slice of
// a whole document.
func (x *Index) newTerm(text string) uint32 {
	text = strings.Clone(text)
	var n uint32
	if last := len(x.spare) - 1; last >= 0 {
		n = x.spare[last]
		x.spare = x.spare[:last]
		x.terms[n] = term{text: text, waits: x.image != nil}
	} else {
		n = uint32(len(x.terms))
		x.terms = append(x.terms, term{text: text, waits: x.image != nil})
	}
	x.dict[text] = n
	return n
}

// remove takes a document out of all counts. Its postings stay, and count for
// nothing; a term that no other document holds goes with its list.
func (x *Index) remove(id uint64) {
	number, ok := x.number(id)
	if !ok {
		return
	}
	d := &x.docs[number]
	if d.terms == nil && len(x.terms) > noteFrom {
		x.note()
	}
	if d.terms != nil {
		eachTerm(d.terms, x.uncount)
		d.terms = nil
	} else {
		// The terms of the document are not noted: they are those whose lists
		// hold it. The lists that are still in the image leave
		// out the dead when they are read.
		for n := range x.terms {
			if t := &x.terms[n]; t.df > 0 && t.tf(number) > 0 {
				x.uncount(uint32(n))
			}
		}
	}
	x.living--
	x.total -= uint64(x.lens[number])
	x.lens[number] = dead
	delete(x.numbers, id)
}

// isLoaded reports whether the number is that of a document of the image.
func (x *Index) isLoaded(number uint32) bool { return int(number) < len(x.loaded) }

// uncount takes one document from a term.
func (x *Index) uncount(n uint32) {
	t := &x.terms[n]
	if t.df--; t.df == 0 {
		delete(x.dict, t.text)
		*t = term{}
		x.spare = append(x.spare, n)
	}
}

// Compaction costs about a nanosecond for each posting of the index. It comes
// after at least minDead deletions, and after as many as make the dead more
// than 3 in 10.
const minDead = 64

func (x *Index) compactIfWorthIt() {
	if n := len(x.docs) - x.living; n >= minDead && n*10 > len(x.docs)*3 {
		x.compact()
	}
}

// compact drops the dead and numbers the living anew, in the same order, so
// that lists stay sorted.
func (x *Index) compact() {
	x.readAll() // the image knows documents by their old numbers
	if x.err != nil {
		return
	}
	number := make([]uint32, len(x.docs)) // old to new
	var n uint32
	unnoted := 0
	for i, dl := range x.lens {
		if dl == dead {
			number[i] = dead
			continue
		}
		number[i] = n
		x.docs[n], x.lens[n], x.times[n] = x.docs[i], dl, x.times[i]
		if !x.isLoaded(uint32(i)) {
			x.numbers[x.docs[n].id] = n
		}
		if i < x.unnoted {
			unnoted++
		}
		n++
	}
	clear(x.docs[n:])
	x.docs, x.lens = fit(x.docs[:n]), fit(x.lens[:n])
	x.dateAll(fit(x.times[:n]))
	kept := x.loaded[:0]
	for _, l := range x.loaded {
		if number[l] != dead {
			kept = append(kept, number[l])
		}
	}
	x.loaded, x.unnoted = kept, unnoted

	var room []posting
	for i := range x.terms {
		t := &x.terms[i]
		list := t.postings(room[:0])
		kept := list[:0]
		for _, p := range list {
			if to := number[p.doc]; to != dead {
				kept = append(kept, posting{to, p.tf, p.impact})
			}
		}
		if t.wide != nil {
			room, kept = list, slices.Clone(kept)
		}
		t.setList(fit(kept), int(n))
	}
}

// fit moves s to a smaller array when more than half of its own is unused.
func fit[E any](s []E) []E {
	if cap(s) > 2*len(s)+8 {
		return slices.Clone(s)
	}
	return s
}

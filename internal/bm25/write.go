// This file holds the changes: put, delete and compaction.

package bm25

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
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
	dl := min(d.Len, dead-1)
	terms := x.countTerms(d)
	terms, x.room = sortNumbers(terms, x.room)
	x.readAhead(terms)
	scale := x.ofImpacts()
	k := scale.rest + float64(scale.slope*float64(dl))
	for _, n := range terms {
		t := &x.terms[n]
		x.push(t, posting{number, t.pending, impact(float64(t.pending), k)})
		t.pending = 0
	}
	x.distinct = terms
	x.docs = append(x.docs, doc{id, newer, x.packTerms(terms)})
	x.date(d.Time)
	x.lens = append(x.lens, dl)
	x.numbers.insert(idHash(id), number)
	x.living++
	x.total += uint64(dl)
}

// countTerms returns the numbers of the document's terms, each once, and leaves
// how often they stand in it in their pending. New terms are made; the document
// counts in the df of all. What is returned is valid until the next call.
func (x *Index) countTerms(d Doc) []uint32 {
	x.distinct = x.distinct[:0]
	for some := range slices.Chunk(d.Terms, len(lookedUp{}.hashes)) {
		x.countSome(some)
	}
	return x.distinct
}

// lookedUp is some terms of a document.
type lookedUp struct {
	hashes [128]uint64
	first  [128]uint32 // of the dictionary
}

// countSome is countTerms for some of the terms. Most of the time goes into
// waiting for memory: for the texts, the dictionary, the terms. What does not
// hang on each other is looked at in loops of their own, so that much is waited
// for at once.
func (x *Index) countSome(words []Term) {
	var l lookedUp
	for i := range words {
		l.hashes[i] = maphash.String(x.seed, words[i].Text)
	}
	for i := range words {
		l.first[i] = x.dict.first(l.hashes[i])
	}
	for i := range words {
		w := &words[i]
		if w.TF == 0 {
			continue
		}
		n := l.first[i] - 1
		if l.first[i] == 0 || x.texts.get(x.terms[n].text) != w.Text {
			var ok bool
			if n, ok = x.look(w.Text, l.hashes[i]); !ok {
				n = x.newTerm(w.Text, l.hashes[i])
			}
		}
		t := &x.terms[n]
		if t.pending == 0 {
			x.distinct = append(x.distinct, n)
			t.df++
		}
		t.pending = uint16(min(uint32(t.pending)+uint32(w.TF), math.MaxUint16))
	}
}

// readAhead reads where the next postings of the terms will go. Nobody needs
// what it finds: it is about waiting for memory once, not at each of them.
func (x *Index) readAhead(terms []uint32) {
	sum := uint32(0)
	for _, n := range terms {
		if t := &x.terms[n]; t.many {
			p := &x.places[t.at]
			if list := p.list; len(list) > 0 {
				sum += list[len(list)-1].doc
			} else if w := p.wide; w != nil && len(w.tfs) > 0 {
				sum += uint32(w.tfs[len(w.tfs)-1]) + uint32(w.impacts[len(w.impacts)-1]) + w.stretches[len(w.stretches)-1].before
			}
		}
	}
	x.unused = sum
}

// sortNumbers sorts numbers by one byte after another. It returns them, and
// room for the next time.
func sortNumbers(ns, room []uint32) (sorted, other []uint32) {
	if len(ns) < 32 {
		slices.Sort(ns)
		return ns, room
	}
	most := slices.Max(ns)
	room = slices.Grow(room[:0], len(ns))[:len(ns)]
	for shift := 0; most>>shift > 0; shift += 8 {
		var at [256]uint32
		for _, n := range ns {
			at[uint8(n>>shift)]++
		}
		sum := uint32(0)
		for i, n := range at {
			at[i], sum = sum, sum+n
		}
		for _, n := range ns {
			to := &at[uint8(n>>shift)]
			room[*to] = n
			*to++
		}
		ns, room = room, ns
	}
	return ns, room
}

// packTerms returns rising numbers as varints, each less the one before: about
// two bytes each.
func (x *Index) packTerms(numbers []uint32) string {
	b, last := x.packed[:0], uint32(0)
	for _, k := range numbers {
		b = binary.AppendUvarint(b, uint64(k-last))
		last = k
	}
	x.packed = b
	return string(b)
}

// eachTerm calls fn with the numbers that packTerms wrote.
func eachTerm(s string, fn func(n uint32)) {
	last, step, shift := uint32(0), uint32(0), 0
	for i := range len(s) {
		step |= uint32(s[i]&0x7f) << shift
		if shift += 7; s[i] < 0x80 {
			last += step
			step, shift = 0, 0
			fn(last)
		}
	}
}

// remove takes a document out of all counts. Its postings stay, and count for
// nothing; a term that no other document holds goes with its list.
func (x *Index) remove(id uint64) {
	number, ok := x.number(id)
	if !ok {
		return
	}
	d := &x.docs[number]
	if int(number) < x.unnoted && len(x.terms) > noteFrom {
		x.note()
	}
	if int(number) >= x.unnoted {
		eachTerm(d.terms, x.uncount)
		d.terms = ""
	} else {
		// The terms of the document are not noted: they are those whose lists
		// hold it. The lists that are still in the image leave
		// out the dead when they are read.
		for n := range x.terms {
			if t := &x.terms[n]; t.df > 0 && x.tf(t, number) > 0 {
				x.uncount(uint32(n))
			}
		}
	}
	x.living--
	x.total -= uint64(x.lens[number])
	x.lens[number] = dead
	if !x.isLoaded(number) {
		x.numbers.remove(idHash(id), number)
	}
}

// isLoaded reports whether the number is that of a document of the image.
func (x *Index) isLoaded(number uint32) bool { return int(number) < len(x.loaded) }

// Compaction costs about a nanosecond for each posting of the index. It comes
// after at least minDead deletions, and after as many as make the dead more
// than 3 in 10.
const minDead = 64

func (x *Index) compactIfWorthIt() {
	if n := len(x.docs) - x.living; n >= minDead && n*10 > len(x.docs)*3 {
		x.compact()
	}
	if x.texts.worthRenewing() {
		x.renewTexts()
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
	var anew numbers
	unnoted := 0
	for i, dl := range x.lens {
		if dl == dead {
			number[i] = dead
			continue
		}
		number[i] = n
		x.docs[n], x.lens[n], x.times[n] = x.docs[i], dl, x.times[i]
		if !x.isLoaded(uint32(i)) {
			anew.insert(idHash(x.docs[n].id), n)
		}
		if i < x.unnoted {
			unnoted++
		}
		n++
	}
	x.numbers = anew
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
		if !t.many {
			if t.tf > 0 {
				t.at = number[t.at] // it lives
			}
			continue
		}
		list := x.postings(t, &room)
		kept := list[:0]
		for _, p := range list {
			if to := number[p.doc]; to != dead {
				kept = append(kept, posting{to, p.tf, p.impact})
			}
		}
		if x.places[t.at].wide != nil {
			kept = slices.Clone(kept)
		}
		x.setPostings(t, fit(kept), int(n))
	}
}

// fit moves s to a smaller array when more than half of its own is unused.
func fit[E any](s []E) []E {
	if cap(s) > 2*len(s)+8 {
		return slices.Clone(s)
	}
	return s
}

// This file holds the dictionary: the terms, and how one is found, made and
// given up.

package bm25

import (
	"hash/maphash"
	"slices"
)

// term is a word and where it stands. It lives as long as a living document
// holds it. Most terms stand in one document: they have their posting in
// themselves. There are no pointers in a term, so that the garbage collector
// need not look at it.
type term struct {
	text    uint32 // in texts
	df      uint32 // living documents among its postings
	at      uint32 // which of the places it has or, without places, the document of its only posting
	tf      uint16 // of its only posting, 0 when there is none
	pending uint16 // tf in the document being put
	most    uint8  // the largest impact; what has died may hold it too large until the next compaction
	many    bool   // it has places
	waits   bool   // the postings that the image has are not here yet
}

// alone returns the only posting of a term without places. Nobody holds the
// term if its tf is 0.
func (t *term) alone() posting { return posting{t.at, t.tf, t.most} }

// text returns the text of a term.
func (x *Index) text(t *term) string { return x.texts.get(t.text) }

// lookUp returns the number of a term.
func (x *Index) lookUp(text string) (uint32, bool) {
	return x.look(text, maphash.String(x.seed, text))
}

// look is lookUp when the hash is known.
func (x *Index) look(text string, hash uint64) (uint32, bool) {
	return x.dict.find(hash, func(n uint32) bool { return x.texts.get(x.terms[n].text) == text })
}

// newTerm gives the term of that hash a number. The text is copied: it is often
// a slice of a whole document.
func (x *Index) newTerm(text string, hash uint64) uint32 {
	t := term{text: x.texts.add(text), waits: x.image != nil}
	var n uint32
	if last := len(x.spare) - 1; last >= 0 {
		n = x.spare[last]
		x.spare = x.spare[:last]
		x.terms[n] = t
	} else {
		n = uint32(len(x.terms))
		x.terms = append(x.terms, t)
	}
	x.dict.insert(hash, n)
	return n
}

// uncount takes one document from a term. One that no other document holds goes
// with its postings.
func (x *Index) uncount(n uint32) {
	t := &x.terms[n]
	if t.df--; t.df > 0 {
		return
	}
	x.dict.remove(maphash.String(x.seed, x.text(t)), n)
	x.texts.drop(t.text)
	x.giveUp(t)
	*t = term{}
	x.spare = append(x.spare, n)
}

// renewTexts writes the texts that are in use anew.
func (x *Index) renewTexts() {
	old := x.texts
	x.texts = texts{}
	for i := range x.terms {
		if t := &x.terms[i]; t.df > 0 {
			t.text = x.texts.add(old.get(t.text))
		}
	}
}

// push appends a posting of a larger number than all that the term has. The
// document counts in its df.
func (x *Index) push(t *term, p posting) {
	switch {
	case t.many:
		at := &x.places[t.at]
		if len(at.list) == cap(at.list) && len(at.list)-int(t.df) >= len(at.list)/3 {
			// A document that is rewritten often fills the lists of its
			// terms with the dead. Room is made before any is asked for.
			at.list = slices.DeleteFunc(at.list, func(p posting) bool { return x.lens[p.doc] == dead })
			at.setGuide()
		}
		at.push(p)
	case t.tf == 0:
		t.at, t.tf = p.doc, p.tf
	default:
		list := append(make([]posting, 0, 2), t.alone(), p)
		t.at, t.tf, t.many = x.newPlaces(places{list: list}), 0, true
	}
	t.most = max(t.most, p.impact)
}

// setPostings makes the list, rising, all the postings of the term, among so
// many documents. The list becomes the index's unless it has one posting alone.
func (x *Index) setPostings(t *term, list []posting, docs int) {
	t.most = 0
	for _, p := range list {
		t.most = max(t.most, p.impact)
	}
	if len(list) < 2 {
		x.giveUp(t)
		if len(list) == 1 {
			t.at, t.tf = list[0].doc, list[0].tf
		}
		return
	}
	if !t.many {
		t.at, t.tf, t.many = x.newPlaces(places{}), 0, true
	}
	x.places[t.at].set(list, docs)
}

// newPlaces keeps the places and returns which they are.
func (x *Index) newPlaces(p places) uint32 {
	if last := len(x.sparePlaces) - 1; last >= 0 {
		at := x.sparePlaces[last]
		x.sparePlaces = x.sparePlaces[:last]
		x.places[at] = p
		return at
	}
	x.places = append(x.places, p)
	return uint32(len(x.places) - 1)
}

// giveUp takes the postings of a term away.
func (x *Index) giveUp(t *term) {
	if t.many {
		x.places[t.at] = places{}
		x.sparePlaces = append(x.sparePlaces, t.at)
	}
	t.at, t.tf, t.many = 0, 0, false
}

// postings returns the postings of a term, rising: its own list, or what it
// wrote to the room, which grows as it has to.
func (x *Index) postings(t *term, room *[]posting) []posting {
	switch {
	case t.many && x.places[t.at].wide == nil:
		return x.places[t.at].list
	case t.many:
		*room = x.places[t.at].wide.postings((*room)[:0])
	case t.tf > 0:
		*room = append((*room)[:0], t.alone())
	default:
		return nil
	}
	return *room
}

// placesOf returns where a term stands, also one that has no places of its own.
func (x *Index) placesOf(text string) places {
	n, ok := x.lookUp(text)
	if !ok {
		return places{}
	}
	t := &x.terms[n]
	if t.many {
		return x.places[t.at]
	}
	return places{list: []posting{t.alone()}}
}

// tf returns how often the term stands in a document, 0 when it does not.
func (x *Index) tf(t *term, number uint32) uint16 {
	switch {
	case t.many:
		return x.places[t.at].tf(number)
	case t.at == number:
		return t.tf
	}
	return 0
}

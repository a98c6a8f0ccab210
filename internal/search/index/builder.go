// Building a segment: of documents, in two passes, so that no list grows.

package index

import (
	"hash/maphash"
	"math"
	"slices"
)

// builder makes a segment. The terms of the documents are kept one after
// another, as numbers, and dealt out to their lists at the end, when it is known
// how long each will be. A builder is for one goroutine.
type builder struct {
	s     *segment
	seed  maphash.Seed
	empty bool     // documents without terms count
	bytes int      // that documents take, about, without the terms
	fills bool     // it makes a whole index, and keeps the numbers of terms
	block []item   // where the last document's items are, and those of some before
	items [][]item // by document number

	pending  []uint16 // by term number: its TF in the document being added; of the terms met so far
	distinct []uint32 // scratch
}

// blockItems is the number of items that room is made for at once.
const blockItems = 1 << 15

// What a builder takes, about: for a document, one of its items, and a term.
const (
	docBytes  = 72
	itemBytes = 8
	termBytes = 64
)

// size returns how many bytes the builder takes, about.
func (b *builder) size() int { return b.bytes + termBytes*len(b.s.terms) }

// item says how often a document holds a term.
type item struct {
	term uint32
	tf   uint16
}

func (x *Searcher) newBuilder() *builder {
	return &builder{s: new(segment), seed: x.seed, empty: x.params.CountEmpty}
}

// add adds a document. It keeps nothing of d but its data.
func (b *builder) add(d *Document) {
	s := b.s
	terms := b.countTerms(d)
	if cap(b.block)-len(b.block) < len(terms) {
		b.block = make([]item, 0, max(min(blockItems, 8*cap(b.block)), len(terms)))
	}
	items := b.block[len(b.block):]
	for _, n := range terms {
		items = append(items, item{n, b.pending[n]})
		b.pending[n] = 0
	}
	b.block = b.block[:len(b.block)+len(items)]
	b.items = append(b.items, items)
	b.bytes += docBytes + itemBytes*len(items)
	s.addDoc(d, b.empty)
}

// addDoc adds a document without its terms. One that has none counts when empty
// says so.
func (s *segment) addDoc(d *Document, empty bool) {
	dl := uint32(unscored)
	if len(d.Terms) > 0 || empty {
		dl = min(d.Len, unscored-1)
		s.counted++
		s.total += uint64(dl)
	}
	s.ids.add(d.ID)
	s.updated.add(d.Updated)
	s.created.add(d.Created)
	s.lens = append(s.lens, dl)
	s.data = append(s.data, d.Data)
}

// lose counts a term of a document that was deleted from another segment.
func (b *builder) lose(text string, hash uint64) {
	n, ok := b.s.termNumber(text, hash)
	if !ok {
		n = b.newTerm(text, hash)
	}
	b.s.terms[n].lost++
}

// newTerm gives the term of that hash a number. The text is copied: it is often
// a part of a whole document.
func (b *builder) newTerm(text string, hash uint64) uint32 {
	s := b.s
	n := uint32(len(s.terms))
	s.terms = append(s.terms, term{text: s.arena.add(text)})
	s.dict.insert(hash, n)
	return n
}

// countTerms returns the numbers of a document's terms, each once, and leaves
// how often they stand in it in pending. New terms are made; the document counts
// in the df of all. What is returned is valid until the next call.
func (b *builder) countTerms(d *Document) []uint32 {
	b.distinct = b.distinct[:0]
	numbers := d.Numbers
	if d.Known == nil || !b.fills {
		numbers = nil
	} else if d.Known.by != b {
		*d.Known = Known{by: b}
	}
	for some := range slices.Chunk(d.Terms, len(lookups{}.hashes)) {
		n := min(len(some), len(numbers))
		b.countSome(some, numbers[:n], d.Known)
		numbers = numbers[n:]
	}
	return b.distinct
}

// lookups is the scratch of some terms of a document.
type lookups struct {
	hashes [128]uint64
	first  [128]uint32 // of the dictionary
	known  [128]uint32 // plus 1
}

// countSome is countTerms for some of the terms. Most of the time goes into
// waiting for memory: for the texts, the dictionary, the terms. What does not
// depend on each other is read in loops of their own, so that the reads overlap.
func (b *builder) countSome(words []Term, numbers []uint32, known *Known) {
	var l lookups
	s := b.s
	for i, number := range numbers {
		l.known[i] = known.term(number)
	}
	for i := range words {
		if l.known[i] == 0 {
			l.hashes[i] = maphash.String(b.seed, words[i].Text)
		}
	}
	for i := range words {
		if l.known[i] == 0 {
			l.first[i] = s.dict.first(l.hashes[i])
		}
	}
	for i := range words {
		w := &words[i]
		if w.TF == 0 {
			continue
		}
		n := l.known[i] - 1
		if l.known[i] == 0 {
			n = b.lookUp(w.Text, l.first[i], l.hashes[i])
			if i < len(numbers) {
				known.set(numbers[i], n)
			}
		}
		if more := len(s.terms) - len(b.pending); more > 0 {
			b.pending = append(b.pending, make([]uint16, more)...)
		}
		if b.pending[n] == 0 {
			b.distinct = append(b.distinct, n)
			s.terms[n].df++
		}
		b.pending[n] = uint16(min(uint32(b.pending[n])+uint32(w.TF), math.MaxUint16))
	}
}

// lookUp returns the number of a term, which is new or has the hash, as the first
// number, plus 1, that the dictionary has for it.
func (b *builder) lookUp(text string, first uint32, hash uint64) uint32 {
	if first != 0 && b.s.arena.get(b.s.terms[first-1].text) == text {
		return first - 1
	}
	if n, ok := b.s.termNumber(text, hash); ok {
		return n
	}
	return b.newTerm(text, hash)
}

// done returns the segment, with impacts of that scale. The builder must not be
// used any more.
func (b *builder) done(sc scale) *segment {
	s := b.s
	l := layOut(s)
	for number, items := range b.items {
		dl := s.lens[number]
		for _, it := range items {
			l.push(it.term, posting{uint32(number), it.tf, sc.impact(it.tf, dl)})
		}
	}
	l.finish(sc.slope)
	return s
}

// layout is a segment whose lists are being filled: all in one array, which
// touches little memory at a time; columns are made of the long ones in the end.
type layout struct {
	s        *segment
	postings []posting // of terms that keep their lists, then of those that get columns
	few      uint32    // of the former
	next     []uint32  // by term number: where its next posting goes
}

// inTerm stands for the place of the next posting of a term that has no list.
const inTerm = math.MaxUint32

// layOut makes room for the postings of all terms, as many as their df says.
func layOut(s *segment) *layout {
	l := &layout{s: s, next: make([]uint32, len(s.terms))}
	for n := range s.terms {
		if t := &s.terms[n]; t.df > 1 && t.df < columnsLeast {
			l.few += t.df
		}
	}
	few := uint32(0)
	common := l.few
	many := uint32(0)
	for n := range s.terms {
		t := &s.terms[n]
		switch t.many = t.df > 1; {
		case !t.many:
			l.next[n] = inTerm
			continue
		case t.df < columnsLeast:
			l.next[n] = few
			few += t.df
		default:
			l.next[n] = common
			common += t.df
		}
		t.at = many
		many++
	}
	l.postings, s.lists = make([]posting, common), make([]postings, many)
	return l
}

// push adds a posting of a larger number than all before to a term.
func (l *layout) push(n uint32, p posting) {
	to := &l.next[n]
	if *to == inTerm {
		t := &l.s.terms[n]
		t.at = p.doc
		t.tf = p.tf
		t.most = p.impact
		return
	}
	l.postings[*to] = p
	*to++
}

// finish makes what is looked up by: the largest impacts, the columns, the
// blocks of times, and the documents by id.
func (l *layout) finish(slope float64) {
	s := l.s
	few := slices.Clone(l.postings[:l.few])
	for n := range s.terms {
		t := &s.terms[n]
		if !t.many {
			continue
		}
		from := few
		if t.df >= columnsLeast {
			from = l.postings
		}
		list := from[l.next[n]-t.df : l.next[n] : l.next[n]]
		for _, p := range list {
			t.most = max(t.most, p.impact)
		}
		s.lists[t.at] = newPostings(list, len(s.lens))
	}
	s.slope = slope
	s.dict.trim()
	s.terms = fit(s.terms)
	s.ids.fit()
	s.updated.fit()
	s.created.fit()
	s.lens = fit(s.lens)
	s.indexDocs()
}

// indexDocs makes what documents are found by.
func (s *segment) indexDocs() {
	s.blocks = timeBlocks(s.created.all())
	if !slices.ContainsFunc(s.data, func(d any) bool { return d != nil }) {
		s.data = nil
	}
	s.rising = isRising(s.ids.all())
	if !s.rising {
		s.byID.grow(len(s.lens))
		for n, id := range s.ids.all() {
			s.byID.insert(idHash(id), uint32(n))
		}
	}
}

// This file builds segments in two passes, so that no posting list has to grow.

package index

import (
	"hash/maphash"
	"math"
	"slices"
)

// builder builds a segment. It first collects the terms of the documents as numbers. At the
// end, when the length of each posting list is known, it distributes the numbers to the
// lists. Only one goroutine may use a builder.
type builder struct {
	s           *segment
	seed        maphash.Seed
	countsEmpty bool     // documents without terms count in N and avgdl
	bytes       int      // approximate size of the documents in memory, without terms
	buildsWhole bool     // the builder builds a whole index, and records the term numbers of the analyzer
	block       []item   // memory for items, which the last documents share
	items       [][]item // items of each document

	pending  []uint16 // TF of each term, by term number, in the document that is being added
	distinct []uint32 // scratch
}

// blockItems is the number of items that are allocated at once.
const blockItems = 1 << 15

// Approximate memory in bytes for a document, an item and a term.
const (
	docBytes  = 72
	itemBytes = 8
	termBytes = 64
)

// size returns the approximate memory use of the builder in bytes.
func (b *builder) size() int { return b.bytes + termBytes*len(b.s.terms) }

// item is a term of a document, by number, and its frequency in the document.
type item struct {
	term uint32
	tf   uint16
}

func (x *Searcher) newBuilder() *builder {
	return &builder{s: new(segment), seed: x.seed, countsEmpty: x.params.CountEmpty}
}

// add adds a document to the segment. The builder keeps a reference to d.Data, but not to d.
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
	s.addDoc(d, b.countsEmpty)
}

// addDoc adds a document without its terms. If countsEmpty is set, a document without terms
// counts in N and avgdl.
func (s *segment) addDoc(d *Document, countsEmpty bool) {
	dl := uint32(unscored)
	if len(d.Terms) > 0 || countsEmpty {
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

// countLost records that a document with this term was deleted from another segment.
func (b *builder) countLost(text string, hash uint64) {
	n, ok := b.s.termNumber(text, hash)
	if !ok {
		n = b.newTerm(text, hash)
	}
	b.s.terms[n].lost++
}

// newTerm assigns a number to a new term. It copies the text, which is often a substring of
// a whole document.
func (b *builder) newTerm(text string, hash uint64) uint32 {
	s := b.s
	n := uint32(len(s.terms))
	s.terms = append(s.terms, term{text: s.arena.add(text)})
	s.dict.insert(hash, n)
	return n
}

// countTerms returns the numbers of the document's distinct terms, and sets their frequencies in
// pending. It creates missing terms, and increments the df of all of these terms. The result is
// valid until the next call.
func (b *builder) countTerms(d *Document) []uint32 {
	b.distinct = b.distinct[:0]
	numbers := d.Numbers
	if d.Known == nil || !b.buildsWhole {
		numbers = nil
	} else if d.Known.by != b {
		*d.Known = TermNumbers{by: b}
	}
	for some := range slices.Chunk(d.Terms, len(lookups{}.hashes)) {
		n := min(len(some), len(numbers))
		b.countSome(some, numbers[:n], d.Known)
		numbers = numbers[n:]
	}
	return b.distinct
}

// lookups is scratch memory for a group of terms.
type lookups struct {
	hashes [128]uint64
	first  [128]uint32 // result of dict.first for each term
	known  [128]uint32 // known term number plus 1
}

// countSome implements countTerms for a group of terms. Such look-ups mostly wait for memory
// (texts, dictionary, terms). Therefore independent reads are in separate loops, so that the reads
// overlap.
func (b *builder) countSome(words []Term, numbers []uint32, known *TermNumbers) {
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
				known.setTerm(numbers[i], n)
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

// lookUp returns the number of a term, and adds a new term. first is the result of
// dict.first for the hash.
func (b *builder) lookUp(text string, first uint32, hash uint64) uint32 {
	if first != 0 && b.s.arena.get(b.s.terms[first-1].text) == text {
		return first - 1
	}
	if n, ok := b.s.termNumber(text, hash); ok {
		return n
	}
	return b.newTerm(text, hash)
}

// finishSegment returns the segment, with impacts computed by the scale. The builder must not be
// used afterwards.
func (b *builder) finishSegment(sc scale) *segment {
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

// layout has the posting lists of a segment while the segment is being filled. All lists
// are in a single array, so that the writes stay close together in memory. At the end,
// long lists are converted to columns.
type layout struct {
	s        *segment
	postings []posting // the terms without columns first, then the terms that get columns
	few      uint32    // maximum number of postings for a term without columns
	next     []uint32  // by term number: index of the term's next posting
}

// inTerm marks a term whose only posting is stored in the term itself.
const inTerm = math.MaxUint32

// layOut allocates memory for the postings of all terms, according to their df.
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
		switch t.hasList = t.df > 1; {
		case !t.hasList:
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

// push appends a posting to a term. Document numbers must ascend.
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

// finish computes the data for look-ups: maximum impacts, columns, time blocks, and the
// table of document IDs.
func (l *layout) finish(slope float64) {
	s := l.s
	few := slices.Clone(l.postings[:l.few])
	for n := range s.terms {
		t := &s.terms[n]
		if !t.hasList {
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
	s.terms = trimCapacity(s.terms)
	s.ids.fit()
	s.updated.fit()
	s.created.fit()
	s.lens = trimCapacity(s.lens)
	s.indexDocs()
}

// indexDocs builds the tables that find a document by its ID.
func (s *segment) indexDocs() {
	s.blocks = timeBlocks(s.created.all())
	s.latestUpdates = blockMaxima(s.updated.all())
	if !slices.ContainsFunc(s.data, func(d any) bool { return d != nil }) {
		s.data = nil
	}
	s.isAscending = isRising(s.ids.all())
	if !s.isAscending {
		s.byID.grow(len(s.lens))
		for n, id := range s.ids.all() {
			s.byID.insert(idHash(id), uint32(n))
		}
	}
}

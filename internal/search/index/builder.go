// This file builds segments in two passes. The first pass counts the postings, so that no list has to grow in the
// second.

package index

import (
	"hash/maphash"
	"math"
	"slices"
)

// builder builds a segment. First it collects the terms of the documents as numbers. When all documents have been
// added, the length of each posting list is known, and the builder distributes the postings to the lists. Only one
// goroutine may use a builder.
type builder struct {
	segment              *segment
	seed                 maphash.Seed
	countsEmptyDocuments bool // documents without terms count in the number of documents and in the average length
	// approximate size in bytes of the added documents in memory (without the terms' texts)
	approxBytes int
	// buildsWholeIndex is set if the segment will be the whole index. Then a TermNumberCache can store the segment's
	// term numbers. A term whose number is in this cache need not be looked up by its text.
	buildsWholeIndex     bool
	preallocatedDocTerms []docTerm   // memory that was allocated in advance for elements of documentTerms
	documentTerms        [][]docTerm // the terms of each document

	pendingTermFrequencies []uint16 // by term number: frequency of the term in the document that is being added
	distinctTermNumbers    []uint32 // reused memory for the result of countTerms
}

// docTermsPerBlock is the number of docTerms for which memory is allocated at once.
const docTermsPerBlock = 1 << 15

// Approximate memory in bytes for a document, a docTerm and a term.
const (
	approxDocBytes     = 72
	approxDocTermBytes = 8
	approxTermBytes    = 64
)

// approxSize returns the approximate memory use of the builder in bytes.
func (b *builder) approxSize() int { return b.approxBytes + approxTermBytes*len(b.segment.terms) }

// docTerm is a term of a document: the term's number, and its frequency in the document.
type docTerm struct {
	term          uint32
	termFrequency uint16
}

func (x *Searcher) newBuilder() *builder {
	return &builder{segment: new(segment), seed: x.seed, countsEmptyDocuments: x.params.CountEmptyDocuments}
}

// addDocument adds a document to the segment that is being built. The builder keeps a reference to d.Data, but not to
// d.
func (b *builder) addDocument(d *Document) {
	s := b.segment
	terms := b.countTerms(d)
	if cap(b.preallocatedDocTerms)-len(b.preallocatedDocTerms) < len(terms) {
		b.preallocatedDocTerms = make(
			[]docTerm,
			0,
			max(min(docTermsPerBlock, 8*cap(b.preallocatedDocTerms)), len(terms)),
		)
	}
	items := b.preallocatedDocTerms[len(b.preallocatedDocTerms):]
	for _, n := range terms {
		items = append(items, docTerm{n, b.pendingTermFrequencies[n]})
		b.pendingTermFrequencies[n] = 0
	}
	b.preallocatedDocTerms = b.preallocatedDocTerms[:len(b.preallocatedDocTerms)+len(items)]
	b.documentTerms = append(b.documentTerms, items)
	b.approxBytes += approxDocBytes + approxDocTermBytes*len(items) + 4*signatureUnitCount(len(d.PairHashes))
	s.addDocumentWithoutTerms(d, b.countsEmptyDocuments)
}

// addDocumentWithoutTerms adds a document to the segment, but not the document's terms. If d.Terms is empty, the
// document counts in the number of documents and in the average length only if countsEmptyDocuments is true.
func (s *segment) addDocumentWithoutTerms(d *Document, countsEmptyDocuments bool) {
	dl := uint32(unscoredDocumentLength)
	if len(d.Terms) > 0 || countsEmptyDocuments {
		dl = min(d.WeightedLength, unscoredDocumentLength-1)
		s.scoredDocumentCount++
		s.totalDocumentLength += uint64(dl)
	}
	s.ids.appendValue(d.ID)
	s.updated.appendValue(d.Updated)
	s.created.appendValue(d.Created)
	s.signatures.appendPairs(d.PairHashes)
	s.docLengths = append(s.docLengths, dl)
	s.dataByDocument = append(s.dataByDocument, d.Data)
}

// addTermOfDeletedDocument records that a document with this term was deleted from another segment, so that the term's
// document frequency is reduced.
func (b *builder) addTermOfDeletedDocument(text string, hash uint64) {
	n, ok := b.segment.termNumber(text, hash)
	if !ok {
		n = b.newTerm(text, hash)
	}
	b.segment.terms[n].deletedElsewhereCount++
}

// newTerm assigns the next number to a new term. It copies the text, because text is often a substring of a whole
// document.
func (b *builder) newTerm(text string, hash uint64) uint32 {
	s := b.segment
	n := uint32(len(s.terms))
	s.terms = append(s.terms, term{textReference: s.arena.add(text)})
	s.termTable.insert(hash, n)
	return n
}

// countTerms returns the term numbers of the document's distinct terms. A term number identifies a term in the segment
// that is being built. countTerms adds new terms to the segment, increments the document frequency of each term, and
// sets the term's frequency in pendingTermFrequencies. The result is valid until the next call.
func (b *builder) countTerms(d *Document) []uint32 {
	b.distinctTermNumbers = b.distinctTermNumbers[:0]
	numbers := d.AnalyzerTermNumbers
	if d.TermNumberCache == nil || !b.buildsWholeIndex {
		numbers = nil
	} else if d.TermNumberCache.numberingBuilder != b {
		*d.TermNumberCache = TermNumberCache{numberingBuilder: b}
	}
	for some := range slices.Chunk(d.Terms, len(termBatchLookups{}.termHashes)) {
		n := min(len(some), len(numbers))
		b.countTermBatch(some, numbers[:n], d.TermNumberCache)
		numbers = numbers[n:]
	}
	return b.distinctTermNumbers
}

// termBatchLookups is reused memory for countTermBatch, which looks up the terms of a document in groups of 128.
type termBatchLookups struct {
	termHashes [128]uint64
	// for each term of the group: result of termTable.findFirstByHash, which guesses the number of the term
	guessedTermNumbers [128]uint32
	// for each term of the group: the term's number plus 1, or 0 if the text must be looked up
	knownTermNumbers [128]uint32
}

// countTermBatch implements countTerms for at most 128 terms. To look up a term, the processor mostly waits until data
// arrive from memory. Therefore each step is done for all terms in a separate loop, so that the processor waits for
// several terms at the same time.
func (b *builder) countTermBatch(words []Term, numbers []uint32, termNumberCache *TermNumberCache) {
	var l termBatchLookups
	s := b.segment
	for i, number := range numbers {
		l.knownTermNumbers[i] = termNumberCache.indexTermNumber(number)
	}
	for i := range words {
		if l.knownTermNumbers[i] == 0 {
			l.termHashes[i] = maphash.String(b.seed, words[i].Text)
		}
	}
	for i := range words {
		if l.knownTermNumbers[i] == 0 {
			l.guessedTermNumbers[i] = s.termTable.findFirstByHash(l.termHashes[i])
		}
	}
	for i := range words {
		w := &words[i]
		if w.Frequency == 0 {
			continue
		}
		n := l.knownTermNumbers[i] - 1
		if l.knownTermNumbers[i] == 0 {
			n = b.findOrAddTerm(w.Text, l.guessedTermNumbers[i], l.termHashes[i])
			if i < len(numbers) {
				termNumberCache.setIndexTermNumber(numbers[i], n)
			}
		}
		if more := len(s.terms) - len(b.pendingTermFrequencies); more > 0 {
			b.pendingTermFrequencies = append(b.pendingTermFrequencies, make([]uint16, more)...)
		}
		if b.pendingTermFrequencies[n] == 0 {
			b.distinctTermNumbers = append(b.distinctTermNumbers, n)
			s.terms[n].docFrequency++
		}
		b.pendingTermFrequencies[n] = uint16(
			min(uint32(b.pendingTermFrequencies[n])+uint32(w.Frequency), math.MaxUint16),
		)
	}
}

// findOrAddTerm returns the number of a term. It adds the term if the term is new. likelyNumberPlusOne is what
// findFirstByHash returned for the term's hash. It is usually the term's number plus 1, which saves a search.
func (b *builder) findOrAddTerm(text string, likelyNumberPlusOne uint32, hash uint64) uint32 {
	if likelyNumberPlusOne != 0 && b.segment.arena.get(b.segment.terms[likelyNumberPlusOne-1].textReference) == text {
		return likelyNumberPlusOne - 1
	}
	if n, ok := b.segment.termNumber(text, hash); ok {
		return n
	}
	return b.newTerm(text, hash)
}

// finishSegment returns a part of the index with the documents that were added to the builder. sc contains the
// parameters of the scoring formula, from which the upper bounds of the terms' scores are computed. The builder must
// not be used afterwards.
func (b *builder) finishSegment(sc bm25Scale) *segment {
	s := b.segment
	l := newPostingListFiller(s)
	for number, items := range b.documentTerms {
		dl := s.docLengths[number]
		for _, it := range items {
			l.pushPosting(it.term, posting{uint32(number), it.termFrequency, sc.scoreImpact(it.termFrequency, dl)})
		}
	}
	l.finishSearchTables(sc.adjustedK1Slope)
	return s
}

// postingListFiller contains the lists of documents for each term while these lists are filled. All lists are in a
// single array, so that the writes are close together in memory. At the end, long lists are converted to separate
// arrays (see columns).
type postingListFiller struct {
	segment *segment
	// posting lists of the rarer terms, followed by the lists of frequent terms that are later converted to columns
	postings []posting
	// A term in more documents than this gets separate arrays (see columns) instead of a list.
	maxListPostings uint32
	nextPosting     []uint32 // by term number: index in postings at which the term's next posting is stored
}

// singlePostingMark in nextPosting means that the term has only one posting, which is stored in the term itself.
const singlePostingMark = math.MaxUint32

// newPostingListFiller allocates the posting lists of the terms, which are filled later. A posting says that a document
// contains the term. Each term's document frequency must be known, because it is the length of the term's list. A term
// in a single document needs no list.
func newPostingListFiller(s *segment) *postingListFiller {
	l := &postingListFiller{segment: s, nextPosting: make([]uint32, len(s.terms))}
	for n := range s.terms {
		if t := &s.terms[n]; t.docFrequency > 1 && t.docFrequency < minPostingsForColumns {
			l.maxListPostings += t.docFrequency
		}
	}
	few := uint32(0)
	common := l.maxListPostings
	many := uint32(0)
	for n := range s.terms {
		t := &s.terms[n]
		switch t.hasPostingList = t.docFrequency > 1; {
		case !t.hasPostingList:
			l.nextPosting[n] = singlePostingMark
			continue
		case t.docFrequency < minPostingsForColumns:
			l.nextPosting[n] = few
			few += t.docFrequency
		default:
			l.nextPosting[n] = common
			common += t.docFrequency
		}
		t.listIndexOrDocNumber = many
		many++
	}
	l.postings, s.postingLists = make([]posting, common), make([]postings, many)
	return l
}

// pushPosting appends a posting to the list of the term with the number termNumber. Document numbers must ascend.
func (l *postingListFiller) pushPosting(termNumber uint32, p posting) {
	to := &l.nextPosting[termNumber]
	if *to == singlePostingMark {
		t := &l.segment.terms[termNumber]
		t.listIndexOrDocNumber = p.docNumber
		t.termFrequency = p.termFrequency
		t.maxScoreImpact = p.scoreImpact
		return
	}
	l.postings[*to] = p
	*to++
}

// finishSearchTables computes data for fast searches from the complete posting lists: each term's highest score impact,
// the posting columns of frequent terms, and the table that finds a document by its ID. It also releases memory that is
// not needed any more.
func (l *postingListFiller) finishSearchTables(adjustedK1Slope float64) {
	s := l.segment
	few := slices.Clone(l.postings[:l.maxListPostings])
	for n := range s.terms {
		t := &s.terms[n]
		if !t.hasPostingList {
			continue
		}
		from := few
		if t.docFrequency >= minPostingsForColumns {
			from = l.postings
		}
		list := from[l.nextPosting[n]-t.docFrequency : l.nextPosting[n] : l.nextPosting[n]]
		for _, p := range list {
			t.maxScoreImpact = max(t.maxScoreImpact, p.scoreImpact)
		}
		s.postingLists[t.listIndexOrDocNumber] = newPostings(list, len(s.docLengths))
	}
	s.scoreImpactK1Slope = adjustedK1Slope
	s.termTable.releaseUnusedMemory()
	s.terms = trimCapacity(s.terms)
	s.ids.releaseUnusedMemory()
	s.updated.releaseUnusedMemory()
	s.created.releaseUnusedMemory()
	s.signatures.releaseUnusedMemory()
	s.docLengths = trimCapacity(s.docLengths)
	s.buildIDTable()
}

// buildIDTable completes a segment after its documents were added. It builds the table that finds a document by its ID,
// unless the IDs are in ascending order. It also computes the times of the documents for each block, and removes the
// field data if no document has data.
func (s *segment) buildIDTable() {
	s.creationTimeRanges = timeBlocks(s.created.allValues())
	s.latestUpdateTimes = blockMaxima(s.updated.allValues())
	if !slices.ContainsFunc(s.dataByDocument, func(d any) bool { return d != nil }) {
		s.dataByDocument = nil
	}
	s.isAscending = isAscending(s.ids.allValues())
	if !s.isAscending {
		s.byID.reserve(len(s.docLengths))
		for n, id := range s.ids.allValues() {
			s.byID.insert(idHash(id), uint32(n))
		}
	}
}

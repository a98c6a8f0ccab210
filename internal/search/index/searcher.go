// Package index ranks documents by the words of a query. It knows documents and
// terms: what a document is, and how its text became terms, is the caller's
// business.
//
// The score of a document is the sum, over the distinct terms of the query in
// sorted order, of
//
//	idf · tf·(k1+1) / (tf + k1·(1 − b + b·dl/avgdl))
//	idf = ln((N − df + 0.5)/(df + 0.5) + 1)
//
// times the weight of the term in the query, where tf is how often the term
// stands in the document, df how many documents hold it, dl the number of terms
// in the document, avgdl the mean of dl, and N the number of documents. This is
// Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework:
// BM25 and Beyond", 2009) with Lucene's idf, which is never negative, and in
// which a term's [Prior] counts. N, df and
// avgdl are those of the moment of the query, so a score is the same, to the
// last bit, after any history of changes that led to the same documents.
//
// The shape:
//
//	Index ──► Searcher ──► views: a segment each, and which of its documents are deleted
//	               N, avgdl
//
//	segment       dictionary   hash of a text ──► number of a term
//	              terms        number ──► its text, df, lost, and {document number, tf, impact} or,
//	                           of a term of more documents than one, a list of those, rising by number
//	              documents    number ──► id, times, dl
//
// Segments never change. A change of many documents makes a segment of them and,
// since it deletes the old versions of those from other segments, of the terms
// lost by that: df is the sum over the segments of df − lost. A change of few
// makes the next version of the memtable (memtable.go), which becomes a segment
// when it is full. Segments of a like size are merged in the background. Readers
// hold a searcher, which never changes either; an atomic pointer publishes the
// next one. So readers wait for no lock, and for no merge.
//
// The impact of a posting is one byte that says how much it gives at most. A
// search reads little more than the impacts of a common term, and looks up the
// other terms in those documents only that can still be among the best
// (maxscore.go). In a small segment it adds up all postings (scan.go). Both give
// the same scores to the last bit.
//
// An index can be written as a snapshot and opened from one (snapshot.go): a
// segment whose terms are read when they are asked for.
package index

import (
	"hash/maphash"
	"iter"
	"slices"
)

// Searcher is an index as it stands between two changes. It never changes, and
// is safe for concurrent use.
type Searcher struct {
	params Params
	seed   maphash.Seed
	views  []view
	live   int    // N: documents with terms that are not deleted
	total  uint64 // sum of dl over those
}

// Len returns the number of documents with terms, the N of the formula.
func (x *Searcher) Len() int { return x.live }

// Err returns the error that kept the searcher from reading the snapshot that
// it was opened from. What was found counts for nothing then.
func (x *Searcher) Err() error {
	for i := range x.views {
		if img := x.views[i].image; img != nil {
			if err := img.docs.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Check reads all of the snapshot that the searcher was opened from, and returns what
// is wrong with it.
func (x *Searcher) Check() error {
	var room []posting
	for i := range x.views {
		img := x.views[i].image
		if img == nil {
			continue
		}
		if err := img.checkDocs(); err != nil {
			return err
		}
		for n := range img.terms {
			img.term(n)
			if img.docs.Err() == nil {
				room = img.decodeAt(n, room[:0])
			}
		}
	}
	return x.Err()
}

// Size returns the number of documents, those without terms among them.
func (x *Searcher) Size() int {
	n := 0
	for i := range x.views {
		n += x.views[i].live()
	}
	return n
}

func (x *Searcher) scale() scale { return x.params.scale(x.live, x.total) }

// IDF returns what a term counts that so many documents hold.
func (x *Searcher) IDF(df int, p Prior) float64 { return x.scale().idf(df, p) }

func (x *Searcher) hash(text string) uint64 { return maphash.String(x.seed, text) }

// locate returns where the document of that id is.
func (x *Searcher) locate(id uint64) (v *view, number uint32, ok bool) {
	for i := len(x.views) - 1; i >= 0; i-- {
		v := &x.views[i]
		if n, ok := v.number(id); ok && !v.isDeleted(n) {
			return v, n, true
		}
	}
	return nil, 0, false
}

// Data returns what the caller put with the document of that id, nil for nothing and
// for one of a snapshot, and whether there is such a document.
func (x *Searcher) Data(id uint64) (data any, ok bool) {
	v, n, ok := x.locate(id)
	if !ok {
		return nil, false
	}
	return v.dataOf(n), true
}

func (s *segment) dataOf(number uint32) any {
	if s.data == nil {
		return nil
	}
	return s.data[number]
}

// Documents yields the ids of all documents, those without terms among them, in
// no particular order, and the data that was put with each, nil for that of a
// snapshot.
func (x *Searcher) Documents() iter.Seq2[uint64, any] {
	return func(yield func(uint64, any) bool) {
		for i := range x.views {
			v := &x.views[i]
			for n, id := range v.ids.all() {
				if !v.isDeleted(uint32(n)) && !yield(id, v.dataOf(uint32(n))) {
					return
				}
			}
		}
	}
}

// DF returns the number of documents that hold the term.
func (x *Searcher) DF(term string) int {
	hash, df := x.hash(term), 0
	for i := range x.views {
		df += x.views[i].df(term, hash)
	}
	return df
}

// IDs returns the ids, rising, of the documents that hold the term.
func (x *Searcher) IDs(term string) []uint64 {
	var ids []uint64
	var room []posting
	hash := x.hash(term)
	for i := range x.views {
		v := &x.views[i]
		alone := make([]posting, 0, 1)
		f, _ := v.find(term, hash, &alone)
		for _, p := range f.all(&room) {
			if !v.isDeleted(p.doc) {
				ids = append(ids, v.ids.at(p.doc))
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// Terms yields each term that begins with the prefix, and the number of
// documents that hold it. The order means nothing.
func (x *Searcher) Terms(prefix string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for i := range x.views {
			for n := range x.views[i].hasPrefix(prefix) {
				t := x.views[i].term(n)
				df := t.df - t.lost
				if len(x.views) > 1 {
					hash, seen := x.hash(t.text), false
					df = 0
					for j := range x.views {
						more := x.views[j].df(t.text, hash)
						df += more
						seen = seen || (j < i && x.views[j].knows(t.text, hash))
					}
					if seen {
						continue // it was yielded
					}
				}
				if df > 0 && !yield(t.text, df) {
					return
				}
			}
		}
	}
}

// knows reports whether the segment has a term of that text.
func (s *segment) knows(text string, hash uint64) bool {
	if s.image != nil {
		_, ok := s.image.find(text)
		return ok
	}
	_, ok := s.termNumber(text, hash)
	return ok
}

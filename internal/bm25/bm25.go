// This file holds the index's shape, its formula and its simple questions.

// Package bm25 ranks documents by the words of a query. It knows numbers and
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
// in the document, avgdl the mean of dl, and N
// the number of documents. This is Okapi BM25 (Robertson and Zaragoza, "The
// Probabilistic Relevance Framework: BM25 and Beyond", 2009) with Lucene's idf,
// which is never negative. N, df and avgdl are those of the moment of the
// query, so a score is the same whether the index was built in one go or by any
// history of puts and deletes that led to the same documents.
//
// The shape:
//
//	dictionary   hash of a text ──► number of a term
//	terms        number ──► its text, df, and {document number, tf, impact} or, of
//	             a term of more than one document, a list of those, rising by number
//	documents    number ──► id, newer, dl, the terms it holds
//
// The impact of a posting is one byte that says how much it gives at most. A
// search reads little more than the impacts of a common term, and looks up the
// other terms in those documents only that can still be among the best
// (best.go). In a small index it adds up all postings (scan.go). Both give the
// same scores to the last bit.
//
// Document numbers are dense and given in order of arrival. A deleted
// document keeps its number, and its postings stay, until the index is
// compacted.
//
// An index can be written as an image and opened from one (image.go). What an
// opened index knows of its terms it reads from the image when somebody asks
// for them.
package bm25

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"iter"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"
)

// The parameters that zero fields of [Params] stand for.
const (
	DefaultK1 = 1.2
	DefaultB  = 0.75
)

// Params are the constants of the formula.
type Params struct {
	K1 float64 // how slowly repeats stop counting, at least 0; 0 means [DefaultK1]
	B  float64 // how much length counts, from 0 to 1; 0 means [DefaultB]

	// CountEmpty makes documents without terms count in N and avgdl. Without
	// it they are not kept.
	CountEmpty bool
}

// Index is an inverted index in memory. It is safe for concurrent use, and
// each call sees the index as it stands between two changes.
type Index struct {
	k1, b      float64
	countEmpty bool
	opened     bool // from an image, or a part: not all terms are there

	mu sync.RWMutex // guards all below

	seed        maphash.Seed
	dict        numbers  // term numbers, by the hash of the text
	terms       []term   // by term number
	spare       []uint32 // term numbers without a term
	texts       texts    // of the terms
	places      []places // of the terms that have them
	sparePlaces []uint32 // those that no term has

	numbers numbers  // document numbers of the living that were put, by the hash of the id
	loaded  []uint32 // numbers of the documents of the image, rising by id, the dead among them
	docs    []doc    // by document number
	times   []int64  // by document number
	eras    []era    // of times, by number / 64
	unnoted int      // the terms of so many documents, the first, are not noted
	lens    []uint32 // by document number: dl in sixteenths, or dead
	living  int      // documents that are not dead
	total   uint64   // sum of dl over the living
	slope   float64  // of the scale that all impacts are of

	part  *part  // the terms it was made for; nil for all
	image *Image // what is not in terms yet; nil when nothing is
	err   error  // why the image could not be read

	distinct, room []uint32 // scratch of changes
	packed         []byte
	unused         uint32
}

// doc is what ranking needs of a document beside its length, which is apart
// because every posting looks it up.
type doc struct {
	id    uint64
	newer int64
	terms string // distinct, rising, by number, as packTerms writes them: what a delete has to uncount
}

// dead stands in lens for a document that was deleted. Taken for a length, it
// makes the score vanish, so the scan need not look for it.
const dead = math.MaxUint32

// New returns an empty index. It panics when K1 is negative, B is outside
// [0, 1], or either is not a number.
func New(p Params) *Index {
	if !(p.K1 >= 0) || math.IsInf(p.K1, 1) || !(p.B >= 0 && p.B <= 1) {
		panic(fmt.Sprintf("bm25: parameters k1 = %v, b = %v out of range", p.K1, p.B))
	}
	if p.K1 == 0 {
		p.K1 = DefaultK1
	}
	if p.B == 0 {
		p.B = DefaultB
	}
	return &Index{
		k1: p.K1, b: p.B, countEmpty: p.CountEmpty,
		seed: maphash.MakeSeed(),
	}
}

// Len returns the number of documents, the N of the formula.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.living
}

// Err returns the error that kept the index from reading the image that it was
// opened from, or from knowing a term ([NewPart]). What was found before it counts for nothing.
func (x *Index) Err() error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.err
}

// number returns the number of the living document of that id. The caller
// holds the lock.
func (x *Index) number(id uint64) (uint32, bool) {
	if n, ok := x.numbers.find(idHash(id), func(n uint32) bool { return x.docs[n].id == id }); ok {
		return n, true
	}
	i, ok := slices.BinarySearchFunc(x.loaded, id, func(n uint32, id uint64) int { return cmp.Compare(x.docs[n].id, id) })
	if !ok || x.lens[x.loaded[i]] == dead {
		return 0, false
	}
	return x.loaded[i], true
}

// DF returns the number of documents that hold the term.
func (x *Index) DF(term string) int {
	x.need(term)
	x.mu.RLock()
	defer x.mu.RUnlock()
	n, ok := x.lookUp(term)
	if !ok {
		return 0
	}
	return int(x.terms[n].df)
}

// IDs returns the ids, rising, of the documents that hold the term.
func (x *Index) IDs(term string) []uint64 {
	x.need(term)
	x.mu.RLock()
	defer x.mu.RUnlock()
	n, ok := x.lookUp(term)
	if !ok {
		return nil
	}
	t := &x.terms[n]
	ids := make([]uint64, 0, t.df)
	var room []posting
	for _, p := range x.postings(t, &room) {
		if x.lens[p.doc] != dead {
			ids = append(ids, x.docs[p.doc].id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Terms yields each term that begins with the prefix, and the number of
// documents that hold it. The order is the same for the same history of changes,
// and means nothing. The index may be used and changed during the iteration: all
// terms that stay are yielded once; for those that come or go meanwhile nothing
// is promised.
func (x *Index) Terms(prefix string) iter.Seq2[string, int] {
	type count struct {
		text string
		df   int
	}
	return func(yield func(string, int) bool) {
		x.needBeginning(prefix)
		var batch [256]count // so that no lock is held while the caller works
		for from := 0; ; from += len(batch) {
			n, more := 0, false
			x.mu.RLock()
			if from < len(x.terms) {
				more = true
				in := x.terms[from:min(from+len(batch), len(x.terms))]
				for i := range in {
					if in[i].df == 0 {
						continue
					}
					if text := x.text(&in[i]); strings.HasPrefix(text, prefix) {
						batch[n] = count{text, int(in[i].df)}
						n++
					}
				}
			}
			x.mu.RUnlock()
			for _, c := range batch[:n] {
				if !yield(c.text, c.df) {
					return
				}
			}
			if !more {
				return
			}
		}
	}
}

// scale holds the formula's parts that are the same for all postings of one
// query.
type scale struct {
	n           float64 // N
	avgdl       float64
	k1          float64
	rest, slope float64 // One·k1·(1−b+b·dl/avgdl) = rest + slope·dl, dl in sixteenths
}

// scale reads the live counters. The caller holds the lock.
func (x *Index) scale() scale {
	s := scale{n: float64(x.living), k1: x.k1}
	if s.n > 0 {
		s.avgdl = float64(x.total) / One / s.n
	}
	s.rest = One * float64(x.k1*(1-x.b))
	if s.avgdl > 0 { // zero only when no document has terms
		s.slope = float64(x.k1*x.b) / s.avgdl
	}
	return s
}

// idf returns ln((N − df + 0.5)/(df + 0.5) + 1).
func (s scale) idf(df uint32) float64 {
	d := float64(df)
	return math.Log((s.n-d+0.5)/(d+0.5) + 1)
}

// gain returns idf·(k1+1)·weight, the term's part of the formula.
func (s scale) gain(idf, weight float64) float64 { return float64(float64(idf*(s.k1+1)) * weight) }

// score returns gain·tf / (tf + k1·(1 − b + b·dl/avgdl)), with tf and dl in
// sixteenths: both parts of the fraction are 16 times those of the formula,
// which changes no bit of it. The conversions keep
// the compiler from fusing a product with a sum, which some machines round
// otherwise than others do.
func (s scale) score(gain float64, tf, dl uint32) float64 {
	f := float64(tf)
	return float64(gain*f) / (f + (s.rest + float64(s.slope*float64(dl))))
}

// impactSteps is the impact of a posting that gives all that a term can give.
// Impacts have 7 bits, so that eight of them can be compared in one addition.
const impactSteps = 127

// impact returns the part of the gain that a posting gives, in 127ths, rounded
// up.
func (s scale) impact(tf, dl uint32) uint8 {
	return impact(float64(tf), s.rest+float64(s.slope*float64(dl)))
}

func impact(tf, k float64) uint8 { return uint8(min(1+int(impactSteps*tf/(tf+k)), impactSteps)) }

// ofImpacts returns the scale that impacts are of.
func (x *Index) ofImpacts() scale {
	s := x.scale()
	s.slope = x.slope
	return s
}

// stretch returns what a bound by an impact has to be multiplied by to hold now:
// when the mean length has grown, all lengths count for less.
func (x *Index) stretch(s scale) float64 {
	if s.slope > 0 && s.slope < x.slope {
		return x.slope / s.slope
	}
	return 1
}

// drift is how far the mean length may be from that of the impacts before they
// are computed anew.
const drift = 0.1

// settle computes the impacts anew when the mean length has drifted away from
// theirs: too long bounds let too much through. It costs a few nanoseconds for
// each posting, and comes after about as many words as were changed as make a
// tenth of the index.
func (x *Index) settle() {
	s := x.scale()
	if s.slope >= x.slope*(1-drift) && s.slope <= x.slope*(1+drift) {
		return
	}
	x.slope = s.slope
	for i := range x.terms {
		t := &x.terms[i]
		switch {
		case t.many:
			t.most = x.places[t.at].settle(s, x.lens)
		case t.tf > 0:
			t.most = s.impact(uint32(t.tf), x.lens[t.at])
		}
	}
}

// settle computes the impacts anew and returns the largest.
func (t *places) settle(s scale, lens []uint32) (most uint8) {
	for j := range t.list {
		p := &t.list[j]
		p.impact = s.impact(uint32(p.tf), lens[p.doc])
		most = max(most, p.impact)
	}
	if t.wide == nil {
		return most
	}
	for j, st := range t.wide.stretches {
		at := st.before
		for set := st.bits(); set != 0; set &= set - 1 {
			p := &t.wide.impacts[at]
			*p = s.impact(uint32(t.wide.tfs[at]), lens[64*j+bits.TrailingZeros64(set)])
			most = max(most, *p)
			at++
		}
	}
	return most
}

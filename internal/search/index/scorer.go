// This file implements the scoring formula, and upper bounds for what postings contribute to a score.

package index

import (
	"fmt"
	"math"
)

// Default values for the fields of [Params].
const (
	defaultK1 = 1.2
	defaultB  = 0.75
)

// Params are the parameters of BM25, the formula by which documents are scored.
type Params struct {
	K1 float64 // how soon more occurrences of a term stop to matter, at least 0 (0 means 1.2)
	B  float64 // how much the length of a document matters, from 0 to 1 (0 means 0.75)

	// CountEmptyDocuments makes documents without terms count in the number of documents and in the average length.
	CountEmptyDocuments bool
}

// withDefaults replaces zero fields by their defaults. It panics if K1 is negative or infinite, if B is not from 0 to
// 1, or if K1 or B is NaN.
func (p Params) withDefaults() Params {
	isValidK1 := p.K1 >= 0 && !math.IsInf(p.K1, 1)
	isValidB := p.B >= 0 && p.B <= 1
	if !isValidK1 || !isValidB {
		panic(fmt.Sprintf("index: parameters k1 = %v, b = %v out of range", p.K1, p.B))
	}
	if p.K1 == 0 {
		p.K1 = defaultK1
	}
	if p.B == 0 {
		p.B = defaultB
	}
	return p
}

// bm25Scale contains those parts of the formula that are the same for all documents and terms.
type bm25Scale struct {
	scoredDocumentCount float64 // number of documents (N)
	averageLength       float64
	k1                  float64
	// The scoring formula BM25 contains FrequencyPerOccurrence·k1·(1−b+b·dl/avgdl), where dl is the document's length
	// in sixteenths of a word, and avgdl is the average length. This term is equal to adjustedK1Base +
	// adjustedK1Slope·dl.
	adjustedK1Base, adjustedK1Slope float64
}

// newScale computes those parts of the scoring formula BM25 that are the same for all documents. documentCount is the
// number of documents, and totalLength is their total length.
func (p Params) newScale(documentCount int, totalLength uint64) bm25Scale {
	s := bm25Scale{scoredDocumentCount: float64(documentCount), k1: p.K1}
	if s.scoredDocumentCount > 0 {
		s.averageLength = float64(totalLength) / FrequencyPerOccurrence / s.scoredDocumentCount
	}
	s.adjustedK1Base = FrequencyPerOccurrence * float64(p.K1*(1-p.B))
	if s.averageLength > 0 { // the average is 0 only if no document has terms
		s.adjustedK1Slope = float64(p.K1*p.B) / s.averageLength
	}
	return s
}

// idf returns ln((N − df + 0.5)/(df + 0.5) + 1). N is the number of documents plus priorFrequency.N. df is the number
// of documents with the term (the argument docFrequency) plus priorFrequency.DF. The values in priorFrequency are the
// frequencies of the term in its language.
func (s bm25Scale) idf(docFrequency int, priorFrequency FrequencyInLanguage) float64 {
	d := float64(docFrequency) + priorFrequency.DF
	return math.Log((s.scoredDocumentCount+priorFrequency.N-d+0.5)/(d+0.5) + 1)
}

// termScoreGain returns idf·(k1+1)·weight, which is the part of the formula that depends only on the term.
func (s bm25Scale) termScoreGain(idf, weight float64) float64 {
	return float64(float64(idf*(s.k1+1)) * weight)
}

// score returns the BM25 score gain·tf / (tf + k1·(1 − b + b·dl/avgdl)). tf is the term frequency, and dl is the
// document length. Both are in sixteenths of an occurrence. Therefore the numerator and the denominator are both 16
// times larger than in the formula, which does not change any bit of the result.
//
// The conversions to float64 prevent the compiler from fusing multiplications and additions, because fused operations
// have different results on some machines.
func (s bm25Scale) score(gain float64, tf, dl uint32) float64 {
	f := float64(tf)
	return float64(gain*f) / (f + (s.adjustedK1Base + float64(s.adjustedK1Slope*float64(dl))))
}

// maxScoreImpact is the highest impact. An impact is an upper bound for a term's contribution to a document's score.
// The unit is the term's largest possible contribution to any score divided by maxScoreImpact. Impacts have 7 bits, so
// that a single addition can compare eight impacts.
const maxScoreImpact = 127

// scoreImpact returns the impact of a posting. The impact is the posting's contribution to a document's score, measured
// on a scale from 0 to maxScoreImpact (127). The value maxScoreImpact stands for the term's largest possible
// contribution. The result is the next whole number above the exact value, but at most maxScoreImpact, so that it is an
// upper bound. The argument termFrequency is the term's frequency in the document, and docLength is the document's
// length.
func (s bm25Scale) scoreImpact(termFrequency uint16, docLength uint32) uint8 {
	f := float64(termFrequency)
	return uint8(
		min(
			1+int(maxScoreImpact*f/(f+(s.adjustedK1Base+float64(s.adjustedK1Slope*float64(docLength))))),
			maxScoreImpact,
		),
	)
}

// scoreImpactBoundFactor returns the factor by which stored upper bounds of score impacts must be multiplied. The
// stored bounds were computed when adjustedK1Slope had the value oldK1Slope. If adjustedK1Slope is smaller now, the
// average document length has increased. Documents then have higher scores than before, and the stored bounds are too
// low. The factor is greater than 1. In all other cases, the factor is 1.
func (s bm25Scale) scoreImpactBoundFactor(oldK1Slope float64) float64 {
	if s.adjustedK1Slope > 0 && s.adjustedK1Slope < oldK1Slope {
		return oldK1Slope / s.adjustedK1Slope
	}
	return 1
}

// unscoredDocumentLength is stored as the length of a document without terms if [Params.CountEmptyDocuments] is false.
// Such a document is left out of the number of documents and the average length.
const unscoredDocumentLength = math.MaxUint32

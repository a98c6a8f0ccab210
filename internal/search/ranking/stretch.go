// This file finds the best stretch in a long text: the part with the highest density of the query's words.

package ranking

import (
	"slices"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// These parameters are for documents that contain whole dialogues. The score of the dialogue's best part is added to
// the whole dialogue's score, because only a few turns answer a question.
const (
	passageWordCount = 40 // length, in words, of the parts that are compared to find the best part of a dialogue
	// The score of the dialogue's best part is multiplied by this factor and added to the whole dialogue's score.
	bestPassageWeight       = 0.5
	maxHitsForPassageSearch = 15 // number of best hits in which the part with the most query words is looked for
)

// passageFields are the fields of a dialogue in which the best passage is searched for. The best passage is the part
// with the most query words. All these fields have the weight contentWordWeight. Texts by programs are left out,
// because their weight is too low to be worth the time.
var passageFields = []string{"body", "user"}

// spokenTokens returns the words in the fields of an item that contain what people said. They are cached in the item's
// [ItemTextCache].
func (v *View) spokenTokens(it Item) []*analysis.Tokens {
	kept := &it.TextCache().cachedTokens
	if ts := kept.Load(); ts != nil {
		return *ts
	}
	var ts []*analysis.Tokens
	for _, f := range v.itemFields(it) {
		if slices.Contains(passageFields, f.Name) {
			ts = append(ts, analysis.Tokenize(v.ctx, f.Text))
		}
	}
	if v.ctx.Err() == nil { // if ctx is done, the words may be incomplete, so do not cache them
		kept.Store(&ts)
	}
	return ts
}

// termOccurrence is a position in a text at which a query term occurs, and the number of the term.
type termOccurrence struct{ position, termNumber int }

// passageFinder finds the best stretches of texts for a query's terms.
type passageFinder struct {
	termFinder      *analysis.TermFinder
	termNumbers     map[string]int // number of each term
	termOccurrences []termOccurrence

	// These slices have an element for each query term. The current passage is the part of a text that is examined now.
	// currentPassageCounts contains the number of the term's occurrences in the current passage. currentPassageScores
	// contains the term's score for the current passage. bestPassageScores contains the term's weighted score for the
	// best passage so far.
	currentPassageCounts, currentPassageScores, bestPassageScores []float64
}

func newPassageFinder(terms []string) *passageFinder {
	s := &passageFinder{
		termFinder:  analysis.NewTermFinder(analysis.NewTermSet(terms, nil)),
		termNumbers: make(map[string]int, len(terms)),
	}
	for k, t := range terms {
		s.termNumbers[t] = k
	}
	return s
}

// passageTermScore returns the score for a term that occurs termFrequency times in a part of a dialogue. It is the
// formula BM25 without the length of the text, because all parts have the same length.
func passageTermScore(termWeight, termFrequency float64) float64 {
	return termWeight * termFrequency / (termFrequency + bm25K1)
}

// scoreBestPassage finds the passageWordCount consecutive words that match the query best. It returns, for each query
// term, the term's weighted score in these words. It returns nil if no term occurs. The result is valid until the next
// call.
func (s *passageFinder) scoreBestPassage(texts []*analysis.Tokens, termWeights []float64) []float64 {
	s.termOccurrences = s.termOccurrences[:0]
	from := 0
	for _, t := range texts {
		from += s.termFinder.FindOccurrences(t, func(term string, at int) {
			s.termOccurrences = append(s.termOccurrences, termOccurrence{from + at, s.termNumbers[term]})
		})
	}
	s.currentPassageCounts = reuseAsZeros(s.currentPassageCounts, len(termWeights))
	s.currentPassageScores = reuseAsZeros(s.currentPassageScores, len(termWeights))
	s.bestPassageScores = reuseAsZeros(s.bestPassageScores, len(termWeights))
	count := func(k int, by float64) {
		s.currentPassageCounts[k] += by
		s.currentPassageScores[k] = passageTermScore(termWeights[k], s.currentPassageCounts[k])
	}
	most, first := 0.0, 0
	for _, o := range s.termOccurrences {
		count(o.termNumber, 1)
		for ; o.position-s.termOccurrences[first].position >= passageWordCount; first++ {
			count(s.termOccurrences[first].termNumber, -1)
		}
		sum := 0.0
		for _, given := range s.currentPassageScores {
			sum += given
		}
		if sum > most {
			most = sum
			for k, given := range s.currentPassageScores {
				s.bestPassageScores[k] = bestPassageWeight * given
			}
		}
	}
	if most == 0 {
		return nil
	}
	return s.bestPassageScores
}

// reuseAsZeros returns a slice of zeros with the given length. It reuses the memory of buffer if possible.
func reuseAsZeros(buffer []float64, length int) []float64 {
	buffer = slices.Grow(buffer[:0], length)[:length]
	clear(buffer)
	return buffer
}

// This file implements the scorer. It converts items to documents, and maintains the index of these documents.

package ranking

import (
	"context"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// These are the names of the rankings, which are methods to compute scores. The package oxbow documents them.
const (
	OxbowRanking = "oxbow"
	SeedRanking  = "seed"
)

// These are the parameters of the ranking Oxbow. They were tuned on LongMemEval, LoCoMo, QMSum and SciFact. The
// command "quality" of the bench module measures the results with these parameters.
const (
	bm25K1 = 1.2
	bm25B  = 0.75

	// turnLengthPadding is added to the length of a turn in a talk. Without it, the parameter b = 0.75 would count
	// differences in length too much: a turn is short because people talk in short turns, and not because the turn
	// contains only relevant words.
	turnLengthPadding = 16 * index.FrequencyPerOccurrence

	// Weights of a word by the field in which it occurs, in sixteenths.
	nameWordWeight        = 32
	aliasWordWeight       = 32
	labelWordWeight       = 16
	contentWordWeight     = 16
	programTextWordWeight = 2 // weight of a word in a text that a program wrote in a chat
	dateTermWeight        = 16

	// These are the weights of query terms that are not ordinary words. The weight of an ordinary word is 1.
	correctedWordWeight = 0.8 // a corrected word
	queryDateWeight     = 1   // weight of a query term for a date
	prefixWordWeight    = 0.8 // weight of a query term for a word that begins with a prefix in the query
	maxPrefixWords      = 32  // maximum number of words that a prefix stands for
	maxDateTerms        = 31  // maximum number of query terms for a range of days, months or years
	// minimum number of words in a query that is treated as a text, in which repeated words show the subject
	minLongQueryWords = 20

	// englishPriorTextCount sets the weight of a word's frequency in ordinary English, compared with its frequency in
	// the memory. The frequency in ordinary English counts like the frequency in this number of additional texts. The
	// number is about the number of entries in a small memory.
	englishPriorTextCount = 300
)

// Scorer implements a ranking. It converts texts to terms, and maintains the index of these terms.
type Scorer struct {
	rankingName   string
	index         *index.Index
	queryAnalyzer *analysis.Analyzer // analyzes queries (nil for the ranking Seed)
	// analyzes documents (separate, so that a query does not wait for the analysis of a document)
	documentAnalyzer *analysis.Analyzer
	hasDialogueHits  atomic.Bool // the best hits of the last search included parts of dialogues
}

// NewScorer returns the scorer of a ranking for the index x. If x is nil, NewScorer creates an empty index.
func NewScorer(rankingName string, x *index.Index) *Scorer {
	if x == nil {
		x = index.New(BM25Params(rankingName))
	}
	r := &Scorer{rankingName: rankingName, index: x}
	if rankingName != SeedRanking {
		r.queryAnalyzer, r.documentAnalyzer = analysis.NewAnalyzer(), analysis.NewAnalyzer()
	}
	return r
}

// Index returns the index. The field Data of each document is an [Item]. It is nil if the index does not keep items.
// Then the function that was passed to [Scorer.NewView] reads the item.
func (r *Scorer) Index() *index.Index { return r.index }

// BM25Params returns the parameters of a ranking's formula.
func BM25Params(rankingName string) index.Params {
	if rankingName == SeedRanking {
		return index.Params{}
	}
	return index.Params{K1: bm25K1, B: bm25B}
}

// AnalysisBuffer is memory that calls of AnalyzeItem reuse.
type AnalysisBuffer struct {
	text   ItemText
	fields []analysis.Field
	words  []string
}

// AnalyzeItem sets d to the document of an item, except for Data. It reuses the memory of d. If ctx is done, it
// returns early, and d must not be used.
func (r *Scorer) AnalyzeItem(ctx context.Context, it Item, d *index.Document, b *AnalysisBuffer) {
	t := &b.text
	it.FillText(t)
	d.ID = t.ID
	d.Updated = t.Updated.UnixNano()
	d.Created = clampedNanoseconds(t.Created)
	if r.documentAnalyzer == nil {
		b.words = appendSeedRankingTerms(b.words[:0], t)
		d.SetWords(b.words)
		if len(b.words) == 0 {
			// documentAnalyzer is nil for the ranking named Seed. This ranking does not count a document without words,
			// so skip the document's keywords as well.
			return
		}
	} else {
		b.fields = appendFields(b.fields[:0], t)
		r.documentAnalyzer.SetDoc(ctx, d, b.fields)
		d.WeightedLength += itemLengthPadding(t)
		for _, term := range dateTerms(t.Created) {
			d.Terms = append(d.Terms, index.Term{Text: term, Frequency: dateTermWeight})
		}
	}
	for _, k := range it.Keywords() {
		d.Terms = append(d.Terms, index.Term{Text: k, Frequency: 1})
	}
}

// appendSeedRankingTerms appends the terms of a text's content and aliases to words. The terms are computed for the
// simple ranking that is named Seed.
func appendSeedRankingTerms(words []string, t *ItemText) []string {
	words = text.AppendCrabtalkTerms(words, t.Content)
	for _, a := range t.Aliases {
		words = text.AppendCrabtalkTerms(words, a)
	}
	return words
}

// itemLengthPadding returns a number that is added to the length of a short turn in a talk between people, which
// analysis.IsPersonTurn recognizes. Otherwise, differences in length would influence the turns' scores too much. It
// returns 0 for other texts.
func itemLengthPadding(t *ItemText) uint32 {
	if analysis.IsPersonTurn(t.Content) {
		return turnLengthPadding
	}
	return 0
}

// appendFields appends the searchable fields of a text to the list fields: its name, its aliases, its label values and
// its content. Each field has a weight. The fields are used by the ranking that is named Oxbow.
func appendFields(fields []analysis.Field, t *ItemText) []analysis.Field {
	fields = append(fields, analysis.Field{Name: "name", Text: t.Name, Weight: nameWordWeight})
	for _, a := range t.Aliases {
		fields = append(fields, analysis.Field{Name: "alias", Text: a, Weight: aliasWordWeight})
	}
	for _, l := range t.LabelValues {
		fields = append(fields, analysis.Field{Name: "label", Text: l, Weight: labelWordWeight})
	}
	return append(fields, analysis.SplitDialogue(t.Content, contentWordWeight, programTextWordWeight)...)
}

// WordClauses returns conditions for an index query. Each document that contains all words of the text meets all
// conditions. A scorer for the simple ranking Seed has no queryAnalyzer, and WordClauses then returns nil.
func (r *Scorer) WordClauses(text string) []index.TermCondition {
	if r.queryAnalyzer == nil {
		return nil
	}
	return requireAllTerms(r.queryAnalyzer.TermSequence(context.Background(), text))
}

// requireAllTerms returns conditions that require each of the terms.
func requireAllTerms(terms []string) (cs []index.TermCondition) {
	for _, t := range terms {
		cs = append(cs, index.TermCondition{Terms: []string{t}})
	}
	return cs
}

// datePrefix is the prefix of date terms. Words of texts never contain a colon.
const datePrefix = "date:"

// dateTerms returns the terms for a date in UTC: the day, the month, the year, and the name of the month.
func dateTerms(t time.Time) []string {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	day := t.Format(datePrefix + "2006-01-02")
	return []string{day, day[:len(day)-len("-02")], day[:len(day)-len("-01-02")], monthTerms[t.Month()]}
}

// monthTerms are the terms of the months' names.
var monthTerms = func() (terms [13]string) {
	for m := time.January; m <= time.December; m++ {
		terms[m] = datePrefix + strings.ToLower(m.String())
	}
	return terms
}()

// clampedNanoseconds returns a time in nanoseconds since 1970. If the time is outside the range of an int64, it
// returns the smallest or the largest int64.
func clampedNanoseconds(t time.Time) int64 {
	switch {
	case !isOutsideInt64(t):
		return t.UnixNano()
	case t.Year() < 1970:
		return math.MinInt64
	}
	return math.MaxInt64
}

// isOutsideInt64 reports whether the time in nanoseconds since 1970 exceeds the range of an int64.
func isOutsideInt64(t time.Time) bool {
	y := t.UTC().Year()
	return y < 1678 || y > 2261
}

// CreationRange returns a condition for the time of creation: the time is at or after the argument from, and earlier
// than the argument before. A zero argument means no bound. isInexact is true if the condition includes too much
// because a bound exceeds the range of an int64.
func CreationRange(from, before time.Time) (times *index.TimeRange, isInexact bool) {
	if from.IsZero() && before.IsZero() {
		return nil, false
	}
	times = &index.TimeRange{FirstTime: math.MinInt64, LastTime: math.MaxInt64}
	if !from.IsZero() {
		times.FirstTime, isInexact = clampedNanoseconds(from), isOutsideInt64(from)
	}
	switch {
	case before.IsZero():
	case isOutsideInt64(before):
		times.LastTime, isInexact = clampedNanoseconds(before), true
	default:
		times.LastTime = clampedNanoseconds(before) - 1
	}
	return times, isInexact
}

// This file implements scorers, which convert items to documents and have the index of
// these.

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

// The rankings. They are documented in package oxbow.
const (
	Oxbow = "oxbow"
	Seed  = "seed"
)

// The parameters of Oxbow were tuned on LongMemEval, LoCoMo, QMSum and SciFact. The command
// "quality" of the bench module measures the results with these parameters.
const (
	oxbowK1 = 1.2
	oxbowB  = 0.75

	// turnPadding is added to the length of a turn in a talk. Without it, b = 0.75 would
	// count differences in length too much, because people talk in short turns and not
	// because a turn has only the relevant words.
	turnPadding = 16 * index.OneTF

	// Weights of a word, in sixteenths.
	weightName      = 32
	weightAlias     = 32
	weightLabel     = 16
	weightContent   = 16
	weightAssistant = 2 // text of a program in a chat
	weightDate      = 16

	// Weights of query terms other than ordinary words, whose weight is 1.
	weightCorrected = 0.8 // a corrected word
	weightQueryDate = 1   // a date in the query
	weightPrefix    = 0.8 // a word with a prefix of the query
	maxPrefixWords  = 32  // maximum number of words for a prefix
	maxDateTerms    = 31  // maximum number of days, months or years for a date expression
	// minimum number of words at which a query is treated as a text, in which repeated
	// words show its subject
	minLongQueryWords = 20

	// priorTexts is the number of texts in the prior of a query word (its assumed
	// general frequency). It is about the size of a small memory.
	priorTexts = 300
)

// A Scorer implements a ranking. It converts text to terms and has the index of these.
type Scorer struct {
	name             string
	index            *index.Index
	queryAnalyzer    *analysis.Analyzer // analyzes queries (nil for Seed)
	documentAnalyzer *analysis.Analyzer // analyzes documents, so that queries do not wait for a document's analysis
	foundDialogues   atomic.Bool        // the last search found parts of dialogues
}

// New returns the scorer of a ranking with index x. If x is nil, it creates an empty index.
func New(name string, x *index.Index) *Scorer {
	if x == nil {
		x = index.New(FormulaParams(name))
	}
	r := &Scorer{name: name, index: x}
	if name != Seed {
		r.queryAnalyzer, r.documentAnalyzer = analysis.NewAnalyzer(), analysis.NewAnalyzer()
	}
	return r
}

// Index returns the index. The Data of each document is an [Item], or nil if the function passed to
// [Scorer.View] reads the item.
func (r *Scorer) Index() *index.Index { return r.index }

// FormulaParams returns the parameters of a ranking's formula.
func FormulaParams(ranking string) index.Params {
	if ranking == Seed {
		return index.Params{}
	}
	return index.Params{K1: oxbowK1, B: oxbowB}
}

// Buffer is memory that several calls of AnalyzeItem reuse.
type Buffer struct {
	text   Text
	fields []analysis.Field
	words  []string
}

// AnalyzeItem sets d to the document of an item, except Data. It reuses the memory of d. If ctx
// is done, it returns early and d must not be used.
func (r *Scorer) AnalyzeItem(ctx context.Context, it Item, d *index.Document, b *Buffer) {
	t := &b.text
	it.FillText(t)
	d.ID = t.ID
	d.Updated = t.Updated.UnixNano()
	d.Created = timestamp(t.Created)
	if r.documentAnalyzer == nil {
		b.words = seedWords(b.words[:0], t)
		d.SetWords(b.words)
		if len(b.words) == 0 {
			return // documents without words are not counted
		}
	} else {
		b.fields = appendFields(b.fields[:0], t)
		r.documentAnalyzer.SetDoc(ctx, d, b.fields)
		d.Len += lengthPadding(t)
		for _, term := range dateTerms(t.Created) {
			d.Terms = append(d.Terms, index.Term{Text: term, TF: weightDate})
		}
	}
	for _, k := range it.Keywords() {
		d.Terms = append(d.Terms, index.Term{Text: k, TF: 1})
	}
}

// seedWords appends the terms of a text for Seed.
func seedWords(words []string, t *Text) []string {
	words = text.AppendCrabtalkTerms(words, t.Content)
	for _, a := range t.Aliases {
		words = text.AppendCrabtalkTerms(words, a)
	}
	return words
}

// lengthPadding returns the number that Oxbow adds to the length of a text.
func lengthPadding(t *Text) uint32 {
	if analysis.IsTalkTurn(t.Content) {
		return turnPadding
	}
	return 0
}

// appendFields appends the fields of a text for Oxbow.
func appendFields(fs []analysis.Field, t *Text) []analysis.Field {
	fs = append(fs, analysis.Field{Name: "name", Text: t.Name, Weight: weightName})
	for _, a := range t.Aliases {
		fs = append(fs, analysis.Field{Name: "alias", Text: a, Weight: weightAlias})
	}
	for _, l := range t.Labels {
		fs = append(fs, analysis.Field{Name: "label", Text: l, Weight: weightLabel})
	}
	return append(fs, analysis.SplitDialogue(t.Content, weightContent, weightAssistant)...)
}

// WordClauses returns conditions that every document with all words of the text meets. It returns
// none for Seed.
func (r *Scorer) WordClauses(text string) []index.TermCondition {
	if r.queryAnalyzer == nil {
		return nil
	}
	return requireAll(r.queryAnalyzer.TermSequence(context.Background(), text))
}

// requireAll returns conditions that require all of the terms.
func requireAll(terms []string) (cs []index.TermCondition) {
	for _, t := range terms {
		cs = append(cs, index.TermCondition{Terms: []string{t}})
	}
	return cs
}

// datePrefix is the prefix of date terms. Words of texts never contain a colon.
const datePrefix = "date:"

// dateTerms returns a date's terms in UTC: day, month, year, and the month's name.
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

// timestamp returns a time in nanoseconds since 1970. For times outside of int64's
// range, it returns the smallest or largest int64.
func timestamp(t time.Time) int64 {
	switch {
	case !isOutsideInt64(t):
		return t.UnixNano()
	case t.Year() < 1970:
		return math.MinInt64
	}
	return math.MaxInt64
}

// isOutsideInt64 reports whether the time in nanoseconds since 1970 does not fit into an int64.
func isOutsideInt64(t time.Time) bool {
	y := t.UTC().Year()
	return y < 1678 || y > 2261
}

// CreationRange returns the range of creation times from from (inclusive) to before (exclusive). Zero means no bound.
// If isInexact is true, a bound does not fit into the range, so the range includes too much.
func CreationRange(from, before time.Time) (times *index.TimeRange, isInexact bool) {
	if from.IsZero() && before.IsZero() {
		return nil, false
	}
	times = &index.TimeRange{First: math.MinInt64, Last: math.MaxInt64}
	if !from.IsZero() {
		times.First, isInexact = timestamp(from), isOutsideInt64(from)
	}
	switch {
	case before.IsZero():
	case isOutsideInt64(before):
		times.Last, isInexact = timestamp(before), true
	default:
		times.Last = timestamp(before) - 1
	}
	return times, isInexact
}

// Scorers: which terms a text is found by, and the index of those.

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

// The rankings. Package oxbow says what each is.
const (
	Oxbow = "oxbow"
	Seed  = "seed"
)

// The parameters of Oxbow, fitted to LongMemEval, LoCoMo, QMSum and SciFact;
// the command quality of module bench measures them.
const (
	oxbowK1 = 1.2
	oxbowB  = 0.75

	// turnPadding is how much longer a turn of a talk counts than it is. Where turns are
	// twice as long on average, their lengths tell apart what they would by b = .5: a short
	// turn is short because of the talk, and not because it is to the point.
	turnPadding = 16 * index.One

	// Weights of a word, in sixteenths.
	weightName      = 32
	weightAlias     = 32
	weightLabel     = 16
	weightBody      = 16
	weightAssistant = 2 // what a program said, in a chat
	weightDate      = 16

	// Weights of a query's terms other than its words, which weigh 1.
	weightSlip   = 0.8 // a correction
	weightWhen   = 1   // the date that the query names
	weightPrefix = 0.8 // a word that begins so
	mostPrefixed = 32  // words that a prefix stands for
	mostDays     = 31  // days that a date expression is looked for by
	longQuery    = 20  // words from which on it is a text, whose subject its repeats tell

	// priorTexts is how many texts of English at large count in the idf of a
	// query's words: as many as a small memory has.
	priorTexts = 300
)

// Scorer is one way to rank: how text becomes terms, and the index of those.
type Scorer struct {
	name   string
	index  *index.Index
	an     *analysis.Analyzer // of questions; nil for Seed
	texts  *analysis.Analyzer // of documents: no question waits for one to be analyzed
	speaks atomic.Bool        // the last search found a part of a dialogue
}

// New returns the scorer of a ranking over x, or over an empty index if x is nil.
func New(name string, x *index.Index) *Scorer {
	if x == nil {
		x = index.New(Params(name))
	}
	r := &Scorer{name: name, index: x}
	if name != Seed {
		r.an, r.texts = analysis.NewAnalyzer(), analysis.NewAnalyzer()
	}
	return r
}

// Index returns the index, of which each document's Data is its [Item], or nil
// when the caller of [Scorer.View] reads it on demand.
func (r *Scorer) Index() *index.Index { return r.index }

// Params returns the constants of a ranking's formula.
func Params(ranking string) index.Params {
	if ranking == Seed {
		return index.Params{}
	}
	return index.Params{K1: oxbowK1, B: oxbowB}
}

// Buffer is room that analyzing uses again.
type Buffer struct {
	text   Text
	fields []analysis.Field
	words  []string
}

// Analyze sets d to what an item is found by, but for its Data. The room of d is
// used again. When ctx is done it stops; d is then of no use.
func (r *Scorer) Analyze(ctx context.Context, it Item, d *index.Document, b *Buffer) {
	t := &b.text
	it.Text(t)
	d.ID = t.ID
	d.Updated = t.Updated.UnixNano()
	d.Created = timestamp(t.Created)
	if r.texts == nil {
		b.words = seedWords(b.words[:0], t)
		d.SetWords(b.words)
		if len(b.words) == 0 {
			return // it does not count
		}
	} else {
		b.fields = appendFields(b.fields[:0], t)
		r.texts.SetDoc(ctx, d, b.fields)
		d.Len += padding(t)
		for _, term := range dateTerms(t.Created) {
			d.Terms = append(d.Terms, index.Term{Text: term, TF: weightDate})
		}
	}
	for _, k := range it.Keywords() {
		d.Terms = append(d.Terms, index.Term{Text: k, TF: 1})
	}
}

// seedWords appends the terms that Seed finds a text by.
func seedWords(words []string, t *Text) []string {
	words = text.AppendCrabtalk(words, t.Content)
	for _, a := range t.Aliases {
		words = text.AppendCrabtalk(words, a)
	}
	return words
}

// padding returns how much longer a text counts for Oxbow than its fields are.
func padding(t *Text) uint32 {
	if analysis.IsTurn(t.Content) {
		return turnPadding
	}
	return 0
}

// appendFields appends the fields that Oxbow finds a text by.
func appendFields(fs []analysis.Field, t *Text) []analysis.Field {
	fs = append(fs, analysis.Field{Name: "name", Text: t.Name, Weight: weightName})
	for _, a := range t.Aliases {
		fs = append(fs, analysis.Field{Name: "alias", Text: a, Weight: weightAlias})
	}
	for _, l := range t.Labels {
		fs = append(fs, analysis.Field{Name: "label", Text: l, Weight: weightLabel})
	}
	return append(fs, analysis.Dialogue(t.Content, weightBody, weightAssistant)...)
}

// Holds returns the conditions that a document meets that holds all words of a
// text, none for Seed.
func (r *Scorer) Holds(text string) []index.Clause {
	if r.an == nil {
		return nil
	}
	return together(r.an.Sequence(context.Background(), text), false)
}

// together returns the conditions that a document meets that holds all those
// terms or, with not, none of them.
func together(seq []string, not bool) (cs []index.Clause) {
	for _, t := range seq {
		cs = append(cs, index.Clause{Terms: []string{t}, Not: not})
	}
	return cs
}

// datePrefix begins the terms of dates. No word of a text has a colon in it.
const datePrefix = "date:"

// dateTerms are the terms of the day that t is in, UTC: day, month, year, and
// the month's name.
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

// timestamp returns a time in nanoseconds since 1970, of times that have none the
// least or the most of all numbers.
func timestamp(t time.Time) int64 {
	switch {
	case !isFar(t):
		return t.UnixNano()
	case t.Year() < 1970:
		return math.MinInt64
	}
	return math.MaxInt64
}

// isFar reports whether a time has no number of nanoseconds.
func isFar(t time.Time) bool {
	y := t.UTC().Year()
	return y < 1678 || y > 2261
}

// Between returns the range of documents created from a time on and before
// another, of which the zero time is none. Of a bound that is far the range
// holds too much: then more is true.
func Between(from, before time.Time) (times *index.Range, more bool) {
	if from.IsZero() && before.IsZero() {
		return nil, false
	}
	times = &index.Range{From: math.MinInt64, To: math.MaxInt64}
	if !from.IsZero() {
		times.From, more = timestamp(from), isFar(from)
	}
	switch {
	case before.IsZero():
	case isFar(before):
		times.To, more = timestamp(before), true
	default:
		times.To = timestamp(before) - 1
	}
	return times, more
}

// The rankings: which terms an entry is found by, and which a query looks for.

package oxbow

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow/internal/analysis"
	"github.com/oxbow-memory/oxbow/internal/index"
	"github.com/oxbow-memory/oxbow/internal/text"
)

// The rankings.
const (
	// RankOxbow is BM25 over name, aliases, labels, speaker and body, each
	// with a weight; words are stemmed, identifiers whole and in parts,
	// diacritics folded, and the query's stop words left out.
	RankOxbow = "oxbow"

	// RankSeed is crabtalk's ranking (its RFC 0150) to the last term: content
	// and aliases, not the name, with its analyzer.
	RankSeed = "seed"
)

func checkRanking(name string) error {
	if name == RankOxbow || name == RankSeed {
		return nil
	}
	return &InvalidError{Field: "rank", Value: text.Clip(name, 40), Reason: "is not one of " + RankOxbow + ", " + RankSeed}
}

// The parameters of RankOxbow, fitted to LongMemEval, LoCoMo, QMSum and SciFact;
// docs/benchmarks-recall.md says what each is worth.
const (
	oxbowK1 = 1.2
	oxbowB  = 0.5

	// Weights of a word, in sixteenths.
	weightName      = 32
	weightAlias     = 32
	weightLabel     = 16
	weightBody      = 16
	weightAssistant = 6 // what a program said, in a chat
	weightDate      = 16

	// Weights of a query's terms other than its words, which weigh 1.
	weightSlip   = 0.8 // a correction
	weightWhen   = 0.5 // the date that the query names
	weightPrefix = 0.8 // a word that begins so
	mostPrefixed = 32  // words that a prefix stands for
	mostDays     = 31  // days that a date expression is looked for by
)

// scorer is one way to rank: how text becomes terms, and the index of those.
type scorer struct {
	name  string
	index *index.Index
	an    *analysis.Analyzer // of questions; nil for RankSeed
	texts *analysis.Analyzer // of entries: no question waits for one to be analyzed
	talks atomic.Bool        // the last search found turns of a dialogue
}

func newScorer(name string) *scorer {
	r := &scorer{name: name, index: index.New(paramsOf(name))}
	if name != RankSeed {
		r.an, r.texts = analysis.NewAnalyzer(), analysis.NewAnalyzer()
	}
	return r
}

// paramsOf returns the constants of a ranking's formula.
func paramsOf(ranking string) index.Params {
	if ranking == RankSeed {
		return index.Params{}
	}
	return index.Params{K1: oxbowK1, B: oxbowB}
}

// analyze makes d what an entry is found by. The room that d and words have is
// used again. When ctx is done it stops; d is then of no use.
func (r *scorer) analyze(ctx context.Context, e *Entry, d *index.Document, words *[]string) {
	d.ID, d.Updated, d.Created = e.ID, e.Updated.UnixNano(), timestamp(e.Created)
	if r.texts == nil {
		ws := text.AppendCrabtalk((*words)[:0], e.Content)
		for _, a := range e.Aliases {
			ws = text.AppendCrabtalk(ws, a)
		}
		*words = ws
		if d.SetWords(ws); len(ws) == 0 {
			return // it does not count
		}
	} else {
		r.texts.SetDoc(ctx, d, fieldsOf(e))
		for _, t := range dateTerms(e.Created) {
			d.Terms = append(d.Terms, index.Term{Text: t, TF: weightDate})
		}
	}
	for _, k := range keywords(e) {
		d.Terms = append(d.Terms, index.Term{Text: k, TF: 1})
	}
}

// fieldsOf returns the fields that an entry is found by.
func fieldsOf(e *Entry) []analysis.Field {
	return appendFields(make([]analysis.Field, 0, 2+len(e.Aliases)+len(e.Labels)), e)
}

func appendFields(fs []analysis.Field, e *Entry) []analysis.Field {
	fs = append(fs, analysis.Field{Name: "name", Text: e.Name, Weight: weightName})
	for _, a := range e.Aliases {
		fs = append(fs, analysis.Field{Name: "alias", Text: a, Weight: weightAlias})
	}
	for _, l := range e.Labels {
		if l.Key != LabelConfidence && l.Key != LabelFileBlob {
			fs = append(fs, analysis.Field{Name: "label", Text: l.Value, Weight: weightLabel})
		}
	}
	return append(fs, analysis.Dialogue(e.Content, weightBody, weightAssistant)...)
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

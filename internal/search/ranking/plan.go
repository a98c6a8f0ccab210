// This file implements plans, which are queries prepared for an index.

package ranking

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// A Query has the parameters of a search.
type Query struct {
	analysis.QueryText
	Spans        []Span // documents created in these spans rank higher
	NoCorrection bool   // do not correct misspelt words

	Conditions   []index.TermCondition // conditions of the filter that the index can evaluate
	CreatedRange *index.TimeRange      // range of creation times (may be nil)
	// reports whether the document meets all conditions, including Conditions and CreatedRange (may be nil)
	AcceptDocument func(id uint64) bool
	// AcceptDocument also checks conditions that are not in Conditions or CreatedRange
	HasMoreConditions bool
	// returns the factor by which a document's score is multiplied for its age, above 0 and at most 1 (may be nil)
	RecencyFactor func(id uint64) float64
}

// Span is a time range from From (inclusive) to To (exclusive). Zero means no bound.
type Span struct{ From, To time.Time }

// A Term is a word of a query and the term to search for.
type Term struct {
	Word, Term string
	Corrected  bool // no document contains the word, so that Term is a word that differs by a single typing error
}

// A WordClause is a required or excluded word or phrase of a query.
type WordClause struct {
	Text           string
	IsExcluded     bool
	AcceptDocument func(id uint64) bool
	Conditions     []index.TermCondition // necessary conditions that the index can evaluate
}

// A Plan is a query prepared for an index.
type Plan struct {
	HasNoWords bool // the query lacks words to rank by, so the newest documents are returned
	Words      []Term
	StopWords  bool // the query consists of stop words only, so that they are searched
	Clauses    []WordClause

	// indexQuery is the query for the index, without a limit. Its AcceptDocument checks the conditions that the index
	// cannot evaluate.
	indexQuery index.Query

	isSeed      bool          // the ranking is Seed
	asksForTime bool          // the query asks for a time
	asksProgram bool          // the query asks for texts by programs
	foundKinds  dialogueKinds // kinds of dialogue among the best hits of the last search
	// IDs of the last search's hits for which the best stretch was computed, ascending
	stretchRanked  []uint64
	acceptDocument func(id uint64) bool // evaluates the filter and the clauses (may be nil)

	// neighbourOnlyLimit is the highest score, in the last search, for a turn without query words whose neighbours
	// have query words. 0 means no limit.
	neighbourOnlyLimit float64
}

// englishPrior returns the assumed frequency of a term, which is the term's frequency in ordinary English.
func englishPrior(term string) index.Prior {
	return index.Prior{N: priorTexts, DF: priorTexts * analysis.EnglishShare(term)}
}

// HasTerms reports whether the plan has terms by which entries can be ranked.
func (p *Plan) HasTerms() bool { return len(p.indexQuery.Terms) > 0 }

// LookupTerms returns the terms that a query may look up in an index, including all values of the
// given [Keyword] keys. It returns nil if the query may look up all terms.
func LookupTerms(ranking string, q Query, keys []string) *analysis.TermSet {
	v := New(ranking, nil).View(context.Background(), nil)
	asked := &scanStats{searcher: v.searcher}
	v.stats = asked
	p := v.MakePlan(q)
	terms, prefixes := asked.terms, asked.prefixes
	for _, t := range p.indexQuery.Terms {
		terms = append(terms, t.Text)
	}
	for _, c := range p.indexQuery.Conditions {
		terms = append(terms, c.Terms...)
	}
	for _, k := range keys {
		prefixes = append(prefixes, Keyword(k, ""))
	}
	if slices.Contains(prefixes, "") {
		return nil
	}
	return analysis.NewTermSet(terms, prefixes)
}

// scanStats records look-ups of terms that a scan did not collect because they are not in choice.
type scanStats struct {
	searcher  *index.Searcher
	choice    *analysis.TermSet
	hasMissed atomic.Bool

	// terms and prefixes that were looked up (only recorded during planning, while choice is
	// nil)
	terms, prefixes []string
}

// missTerm records that a term was looked up that is not in choice.
func (s *scanStats) missTerm(term string) {
	s.hasMissed.Store(true)
	if s.choice == nil {
		s.terms = append(s.terms, term)
	}
}

// missPrefix is like missTerm, for all terms with a prefix.
func (s *scanStats) missPrefix(prefix string) {
	s.hasMissed.Store(true)
	if s.choice == nil {
		s.prefixes = append(s.prefixes, prefix)
	}
}

func (s *scanStats) DF(term string) int {
	if s.choice == nil || !s.choice.Has(term) {
		s.missTerm(term)
	}
	return s.searcher.DF(term)
}

func (s *scanStats) DocumentIDs(term string) []uint64 {
	if s.choice == nil || !s.choice.Has(term) {
		s.missTerm(term)
	}
	return s.searcher.DocumentIDs(term)
}

func (s *scanStats) TermsWithPrefix(prefix string) iter.Seq2[string, int] {
	if s.choice == nil || !s.choice.HasAllWithPrefix(prefix) {
		s.missPrefix(prefix)
	}
	return s.searcher.TermsWithPrefix(prefix)
}

// MakePlan prepares a query.
func (v *View) MakePlan(q Query) *Plan {
	r := v.scorer
	p := &Plan{
		isSeed:         r.queryAnalyzer == nil,
		acceptDocument: q.AcceptDocument,
		indexQuery: index.Query{
			Conditions:   q.Conditions,
			CreatedRange: q.CreatedRange,
			ScoreFactor:  q.RecencyFactor,
		},
	}
	if q.HasMoreConditions {
		p.indexQuery.AcceptDocument = q.AcceptDocument
	}
	if r.queryAnalyzer == nil {
		p.HasNoWords = strings.TrimSpace(q.Words) == ""
		terms := text.CrabtalkTerms(q.Words)
		p.indexQuery.Terms = index.TermsForWords(terms)
		slices.Sort(terms)
		terms = slices.Compact(terms)
		p.Words = make([]Term, len(terms))
		for i, t := range terms {
			p.Words[i] = Term{t, t, false}
		}
		return p
	}
	asked := r.queryAnalyzer.AnalyzeQuestion(v.ctx, q.QueryText)
	ws := asked.Words
	p.StopWords = asked.StopWords
	p.asksForTime = asked.AsksForTime
	p.asksProgram = asked.AddressesProgram
	for _, c := range asked.Clauses {
		v.addClause(p, c)
	}
	p.Words, p.indexQuery.Terms = make([]Term, 0, len(ws)), make([]index.QueryTerm, 0, len(ws)+1)
	for _, w := range ws {
		// A repeated word gets a greater weight. The increase is smaller in a question than in a long text.
		pl, weight := Term{w.Word, w.Term, false}, float64(w.N)
		if len(ws) < minLongQueryWords {
			weight = math.Sqrt(weight)
		}
		if !q.NoCorrection && v.stats.DF(w.Term) == 0 {
			if t := analysis.CorrectSpelling(w.Term, v.stats.DF); t != "" {
				pl.Term = t
				pl.Corrected = true
				weight = weight * weightCorrected
			}
		}
		p.Words = append(p.Words, pl)
		term := index.QueryTerm{Text: pl.Term, Weight: weight, Prior: englishPrior(pl.Term)}
		p.indexQuery.Terms = append(p.indexQuery.Terms, term)
		// A year or month in the query also finds the entries that were created in that year or
		// month.
		if t := datePrefix + w.Word; analysis.MayBeDate(w.Word) && v.stats.DF(t) > 0 {
			p.indexQuery.Terms = append(p.indexQuery.Terms, index.QueryTerm{Text: t, Weight: weightQueryDate})
		}
	}
	for i, prefix := range asked.Prefixes {
		ts := v.termsWithPrefix(prefix)
		for _, t := range ts[:min(len(ts), maxPrefixWords)] {
			p.Words = append(p.Words, Term{q.Prefixes[i] + "*", t, false})
			p.indexQuery.Terms = append(p.indexQuery.Terms, index.QueryTerm{Text: t, Weight: weightPrefix})
		}
	}
	for _, d := range q.Spans {
		for _, t := range spanDateTerms(d) {
			p.indexQuery.Terms = append(p.indexQuery.Terms, index.QueryTerm{Text: t, Weight: weightQueryDate})
		}
	}
	// If a term occurs twice, the larger weight is used.
	slices.SortStableFunc(p.indexQuery.Terms, func(a, b index.QueryTerm) int {
		return cmp.Or(strings.Compare(a.Text, b.Text), cmp.Compare(b.Weight, a.Weight))
	})
	isSameTerm := func(a, b index.QueryTerm) bool { return a.Text == b.Text }
	p.indexQuery.Terms = slices.CompactFunc(p.indexQuery.Terms, isSameTerm)
	p.HasNoWords = len(p.Words) == 0 && len(q.Prefixes) == 0 && strings.TrimSpace(q.Words) == ""
	return p
}

// spanDateTerms returns the terms of a date expression. If the expression has few days, these are the
// terms of the days, otherwise the terms of the months or years. An expression without a start or
// an end gets no terms, because such terms would not change the order of entries.
func spanDateTerms(d Span) []string {
	if d.From.IsZero() || d.To.IsZero() {
		return nil
	}
	// Use noon, because a day can have 23 hours in the zone of the span, and noon is always
	// within its day.
	last := d.To.Add(-time.Second)
	var ts []string
	for _, step := range []struct {
		layout        string
		years, months int
		days          int
	}{{"2006-01-02", 0, 0, 1}, {"2006-01", 0, 1, 0}, {"2006", 1, 0, 0}} {
		ts = ts[:0]
		y, m, day := d.From.Date()
		if step.days == 0 {
			day = 1
		}
		for t := time.Date(
			y,
			m,
			day,
			12,
			0,
			0,
			0,
			d.From.Location(),
		); len(ts) <= maxDateTerms; t = t.AddDate(step.years, step.months, step.days) {
			s := datePrefix + t.Format(step.layout)
			if t.Format(step.layout) > last.Format(step.layout) {
				break
			}
			ts = append(ts, s)
		}
		if len(ts) <= maxDateTerms {
			if step.days == 1 && isWholeMonth(d.From, last, len(ts)) {
				continue // use the term of the month instead
			}
			return ts
		}
	}
	return nil
}

// isWholeMonth reports whether a span with this number of days is a whole calendar month.
func isWholeMonth(from, last time.Time, days int) bool {
	isFromFirst := days >= 28 && from.Day() == 1
	isToLast := from.Month() == last.Month() && last.AddDate(0, 0, 1).Day() == 1
	return isFromFirst && isToLast
}

// termsWithPrefix returns the terms with this prefix, most frequent first. If no term has the prefix, it
// returns the prefix's own term.
func (v *View) termsWithPrefix(prefix analysis.Prefix) []string {
	type count struct {
		term string
		df   int
	}
	var cs []count
	for t, df := range v.Vocabulary(prefix.Text) {
		cs = append(cs, count{t, df})
	}
	if len(cs) == 0 {
		return []string{prefix.Term}
	}
	slices.SortFunc(cs, func(a, b count) int { return cmp.Or(b.df-a.df, strings.Compare(a.term, b.term)) })
	var ts []string
	for _, c := range cs {
		ts = append(ts, c.term)
	}
	return ts
}

// addClause adds a clause to the plan.
func (v *View) addClause(p *Plan, asked analysis.QueryClause) {
	c := WordClause{Text: asked.Text, IsExcluded: asked.IsExcluded}
	var holds func(id uint64) bool
	isExact := true // the index can evaluate the whole clause
	if asked.Prefix != nil {
		terms := v.termsWithPrefix(*asked.Prefix)
		holds = v.anyTermFilter(terms)
		c.Conditions = []index.TermCondition{{Terms: terms, IsNegated: c.IsExcluded}}
	} else {
		holds = v.sequenceFilter(asked.Terms)
		isExact = len(asked.Terms) == 1
		switch {
		case !c.IsExcluded:
			c.Conditions = requireAll(asked.Terms)
		case isExact:
			c.Conditions = []index.TermCondition{{Terms: asked.Terms, IsNegated: true}}
		}
	}
	c.AcceptDocument = func(id uint64) bool { return holds(id) != asked.IsExcluded }
	p.Clauses = append(p.Clauses, c)
	p.indexQuery.Conditions = append(p.indexQuery.Conditions, c.Conditions...)
	p.acceptDocument = acceptBoth(p.acceptDocument, c.AcceptDocument)
	if !isExact {
		p.indexQuery.AcceptDocument = acceptBoth(p.indexQuery.AcceptDocument, c.AcceptDocument)
	}
}

// Accepts reports whether the filter and the clauses of the query select the document.
func (p *Plan) Accepts(id uint64) bool { return p.acceptDocument == nil || p.acceptDocument(id) }

// acceptBoth returns a function that reports whether a and b return true. a may be nil.
func acceptBoth(a, b func(id uint64) bool) func(id uint64) bool {
	if a == nil {
		return b
	}
	return func(id uint64) bool { return a(id) && b(id) }
}

// anyTermFilter returns a function that reports whether an entry has at least one of
// the terms. The list of these entries is made at the first call.
func (v *View) anyTermFilter(terms []string) func(id uint64) bool {
	ids := sync.OnceValue(func() (ids []uint64) {
		for _, t := range terms {
			ids = append(ids, v.stats.DocumentIDs(t)...)
		}
		slices.Sort(ids)
		return ids
	})
	return func(id uint64) bool {
		_, holds := slices.BinarySearch(ids(), id)
		return holds
	}
}

// sequenceFilter returns a function that reports whether a field of an entry has the words in sequence.
// It uses the index to find the entries with the rarest word. The list of these entries is made
// at the first call, because the index often evaluates the whole clause, and their fields are
// only read when the function is called.
func (v *View) sequenceFilter(seq []string) func(id uint64) bool {
	if len(seq) == 0 {
		return func(uint64) bool { return true } // an empty sequence requires nothing
	}
	rarest := slices.MinFunc(seq, func(a, b string) int { return cmp.Compare(v.stats.DF(a), v.stats.DF(b)) })
	ids := sync.OnceValue(func() []uint64 { return v.stats.DocumentIDs(rarest) })
	found := map[uint64]bool{}
	return func(id uint64) bool {
		holds, known := found[id]
		if known {
			return holds
		}
		if _, may := slices.BinarySearch(ids(), id); !may {
			return false
		}
		if it := v.findItem(id); it != nil {
			holds = len(seq) == 1 || slices.ContainsFunc(v.fieldWords(it), func(f fieldWords) bool {
				return f.containsSequence(v.ctx, seq)
			})
		}
		found[id] = holds
		return holds
	}
}

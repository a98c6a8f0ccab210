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
	PreferredSpans            []TimeSpan // documents that were created in these spans of time rank higher
	WithoutSpellingCorrection bool       // do not correct misspelt words

	IndexConditions []index.TermCondition // conditions of the filter that the index can evaluate
	CreatedRange    *index.TimeRange      // range of creation times (may be nil)
	// reports whether a document meets all conditions, including IndexConditions and CreatedRange (nil if there are no
	// conditions)
	AcceptDocument func(id uint64) bool
	// The function AcceptDocument checks more conditions than IndexConditions and CreatedRange.
	HasUnindexedConditions bool
	// returns the factor by which a document's score is multiplied for its age, above 0 and at most 1 (may be nil)
	RecencyFactor func(id uint64) float64
}

// TimeSpan is a time range from From (inclusive) to To (exclusive). Zero means no bound.
type TimeSpan struct{ From, To time.Time }

// A QueryWordTerm is a word of a query and the term to search for.
type QueryWordTerm struct {
	Word, Term string
	Corrected  bool // no document contains the word, so that Term is a word that differs by a single typing error
}

// A WordClause is a required or excluded word or phrase of a query.
type WordClause struct {
	ClauseText      string
	IsExcluded      bool
	MatchesDocument func(id uint64) bool
	// conditions that the index can check and that each document with the word or phrase meets
	IndexConditions []index.TermCondition
	// conditions for which the index needs the text of some documents. A document meets them and IndexConditions if and
	// only if MatchesDocument returns true for it.
	IndexChecks []index.DocumentCheck
}

// A Plan is a query prepared for an index.
type Plan struct {
	HasNoWords    bool // the query lacks words to rank by, so the newest documents are returned
	WordTerms     []QueryWordTerm
	OnlyStopWords bool // all words of the query are stop words, so the search uses the stop words
	WordClauses   []WordClause

	// indexQuery is the query for the index, without a limit. Its function AcceptDocument checks the conditions that
	// the index cannot evaluate.
	indexQuery index.Query

	isForSeedRanking     bool // the query is for the simple ranking Seed
	asksForTime          bool // the query asks for a time
	isAddressedToProgram bool // the query asks for texts by programs
	// kinds of dialogues, such as talks between people, among the last search's best hits
	foundDialogueKinds hitDialogueKinds
	// IDs of some hits of the last search, in ascending order. The score of each such hit includes a bonus. The bonus
	// is for the part of the hit's text that contains the most query words.
	idsWithPassageBonus []uint64
	// reports whether a document meets the query's filter and its required and excluded words (may be nil)
	acceptDocument func(id uint64) bool

	// maxNeighbourOnlyScore limits the score of a turn that contains no query word and is found only through the
	// neighbouring turns. It was computed for the last search. 0 means no limit.
	maxNeighbourOnlyScore float64
}

// priorEnglishFrequency returns the assumed frequency of a term, which is the term's frequency in ordinary English.
func priorEnglishFrequency(term string) index.FrequencyInLanguage {
	return index.FrequencyInLanguage{
		N:  englishPriorTextCount,
		DF: englishPriorTextCount * analysis.EnglishDocumentShare(term),
	}
}

// HasTerms reports whether the plan has terms by which entries can be ranked.
func (p *Plan) HasTerms() bool { return len(p.indexQuery.Terms) > 0 }

// QueryLookupTerms returns the index terms that a search for the query q may look up. The parameter ranking is the name
// of the ranking. For each key in keywordKeys, the result also includes the [KeywordTerm] terms with this key and any
// value. QueryLookupTerms returns nil if the search may look up all terms.
func QueryLookupTerms(ranking string, q Query, keywordKeys []string) *analysis.TermSet {
	v := NewScorer(ranking, nil).NewView(context.Background(), nil)
	asked := &scanTermStats{searcher: v.searcher}
	v.termStats = asked
	p := v.MakePlan(q)
	terms, prefixes := asked.lookedUpTerms, asked.lookedUpPrefixes
	for _, t := range p.indexQuery.Terms {
		terms = append(terms, t.Text)
	}
	for _, c := range p.indexQuery.Conditions {
		terms = append(terms, c.Terms...)
	}
	for _, c := range p.indexQuery.Checks {
		terms = append(terms, c.Terms...)
	}
	for _, k := range keywordKeys {
		prefixes = append(prefixes, KeywordTerm(k, ""))
	}
	if slices.Contains(prefixes, "") {
		return nil
	}
	return analysis.NewTermSet(terms, prefixes)
}

// scanTermStats contains the word statistics of a scan, which collects only the terms that a query is expected to look
// up. It records whether other terms were looked up, because the scan's result is then incomplete.
type scanTermStats struct {
	searcher       *index.Searcher
	scannedTerms   *analysis.TermSet
	hasMissingTerm atomic.Bool

	// Terms and prefixes that were looked up. They are only recorded while scannedTerms is nil, to find out which
	// terms a scan must collect.
	lookedUpTerms, lookedUpPrefixes []string
}

// recordMissingTerm records that the query has looked up a term for which the scan has no statistics. If scannedTerms
// is nil, the scan has not started, and the term is added to lookedUpTerms so that the scan includes it. Otherwise the
// scan did not include the term, and its result is incomplete.
func (s *scanTermStats) recordMissingTerm(term string) {
	s.hasMissingTerm.Store(true)
	if s.scannedTerms == nil {
		s.lookedUpTerms = append(s.lookedUpTerms, term)
	}
}

// recordMissingPrefix records that the query needs all terms with this prefix, but that the scan has not collected all
// of them. The scan is a pass over the entries that collects statistics for chosen terms. recordMissingPrefix sets
// hasMissingTerm, because the result of the scan is then incomplete. If scannedTerms is nil, the terms for the scan
// have not been chosen yet. In this case, the prefix is added to lookedUpPrefixes, so that the scan includes its terms.
func (s *scanTermStats) recordMissingPrefix(prefix string) {
	s.hasMissingTerm.Store(true)
	if s.scannedTerms == nil {
		s.lookedUpPrefixes = append(s.lookedUpPrefixes, prefix)
	}
}

func (s *scanTermStats) DocumentFrequency(term string) int {
	if s.scannedTerms == nil || !s.scannedTerms.Has(term) {
		s.recordMissingTerm(term)
	}
	return s.searcher.DocumentFrequency(term)
}

func (s *scanTermStats) DocumentIDs(term string) []uint64 {
	if s.scannedTerms == nil || !s.scannedTerms.Has(term) {
		s.recordMissingTerm(term)
	}
	return s.searcher.DocumentIDs(term)
}

func (s *scanTermStats) TermsWithPrefix(prefix string) iter.Seq2[string, int] {
	if s.scannedTerms == nil || !s.scannedTerms.HasAllWithPrefix(prefix) {
		s.recordMissingPrefix(prefix)
	}
	return s.searcher.TermsWithPrefix(prefix)
}

func (s *scanTermStats) EachTermText(
	ctx context.Context,
	mayNeed func(prefix []byte, pairs *text.LetterPairSet) bool,
	fn func(text []byte, sharedBytes int) bool,
) {
	if s.scannedTerms == nil || !s.scannedTerms.HasAllWithPrefix("") {
		s.recordMissingPrefix("")
	}
	s.searcher.EachTermText(ctx, mayNeed, fn)
}

// MakePlan converts the query q to a Plan for a search in the index. The plan contains the terms to search for, with
// their weights, and the conditions for documents. Unless the ranking is the simple ranking Seed, MakePlan also
// corrects misspelled words and replaces each prefix by the words of the index that begin with the prefix.
func (v *View) MakePlan(q Query) *Plan {
	r := v.scorer
	p := &Plan{
		isForSeedRanking: r.queryAnalyzer == nil,
		acceptDocument:   q.AcceptDocument,
		indexQuery: index.Query{
			Conditions:   q.IndexConditions,
			CreatedRange: q.CreatedRange,
			ScoreFactor:  q.RecencyFactor,
		},
	}
	if q.HasUnindexedConditions {
		p.indexQuery.AcceptDocument = q.AcceptDocument
	}
	if r.queryAnalyzer == nil {
		p.HasNoWords = strings.TrimSpace(q.Words) == ""
		terms := text.CrabtalkTerms(q.Words)
		p.indexQuery.Terms = index.TermsForWords(terms)
		slices.Sort(terms)
		terms = slices.Compact(terms)
		p.WordTerms = make([]QueryWordTerm, len(terms))
		for i, t := range terms {
			p.WordTerms[i] = QueryWordTerm{t, t, false}
		}
		return p
	}
	asked := r.queryAnalyzer.AnalyzeQuestion(v.ctx, q.QueryText)
	ws := asked.Words
	p.OnlyStopWords = asked.HasOnlyStopWords
	p.asksForTime = asked.AsksForTime
	p.isAddressedToProgram = asked.AddressesProgram
	for _, c := range asked.Clauses {
		v.addClause(p, c)
	}
	p.WordTerms, p.indexQuery.Terms = make([]QueryWordTerm, 0, len(ws)), make([]index.QueryTerm, 0, len(ws)+1)
	for _, w := range ws {
		// A word that occurs several times in the query gets a greater weight, because it is probably the query's
		// subject. In a short query, the repetition is often accidental, so the weight grows more slowly.
		pl, weight := QueryWordTerm{w.Word, w.Term, false}, float64(w.OccurrenceCount)
		if len(ws) < minLongQueryWords {
			weight = math.Sqrt(weight)
		}
		if !q.WithoutSpellingCorrection && v.termStats.DocumentFrequency(w.Term) == 0 {
			if t := analysis.CorrectSpelling(w.Term, v.termStats.DocumentFrequency); t != "" {
				pl.Term = t
				pl.Corrected = true
				weight = weight * correctedWordWeight
			}
		}
		p.WordTerms = append(p.WordTerms, pl)
		term := index.QueryTerm{Text: pl.Term, Weight: weight, PriorFrequency: priorEnglishFrequency(pl.Term)}
		p.indexQuery.Terms = append(p.indexQuery.Terms, term)
		// A year or month in the query also finds the entries that were created in that year or
		// month.
		if t := datePrefix + w.Word; analysis.MayBeDate(w.Word) && v.termStats.DocumentFrequency(t) > 0 {
			p.indexQuery.Terms = append(p.indexQuery.Terms, index.QueryTerm{Text: t, Weight: queryDateWeight})
		}
	}
	for i, prefix := range asked.Prefixes {
		for _, t := range v.frequentTermsWithPrefix(prefix) {
			p.WordTerms = append(p.WordTerms, QueryWordTerm{q.Prefixes[i] + "*", t, false})
			p.indexQuery.Terms = append(p.indexQuery.Terms, index.QueryTerm{Text: t, Weight: prefixWordWeight})
		}
	}
	for _, d := range q.PreferredSpans {
		for _, t := range timeSpanDateTerms(d) {
			p.indexQuery.Terms = append(p.indexQuery.Terms, index.QueryTerm{Text: t, Weight: queryDateWeight})
		}
	}
	// If a term occurs twice, the larger weight is used.
	slices.SortStableFunc(p.indexQuery.Terms, func(a, b index.QueryTerm) int {
		return cmp.Or(strings.Compare(a.Text, b.Text), cmp.Compare(b.Weight, a.Weight))
	})
	isSameTerm := func(a, b index.QueryTerm) bool { return a.Text == b.Text }
	p.indexQuery.Terms = slices.CompactFunc(p.indexQuery.Terms, isSameTerm)
	p.HasNoWords = len(p.WordTerms) == 0 && len(q.Prefixes) == 0 && strings.TrimSpace(q.Words) == ""
	return p
}

// timeSpanDateTerms returns the date terms for the time span d. If there are at most maxDateTerms days, the result
// contains a term for each day, except for a whole month. Otherwise it contains terms for the months or the years. The
// result is nil if the span has too many years, or no start or no end. A span that is open at one end matches most
// entries, so its terms would not change the order of entries.
func timeSpanDateTerms(d TimeSpan) []string {
	if d.From.IsZero() || d.To.IsZero() {
		return nil
	}
	// Use noon, because in some time zones a day can have 23 hours, and noon is always within its day.
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
				// The days are a whole month, so use the single term of the month instead of one term for each day.
				continue
			}
			return ts
		}
	}
	return nil
}

// isWholeMonth reports whether a span with this number of days is a whole calendar month.
func isWholeMonth(from, lastDay time.Time, days int) bool {
	isFromFirst := days >= 28 && from.Day() == 1
	isToLast := from.Month() == lastDay.Month() && lastDay.AddDate(0, 0, 1).Day() == 1
	return isFromFirst && isToLast
}

// termsWithPrefix returns all indexed terms that begin with the prefix, in no particular order. If there is no such
// term, it returns only prefix.Term, the term of the prefix as a whole word.
func (v *View) termsWithPrefix(prefix analysis.QueryPrefix) []string {
	var terms []string
	for t := range v.Vocabulary(prefix.FoldedText) {
		terms = append(terms, t)
	}
	if len(terms) == 0 {
		return []string{prefix.Term}
	}
	return terms
}

// frequentTermsWithPrefix returns at most maxPrefixWords indexed terms that begin with the prefix: the most frequent
// terms, the most frequent first. If there is no such term, it returns only prefix.Term, the term of the prefix as a
// whole word.
func (v *View) frequentTermsWithPrefix(prefix analysis.QueryPrefix) []string {
	type termCount struct {
		term string
		df   int
	}
	order := func(a, b termCount) int { return cmp.Or(b.df-a.df, strings.Compare(a.term, b.term)) }
	best := make([]termCount, 0, maxPrefixWords+1) // the most frequent terms so far, sorted
	for t, df := range v.Vocabulary(prefix.FoldedText) {
		c := termCount{t, df}
		if len(best) == maxPrefixWords && order(best[maxPrefixWords-1], c) < 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, c, order)
		best = slices.Insert(best, at, c)
		best = best[:min(len(best), maxPrefixWords)]
	}
	if len(best) == 0 {
		return []string{prefix.Term}
	}
	terms := make([]string, len(best))
	for i, c := range best {
		terms[i] = c.term
	}
	return terms
}

// addClause adds a clause to the plan.
func (v *View) addClause(p *Plan, clause analysis.QueryClause) {
	c := WordClause{ClauseText: clause.Text, IsExcluded: clause.IsExcluded}
	var holds func(id uint64) bool
	if clause.Prefix != nil {
		terms := v.termsWithPrefix(*clause.Prefix)
		holds = v.anyTermFilter(terms)
		c.IndexConditions = []index.TermCondition{{Terms: terms, IsNegated: c.IsExcluded}}
	} else {
		sequence := analysis.NewTermSequence(clause.Terms)
		hasSequence := v.sequenceCheck(sequence, len(clause.Terms))
		holds = v.filterByRarestTerm(clause.Terms, hasSequence)
		isExact := len(clause.Terms) == 1 // the index can evaluate the whole condition that the clause sets
		check := index.DocumentCheck{
			PairHashes: sequence.PairHashes(),
			Matches:    hasSequence,
			IsNegated:  clause.IsExcluded,
		}
		switch {
		case !c.IsExcluded:
			c.IndexConditions = requireAllTerms(clause.Terms)
		case isExact:
			c.IndexConditions = []index.TermCondition{{Terms: clause.Terms, IsNegated: true}}
		default:
			check.Terms = clause.Terms
		}
		if !isExact {
			c.IndexChecks = []index.DocumentCheck{check}
		}
	}
	c.MatchesDocument = func(id uint64) bool { return holds(id) != clause.IsExcluded }
	p.WordClauses = append(p.WordClauses, c)
	p.indexQuery.Conditions = append(p.indexQuery.Conditions, c.IndexConditions...)
	p.indexQuery.Checks = append(p.indexQuery.Checks, c.IndexChecks...)
	p.acceptDocument = acceptBoth(p.acceptDocument, c.MatchesDocument)
}

// AcceptsDocument reports whether the filter and the clauses of the query select the document.
func (p *Plan) AcceptsDocument(id uint64) bool {
	return p.acceptDocument == nil || p.acceptDocument(id)
}

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
			ids = append(ids, v.termStats.DocumentIDs(t)...)
		}
		slices.Sort(ids)
		return ids
	})
	return func(id uint64) bool {
		_, holds := slices.BinarySearch(ids(), id)
		return holds
	}
}

// filterByRarestTerm returns a function that reports whether an entry contains the given words one after the other. For
// an entry without the rarest word, the returned function returns false without further checks. For all other entries,
// it calls hasSequence, which must report whether the entry contains the words one after the other. The IDs of the
// entries with the rarest word are looked up when the returned function is called for the first time, because it is
// often not called at all. If words is empty, filterByRarestTerm returns hasSequence itself.
func (v *View) filterByRarestTerm(words []string, hasSequence func(id uint64) bool) func(id uint64) bool {
	if len(words) == 0 {
		return hasSequence
	}
	ids := sync.OnceValue(func() []uint64 {
		rarest := slices.MinFunc(words, func(a, b string) int {
			return cmp.Compare(v.termStats.DocumentFrequency(a), v.termStats.DocumentFrequency(b))
		})
		return v.termStats.DocumentIDs(rarest)
	})
	return func(id uint64) bool {
		_, hasRarest := slices.BinarySearch(ids(), id)
		return hasRarest && hasSequence(id)
	}
}

// sequenceCheck returns a function that reports whether a field of an entry contains the words one after the other. The
// function reads the entry, so it should be called only for entries that contain all words. The argument length is the
// number of words.
func (v *View) sequenceCheck(sequence *analysis.TermSequence, length int) func(id uint64) bool {
	if length == 0 {
		return func(uint64) bool { return true } // without words, each entry meets the condition
	}
	found := map[uint64]bool{}
	return func(id uint64) bool {
		holds, known := found[id]
		if known || v.ctx.Err() != nil {
			return holds
		}
		if it := v.findItem(id); it != nil {
			holds = length == 1 || v.itemHasSequence(it, sequence)
		}
		found[id] = holds
		return holds
	}
}

// itemHasSequence reports whether a field of an item contains the terms of the sequence one after the other.
func (v *View) itemHasSequence(it Item, sequence *analysis.TermSequence) bool {
	it.FillText(&v.textBuffer)
	v.fieldBuffer = appendFields(v.fieldBuffer[:0], &v.textBuffer)
	return slices.ContainsFunc(v.fieldBuffer, func(f analysis.Field) bool {
		return v.scorer.queryAnalyzer.HasSequence(v.ctx, f.Text, sequence)
	})
}

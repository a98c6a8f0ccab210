// This file answers queries, and explains why a query found nothing.

package oxbow

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/syntax"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
	"github.com/oxbow-memory/oxbow/store"
)

// Recall returns the hits of the query, best first. Hits with equal scores are ordered by
// newer version, then by lower ID. If nothing matches, Recall returns an empty slice and a
// nil error. [Memory.Diagnose] then returns the reasons.
func (m *Memory) Recall(ctx context.Context, q Query) ([]Hit, error) {
	hits, _, err := m.RecallParsed(ctx, q)
	return hits, err
}

// RecallParsed is like [Memory.Recall], and also reports how the query was understood. Both
// results describe the same state of the memory, and the query is planned only once.
func (m *Memory) RecallParsed(ctx context.Context, q Query) ([]Hit, ParsedQuery, error) {
	limit, err := checkedHitLimit(q.Limit)
	if err == nil {
		err = checkTurnsAround(q.Around)
	}
	if err == nil {
		err = checkRecencyHalfLife(&q, m.opts.Clock)
	}
	if err != nil {
		return nil, ParsedQuery{}, err
	}
	wanted := limit
	if q.Collapse {
		wanted = min(maxHitsExaminedPerResult*limit, MaxLimit)
	}
	var hits []Hit
	var parsed ParsedQuery
	for v, err := range m.views(ctx, q) {
		if err != nil {
			return nil, ParsedQuery{}, err
		}
		p := v.MakePlan(v.rankingQuery(q))
		var found []ranking.Hit
		switch {
		case p.HasNoWords:
			found = v.NewestHits(p, wanted)
		case q.Second != nil:
			found = v.Search(p, max(wanted, hitsPerRanking))
		default:
			found = v.Search(p, wanted)
		}
		hits = make([]Hit, len(found))
		// Two loops are faster than one, because the processor then waits for several entries at the same time.
		entries := make([]*Entry, len(found))
		for i, h := range found {
			entries[i] = h.Item.(*rankedEntryItem).entry
		}
		for i, e := range entries {
			hits[i] = Hit{Entry: *e, Score: found[i].Score}
		}
		if q.Second != nil && !p.HasNoWords {
			hits = v.fuseWithSecondRanking(ctx, q, p, hits)
		}
		hits = hits[:min(len(hits), wanted)]
		if q.Collapse {
			hits = collapseSimilarHits(ctx, hits, limit)
		}
		v.addTurnsAroundHits(hits, q)
		if !p.HasNoWords {
			v.addExplanations(ctx, hits, q, p)
		}
		parsed = v.newParsedQuery(q, p)
	}
	return hits, parsed, nil
}

// RecallIDs returns the IDs of the entries that [Memory.Recall] finds, in the same order. It is faster, because it
// reads an entry only if the ranking or the filter needs the entry's text. Therefore it may also return the ID of an
// entry that cannot be read, or that was deleted while the query ran.
func (m *Memory) RecallIDs(ctx context.Context, q Query) (ids []uint64, err error) {
	if q.Second != nil || q.Collapse { // These need the texts of all hits.
		hits, err := m.Recall(ctx, q)
		for _, h := range hits {
			ids = append(ids, h.Entry.ID)
		}
		return ids, err
	}
	limit, err := checkedHitLimit(q.Limit)
	if err == nil {
		err = checkRecencyHalfLife(&q, m.opts.Clock)
	}
	if err == nil {
		err = checkTurnsAround(q.Around)
	}
	if err != nil {
		return nil, err
	}
	for v, err := range m.views(ctx, q) {
		if err != nil {
			return nil, err
		}
		p := v.MakePlan(v.rankingQuery(q))
		if p.HasNoWords {
			ids = v.NewestIDs(p, limit)
		} else {
			ids = v.SearchIDs(p, limit)
		}
	}
	return ids, nil
}

// addTurnsAroundHits adds the turns around the hits that are turns of conversations (see [Query.Around]).
func (v *rankedView) addTurnsAroundHits(hits []Hit, q Query) {
	if q.Around == 0 || v.RankingName() == RankSeed {
		return
	}
	accept := v.newFilterMatcher(q.Filter)
	for i := range hits {
		before, after := v.NeighbourTurns(hits[i].Entry.ID, q.Around, accept)
		hits[i].Before, hits[i].After = itemEntries(before), itemEntries(after)
	}
}

// addExplanations explains the scores of the query's hits if the query, whose plan is p, asks for explanations.
func (v *rankedView) addExplanations(ctx context.Context, hits []Hit, q Query, p *ranking.Plan) {
	account := v.explainFunc(q)
	if account == nil {
		return
	}
	for i := range hits {
		if ctx.Err() != nil {
			return
		}
		hits[i].Explanation = v.convertExplanation(account(p, hits[i].Entry.ID))
	}
}

// hitsPerRanking is the number of hits that a ranking contributes if two rankings' results are combined.
const hitsPerRanking = 100

// fuseWithSecondRanking combines the hits with the results of q.Second, another ranking such as vectors. It returns the
// best combined hits first. If q.Second cannot rank entries and returns nil, the hits stay unchanged.
func (v *rankedView) fuseWithSecondRanking(ctx context.Context, q Query, p *ranking.Plan, hits []Hit) []Hit {
	second := q.Second.Rank(ctx, q.Text, hitsPerRanking, queryEntries{v, p})
	if second == nil {
		return hits
	}
	first := make([]uint64, len(hits))
	for i, h := range hits {
		first[i] = h.Entry.ID
	}
	order, scores := ranking.FuseRankings(first, second)
	hits = nil
	for _, id := range order {
		if e := v.entry(id); e != nil {
			hits = append(hits, Hit{Entry: *e, Score: scores[id]})
		}
	}
	return hits
}

func itemEntries(items []ranking.Item) []Entry {
	var es []Entry
	for _, it := range items {
		es = append(es, *it.(*rankedEntryItem).entry)
	}
	return es
}

// View calls fn with the current entries. The function fn must not use the argument all after it has returned.
func (m *Memory) View(ctx context.Context, fn func(all Entries)) error {
	for v, err := range m.views(ctx, Query{}) {
		if err != nil {
			return err
		}
		fn(queryEntries{v, v.MakePlan(v.rankingQuery(Query{}))})
	}
	return nil
}

// checkRecencyHalfLife returns an error if the half-life is negative. It sets q.Now if the half-life
// is used and q.Now is zero.
func checkRecencyHalfLife(q *Query, clock func() time.Time) error {
	switch {
	case q.Recency < 0:
		return &InvalidError{
			Field:  "recency",
			Value:  fmt.Sprint(q.Recency),
			Reason: "is a half-life below 0; 0 is for none",
		}
	case q.Recency > 0 && q.Now.IsZero():
		q.Now = clock()
	}
	return nil
}

// checkTurnsAround returns an error if a query wants fewer than 0 or too many turns around each hit.
func checkTurnsAround(turnCount int) error {
	if turnCount >= 0 && turnCount <= MaxAround {
		return nil
	}
	return &InvalidError{
		Field:  "around",
		Value:  fmt.Sprint(turnCount),
		Reason: fmt.Sprintf("is not from 0 to %d", MaxAround),
	}
}

func checkedHitLimit(n int) (int, error) {
	switch {
	case n < 0:
		return 0, &InvalidError{
			Field:  "limit",
			Value:  fmt.Sprint(n),
			Reason: fmt.Sprintf("is less than 1; the most is %d", MaxLimit),
		}
	case n == 0:
		return DefaultLimit, nil
	}
	return min(n, MaxLimit), nil
}

// maxSuggestions is the maximum number of suggestions in a [Diagnosis]. maxSuggestionLookups is the maximum number of
// words and values in the query for which suggestions are searched.
const maxSuggestions, maxSuggestionLookups = 5, 40

// Diagnose explains why a query has few or no hits. It reports the words that occur in no
// entry, the filter conditions that exclude hits, and names, projects, tags and words that
// are similar to those in the query.
func (m *Memory) Diagnose(ctx context.Context, q Query) (Diagnosis, error) {
	var d Diagnosis
	for v, err := range m.views(ctx, q) {
		if err != nil {
			return Diagnosis{}, err
		}
		d = v.diagnose(ctx, q)
	}
	return d, nil
}

func (v *rankedView) diagnose(ctx context.Context, q Query) Diagnosis {
	p := v.MakePlan(v.rankingQuery(Query{Text: q.Text, Operators: q.Operators, Dates: q.Dates}))
	v.MarkSeedScanIncomplete(p)
	d := Diagnosis{Entries: v.Searcher().DocumentCount(), Terms: v.newParsedQuery(q, p).Terms}
	slices.SortFunc(d.Terms, func(a, b ParsedTerm) int { return strings.Compare(a.Word, b.Word) })
	d.StopWords = !p.HasTerms() && !p.HasNoWords
	d.Unfiltered = v.CountHits(p, index.Query{}, nil)
	removes := func(condition FilterEffect, only index.Query, accept func(id uint64) bool) {
		condition.Left = v.CountHits(p, only, accept)
		if condition.Left < d.Unfiltered || condition.Left == 0 {
			d.Removed = append(d.Removed, condition)
		}
	}
	for _, f := range q.Filter.Parts() {
		if ctx.Err() != nil {
			return d
		}
		only, more := index.Query{}, false
		only.Conditions, only.CreatedRange, more = convertFilterToClauses(v.scorer, f)
		if more {
			only.AcceptDocument = v.newFilterMatcher(f)
		}
		removes(FilterEffect{Filter: f}, only, v.newFilterMatcher(f))
	}
	for _, c := range p.WordClauses {
		if ctx.Err() != nil {
			return d
		}
		sign := "+"
		if c.IsExcluded {
			sign = "-"
		}
		clause := FilterEffect{Clause: sign + syntax.QuoteValue(c.ClauseText)}
		removes(
			clause,
			index.Query{Conditions: c.IndexConditions, Checks: c.IndexChecks},
			c.MatchesDocument,
		)
	}
	d.Near = v.suggestCorrections(ctx, p, q, d.Unfiltered == 0)
	return d
}

// suggestCorrections returns at most maxSuggestions suggestions for the query's misspelled words and values. If the
// words find nothing (hasNoHits is set), it also compares the query with the names of all entries.
func (v *rankedView) suggestCorrections(ctx context.Context, p *ranking.Plan, q Query, hasNoHits bool) []string {
	var s querySuggestions
	for _, t := range q.Filter.Terms {
		for _, value := range t.Values {
			if s.maySearchVocabulary(ctx) {
				s.vocabularySearchCount++
				s.addSimilarLabels(v, Label{Key: t.Key, Value: value})
			}
		}
	}
	// A word of the query may be misspelled if no entry contains it.
	for _, w := range p.WordTerms {
		if v.DocumentFrequency(w.Term) == 0 && s.maySearchVocabulary(ctx) {
			s.vocabularySearchCount++
			s.addTexts(v.SimilarWords(w.Term, 2))
		}
	}
	if words := strings.TrimSpace(q.Text); words != "" && hasNoHits {
		s.addTexts(v.similarNames(ctx, words, 3))
	}
	return s.suggestedTexts[:min(len(s.suggestedTexts), maxSuggestions)]
}

// querySuggestions collects the suggestions for a query.
type querySuggestions struct {
	suggestedTexts        []string // names and labels to suggest, without repetitions
	vocabularySearchCount int      // number of words and values of the query for which the vocabulary was searched
}

// maySearchVocabulary reports whether one more word or value of the query may be used to search for similar texts. The
// number of searches is limited, because each search reads a whole vocabulary (all words or values in the index). The
// result is also false if there are already maxSuggestions suggested texts or ctx has ended.
func (s *querySuggestions) maySearchVocabulary(ctx context.Context) bool {
	return s.vocabularySearchCount < maxSuggestionLookups && len(s.suggestedTexts) < maxSuggestions && ctx.Err() == nil
}

// addSimilarLabels suggests labels of the memory that have the same key as the argument label and a similar value.
func (s *querySuggestions) addSimilarLabels(v *rankedView, label Label) {
	for _, value := range text.FindSimilar(label.Value, v.KeywordValues(label.Key), 2) {
		if value != label.Value {
			s.addTexts([]string{Label{Key: label.Key, Value: value}.String()})
		}
	}
}

// addTexts adds the suggestions that are not in the list.
func (s *querySuggestions) addTexts(suggestions []string) {
	for _, suggestion := range suggestions {
		if !slices.Contains(s.suggestedTexts, suggestion) {
			s.suggestedTexts = append(s.suggestedTexts, suggestion)
		}
	}
}

// Near returns at most max names of entries that are similar to name, best first. Use it to
// suggest a correction for an unknown name.
func (m *Memory) Near(ctx context.Context, name string, max int) ([]string, error) {
	s, err := m.refreshIndex(ctx)
	if err != nil {
		return nil, err
	}
	return s.newView(ctx, s.scorer(m.opts.Ranking)).similarNames(ctx, name, max), nil
}

// Values returns how many entries have each value of the label with this key. If the call lists values, the result
// contains only these values. Otherwise it contains all values of the key. Values reads the index. If there is no
// index, it may scan the entries instead.
func (m *Memory) Values(ctx context.Context, key string, values ...string) (map[string]int, error) {
	var counts map[string]int
	// Name the key in the filter of the query. If the memory has no index, it may scan the entries, and then finds only
	// the terms that the query names.
	q := Query{Filter: Filter{Terms: []Term{{Key: key, Values: values}}}}
	for v, err := range m.views(ctx, q) {
		if err != nil {
			return nil, err
		}
		counts = map[string]int{}
		wanted := slices.Values(values)
		if len(values) == 0 {
			wanted = v.KeywordValues(key)
		}
		for value := range wanted {
			forms := []string{value}
			if len(values) > 0 {
				forms = store.NameForms(value)
			}
			for _, form := range forms {
				counts[value] += v.DocumentFrequency(ranking.KeywordTerm(key, form))
			}
		}
	}
	return counts, nil
}

// CountAny returns the number of entries that match at least one term. It ignores Term.Not. It counts in the index and
// reads no entries, unless the memory has no index yet.
func (m *Memory) CountAny(ctx context.Context, terms ...Term) (int, error) {
	var keywords []string
	for _, t := range terms {
		for _, value := range store.AllNameForms(t.Values) {
			keywords = append(keywords, ranking.KeywordTerm(t.Key, value))
		}
	}
	n := 0
	// If there is no index, the method views scans the entries and indexes only the terms in q. Therefore q must
	// contain all terms.
	q := Query{Filter: Filter{Terms: terms}}
	for v, err := range m.views(ctx, q) {
		if err != nil {
			return 0, err
		}
		n = v.Searcher().CountHits(index.Query{Terms: index.TermsForWords(keywords)})
	}
	return n, nil
}

// explainFunc returns the function that explains scores. For q.Explain it is v.Explain. For q.Weigh it is
// v.ExplainIndexScore, which is faster because it reads only the index. If the query sets neither, explainFunc returns
// nil.
func (v *rankedView) explainFunc(q Query) func(p *ranking.Plan, id uint64) *ranking.Explanation {
	switch {
	case q.Explain:
		return v.Explain
	case q.Weigh:
		return v.ExplainIndexScore
	}
	return nil
}

// convertExplanation converts an explanation of package ranking.
func (v *rankedView) convertExplanation(x *ranking.Explanation) *Explanation {
	if x == nil {
		return nil
	}
	e := &Explanation{Formula: "bm25", Entries: x.DocumentCount, Length: x.DocumentLength, AvgLen: x.AverageLength}
	if v.RankingName() != RankSeed {
		e.Formula = v.RankingName()
	}
	for _, t := range x.TermScores {
		ts := TermScore{
			Term:   t.Term,
			Word:   t.QueryWord,
			Weight: t.Weight,
			TF:     t.Occurrences,
			DF:     t.DocumentFrequency,
			IDF:    t.IDF,
			Score:  t.Score,
		}
		for _, f := range t.FieldScores {
			ts.Fields = append(ts.Fields, FieldScore(f))
		}
		e.Terms = append(e.Terms, ts)
	}
	return e
}

// ParseQuery reports how a query is understood: the ranking, the terms, and the corrections of unknown words.
// [Memory.RecallParsed] reports the same with the hits.
func (m *Memory) ParseQuery(ctx context.Context, q Query) (ParsedQuery, error) {
	var parsed ParsedQuery
	for v, err := range m.views(ctx, q) {
		if err != nil {
			return ParsedQuery{}, err
		}
		parsed = v.newParsedQuery(q, v.MakePlan(v.rankingQuery(q)))
	}
	return parsed, nil
}

// newParsedQuery reports how the query with plan p was understood.
func (v *rankedView) newParsedQuery(q Query, p *ranking.Plan) ParsedQuery {
	read := ParsedQuery{Rank: v.RankingName(), StopWords: p.OnlyStopWords}
	if v.RankingName() != RankSeed {
		read.Dates = q.Dates
	}
	for _, w := range p.WordTerms {
		df, idf := v.WordDocumentFrequency(w)
		read.Terms = append(
			read.Terms,
			ParsedTerm{Word: w.Word, Term: w.Term, Corrected: w.Corrected, DF: df, IDF: idf},
		)
	}
	return read
}

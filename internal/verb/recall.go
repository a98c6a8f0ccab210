// This file implements the verbs recall, get and list.

package verb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/query"
)

// defaultTurnsAroundHit is the number of turns that are shown before and after a hit in a conversation. On the LoCoMo
// benchmark, the best five hits contain the answer to 76 of 100 questions without these turns, and to 86 with them.
const defaultTurnsAroundHit = 2

// Recall finds entries by words, and returns the best entries first. Depending on the request, Recall searches the
// notes, the past sessions, or both. If it searches both, the hits from sessions follow the hits from notes, and each
// search gets half of the token limit. If only one of the two searches finds hits, Recall returns only its result.
func Recall(ctx context.Context, w *Workspace, in RecallIn) (RecallOut, error) {
	now := w.CurrentTime()
	asked, err := query.ParseRequest(in.Query, now)
	if err == nil {
		err = in.fillRequest(&asked, now)
	}
	if err != nil {
		return RecallOut{}, err
	}
	if asked.Memory == "" || asked.Memory == query.InNotes {
		return searchWorkspace(ctx, w, in, asked)
	}
	over, err := w.SessionsWorkspace(ctx)
	if err != nil {
		return RecallOut{}, err
	}
	askedTurns := asked
	askedTurns.Query.Filter = asked.Query.Filter.And(session.TurnFilter)
	if asked.Memory == query.InSessions {
		return searchWorkspace(ctx, over, in, askedTurns)
	}
	if in.MaxTokens == nil && !w.Unbounded {
		half := defaultMaxTokens / 2
		in.MaxTokens = &half
	} else if in.MaxTokens != nil {
		half := (*in.MaxTokens + 1) / 2
		in.MaxTokens = &half
	}
	notes, err := searchWorkspace(ctx, w, in, asked)
	if err != nil {
		return notes, err
	}
	turns, err := searchWorkspace(ctx, over, in, askedTurns)
	if err != nil || len(turns.Hits) == 0 {
		return notes, err
	}
	if len(notes.Hits) == 0 {
		return turns, nil
	}
	notes.Hits, notes.HasMore = append(notes.Hits, turns.Hits...), notes.HasMore || turns.HasMore
	notes.Notes = append(
		append(notes.Notes, turns.Notes...),
		Notef(
			"%s last",
			text.FormatCount(len(turns.Hits), "hit from past sessions comes", "hits from past sessions come"),
		),
	)
	return notes, nil
}

// fillRequest adds the arguments that select and rank entries to a request. It sets neither the limit nor the change
// number of the query. It returns an error if an argument is invalid or contradicts the request. It also returns an
// error if the request would select all entries of the memory.
func (in RecallIn) fillRequest(request *query.Request, now time.Time) error {
	namesBoth := in.SearchScope != "" && request.Memory != ""
	if namesBoth && in.SearchScope != request.Memory {
		return InvalidValue("in", in.SearchScope, "is not what the query says, which is in:"+request.Memory)
	}
	request.Memory = cmp.Or(request.Memory, in.SearchScope)
	f, err := in.EntrySelection.CombineFilter(in.Filter, now)
	if err != nil {
		return err
	}
	q := &request.Query
	q.Filter = q.Filter.And(f).And(in.callingVerbFilter)
	if in.RecencyHalfLife != "" {
		half, ok := ParseTimeSpan(in.RecencyHalfLife)
		if !ok || half <= 0 {
			return InvalidValue("recency", in.RecencyHalfLife, "is not a half-life; write 30d, 12w, 6mo, 1y or 36h")
		}
		q.Recency, q.Now = half, now
	}
	q.Explain = in.Explain
	q.Collapse = in.CollapseSimilarHits
	q.Rank = in.RankingName
	q.Around = defaultTurnsAroundHit
	if in.TurnsAroundHit != nil {
		q.Around = *in.TurnsAroundHit
	}
	selectsAll := strings.TrimSpace(q.Text) == "" && q.Filter.IsZero()
	// A request without words and without a filter selects everything. This is allowed only for past sessions, and
	// returns their newest turns.
	if selectsAll && request.Memory != query.InSessions {
		return InvalidValue("query", "", "is empty; say what to look for, give a filter, or use list")
	}
	return nil
}

// searchWorkspace searches the memory of the workspace, and returns the hits that fit into the token limit. If the
// query finds nothing, the words that each hit must contain become optional, and the search is repeated. If nothing is
// found again, the result contains the reasons.
func searchWorkspace(ctx context.Context, w *Workspace, in RecallIn, request query.Request) (RecallOut, error) {
	q := request.Query
	limit, notes, err := ResolveLimit(in.Limit, oxbow.DefaultLimit)
	if err != nil {
		return RecallOut{}, err
	}
	out := RecallOut{Hits: []Entry{}, Notes: append(notes, misspeltTermNotes(request.Misspellings)...)}
	most, err := w.tokenBudget(in.MaxTokens, defaultMaxTokens)
	if err != nil {
		return RecallOut{}, err
	}
	keep := in.MaxTokens == nil && w.Unbounded
	if keep {
		// The answer is unlimited, but entries are shown in full only up to this number of tokens.
		most = defaultMaxTokens
	}
	ctx, m, err := w.OpenMemory(ctx, Read)
	if err != nil {
		return RecallOut{}, err
	}
	if in.AsOf != "" {
		q.AsOf, err = ResolveChangeSeq(ctx, m, in.AsOf, w.CurrentTime())
		if err != nil {
			return RecallOut{}, err
		}
		out.AsOfSeq = q.AsOf
		if q.AsOf == 0 {
			out.EmptyReasons = []Note{Notef("the memory held nothing yet at %s", in.AsOf)}
			return out, nil
		}
	}
	// Request one more hit than needed, to learn whether there are more.
	q.Limit = min(limit+1, oxbow.MaxLimit)
	lacked := w.Vectors.addVectorRanking(&q)
	hits, read, err := m.RecallParsed(ctx, q)
	if err == nil {
		hits, read, err = replaceRedundantDigestHits(ctx, m, q, hits, read)
	}
	if err != nil {
		return RecallOut{}, err
	}
	if len(hits) == 0 && hasRequiredWords(&q) {
		hits, read, err = out.recallWithoutRequiredWords(ctx, m, &q, read)
		if err != nil {
			return RecallOut{}, err
		}
	}
	if w.isSessionsArchive {
		removeProgramOnlyText(hits)
	}
	hits = hitsCallerMaySee(ctx, m, hits, q.AsOf != 0)
	out.Notes = append(out.Notes, lacked()...)
	if len(hits) == 0 {
		for _, d := range read.Dates {
			out.Notes = append(out.Notes, Notef("%q was read as %s", d.Text, formatDateSpan(d)))
		}
		dates := in.ParseDateFilterTerms(w.CurrentTime(), in.Query, in.Filter)
		out.EmptyReasons, out.SimilarNames, err = w.explainNoHits(ctx, m, q, dates)
		return out, err
	}
	out.HasMore = len(hits) > limit
	if out.HasMore {
		hits = hits[:limit]
		more := Notef("there are more hits; raise %s, or add words or a filter", ParamRef("limit"))
		out.Notes = append(out.Notes, more)
	}
	contents := out.addHits(ctx, w, hits, read)
	out.cutToBudget(contents, most, keep)
	shown := make([]oxbow.Entry, len(out.Hits))
	for i := range out.Hits {
		shown[i] = hits[i].Entry
	}
	RecordShownEntries(ctx, shown...)
	for i, h := range out.Hits {
		if h.Content != nil && q.AsOf == 0 {
			seenEntriesWithoutHistory(ctx, m).RecordShownEntries(hits[i].Entry)
		}
	}
	return out, nil
}

// hasRequiredWords reports whether the query contains words or phrases that each hit must contain.
func hasRequiredWords(q *oxbow.Query) bool {
	return q.Operators != nil && len(q.Operators.Must) > 0
}

// maxMisspeltTerms is the maximum number of misspelt filter terms that notes name.
const maxMisspeltTerms = 3

// misspeltTermNotes returns notes about words that look like misspelt filter terms. They were searched as ordinary
// words and did not filter anything.
func misspeltTermNotes(all []query.Misspelling) (notes []Note) {
	for _, m := range all[:min(len(all), maxMisspeltTerms)] {
		notes = append(notes, Notef("%q was looked for as words, not as a filter: %v", m.Word, m.Err))
	}
	return notes
}

// RecallWithoutDigests is like [oxbow.Memory.RecallParsed], but leaves out a digest if the hits also contain entries
// that it summarizes. For example, it returns a day's notes instead of the week's digest.
func RecallWithoutDigests(
	ctx context.Context,
	m *oxbow.Memory,
	q oxbow.Query,
) ([]oxbow.Hit, oxbow.ParsedQuery, error) {
	hits, read, err := m.RecallParsed(ctx, q)
	if err != nil {
		return nil, read, err
	}
	return replaceRedundantDigestHits(ctx, m, q, hits, read)
}

// replaceRedundantDigestHits removes a digest (an entry that summarizes other entries) from the hits if the hits also
// contain entries that the digest summarizes, because the digest would repeat these entries. If the hits had reached
// the limit of the query q, replaceRedundantDigestHits searches again, and the next best hits replace the removed
// digests. parsedQuery describes how the words and operators of the query were understood. The caller must not use the
// slice hits afterwards.
func replaceRedundantDigestHits(
	ctx context.Context,
	m *oxbow.Memory,
	q oxbow.Query,
	hits []oxbow.Hit,
	parsedQuery oxbow.ParsedQuery,
) ([]oxbow.Hit, oxbow.ParsedQuery, error) {
	found := len(hits)
	kept := removeRedundantDigestHits(hits)
	if len(kept) == found || found < maxHitCount(q) {
		return kept, parsedQuery, nil
	}
	// Search again with twice the limit, so that the next best hits can replace the removed digests.
	q.Limit = min(2*maxHitCount(q), oxbow.MaxLimit)
	more, parsedQuery, err := m.RecallParsed(ctx, q)
	if err != nil {
		return nil, parsedQuery, err
	}
	kept = removeRedundantDigestHits(more)
	return kept[:min(len(kept), found)], parsedQuery, nil
}

// maxHitCount returns the maximum number of hits for a query.
func maxHitCount(q oxbow.Query) int {
	if q.Limit == 0 {
		return oxbow.DefaultLimit
	}
	return q.Limit
}

// recallWithoutRequiredWords repeats the search q without the words and phrases that each hit must contain. If this
// search finds entries, recallWithoutRequiredWords adds a note and removes the required words from q. It then returns
// the hits and the parsed form of the new query. If the search finds nothing or fails, recallWithoutRequiredWords
// returns no hits, and returns its last argument, the parsed form of q, unchanged.
func (out *RecallOut) recallWithoutRequiredWords(
	ctx context.Context,
	m *oxbow.Memory,
	q *oxbow.Query,
	parsedQuery oxbow.ParsedQuery,
) ([]oxbow.Hit, oxbow.ParsedQuery, error) {
	relaxed, operators := *q, *q.Operators
	operators.Must = nil
	relaxed.Operators = &operators
	hits, relaxedRead, err := m.RecallParsed(ctx, relaxed)
	if err != nil || len(hits) == 0 {
		return nil, parsedQuery, err
	}
	var must []string
	for _, s := range q.Operators.Must[:min(len(q.Operators.Must), maxWordsInNote)] {
		must = append(must, strconv.Quote(text.TruncateWithEllipsis(s, 60)))
	}
	out.Notes = append(
		out.Notes,
		Notef("no entry has %s; these were ranked without requiring that", strings.Join(must, " and ")),
	)
	*q = relaxed
	return hits, relaxedRead, nil
}

// hitsCallerMaySee returns the hits without the entries that the caller may not see. It also removes such entries from
// the turns before and after each hit. areOldVersions must be true if the hits are old versions of entries.
func hitsCallerMaySee(ctx context.Context, m *oxbow.Memory, hits []oxbow.Hit, areOldVersions bool) []oxbow.Hit {
	p := NewPastTextFilter(m)
	withheld := func(e oxbow.Entry) bool {
		return !e.MayShow(oxbow.OnRequest(ctx)) || (areOldVersions && p.isWithheld(ctx,
			&e))
	}
	hits = slices.DeleteFunc(hits, func(h oxbow.Hit) bool { return withheld(h.Entry) })
	for i := range hits {
		hits[i].Before, hits[i].After = slices.DeleteFunc(
			hits[i].Before,
			withheld,
		), slices.DeleteFunc(hits[i].After, withheld)
	}
	return hits
}

// NoSessionNote says that the archive contains no session yet.
var NoSessionNote = Notef(
	"no session is recorded yet; %s to add the sessions that clients have stored, or %s to connect clients",
	PersonOnlyCommandRef("oxbow session import"),
	PersonOnlyCommandRef("oxbow setup"),
)

// explainNoHits returns the reasons why the query q found nothing, and similar words that exist in the memory. If the
// query searched the archive of sessions and the archive is empty, the only reason is NoSessionNote. For a query of the
// archive, oxbow has added the filter session.SessionFilter to the query. explainNoHits removes this filter from
// similarWords, because the caller did not write it.
func (w *Workspace) explainNoHits(
	ctx context.Context,
	m *oxbow.Memory,
	q oxbow.Query,
	dates DateFilterTerms,
) (reasons []Note, similarWords []string, err error) {
	if !w.isSessionsArchive {
		return explainNoHits(ctx, m, q, dates)
	}
	kept, err := m.Recall(ctx, oxbow.Query{Limit: 1, Filter: session.SessionFilter})
	if err != nil {
		return nil, nil, err
	}
	if len(kept) == 0 {
		return []Note{NoSessionNote}, nil, nil
	}
	reasons, similarWords, err = explainNoHits(ctx, m, q, dates)
	own := session.SessionFilter.String()
	return reasons, slices.DeleteFunc(similarWords, func(s string) bool { return s == own }), err
}

// removeProgramOnlyText changes each hit's content and the content of the turns around it. It removes the parts that
// are meant only for programs.
func removeProgramOnlyText(hits []oxbow.Hit) {
	for i := range hits {
		h := &hits[i]
		h.Entry.Content = session.ReadableText(h.Entry.Content)
		for _, near := range [][]oxbow.Entry{h.Before, h.After} {
			for j := range near {
				near[j].Content = session.ReadableText(near[j].Content)
			}
		}
	}
}

func hitEntries(hits []oxbow.Hit) []oxbow.Entry {
	es := make([]oxbow.Entry, len(hits))
	for i, h := range hits {
		es[i] = h.Entry
	}
	return es
}

// queryInterpretationNotes returns notes about how the query was understood, if this may surprise the caller.
func queryInterpretationNotes(parsedQuery oxbow.ParsedQuery, hits []oxbow.Hit) []Note {
	var notes []Note
	if parsedQuery.StopWords {
		notes = append(
			notes,
			PlainNote(
				"the query contains only very common words, which say little about an entry; they were searched for anyway",
			),
		)
	}
	for _, t := range parsedQuery.Terms {
		if t.Corrected && len(notes) < maxWordsInNote {
			notes = append(notes, Notef("no entry holds %q; took %q", t.Word, shownWordForTerm(t.Term, hits)))
		}
	}
	for _, d := range parsedQuery.Dates {
		notes = append(
			notes,
			Notef(
				"%q was read as %s: what is from then comes a little sooner; on:%s would leave out all else",
				d.Text,
				formatDateSpan(d),
				strconv.Quote(d.Text),
			),
		)
	}
	return notes
}

// formatDateSpan returns the first and the last day of a span, as text.
func formatDateSpan(d oxbow.Span) string {
	first := d.From.Format(time.DateOnly)
	switch last := d.To.Add(-time.Second).Format(time.DateOnly); {
	case d.To.IsZero():
		return first + " on"
	case d.From.IsZero():
		return "up to " + last
	case last != first:
		return first + " to " + last
	}
	return first
}

// shownWordForTerm returns a word in the hits whose stem is the parameter term. If the hits do not contain such a word,
// it returns the parameter term unchanged.
func shownWordForTerm(term string, hits []oxbow.Hit) string {
	matcher := newWordMatcher(oxbow.ParsedQuery{Rank: oxbow.RankOxbow, Terms: []oxbow.ParsedTerm{{Term: term}}})
	for _, h := range hits {
		if ws := matcher.matchedWords(&h.Entry); len(ws) > 0 {
			return ws[0]
		}
	}
	return term
}

// wordMatcher finds the words that match a term of a query.
type wordMatcher struct {
	terms      map[string]bool
	firstBytes [256]bool            // bytes with which terms begin
	termFinder *analysis.TermFinder // finds words by their stems (nil if the ranking compares whole words)
	seen       map[string]bool      // words of the present entry that matched (reused)
}

// newWordMatcher returns a wordMatcher for a query.
func newWordMatcher(parsedQuery oxbow.ParsedQuery) *wordMatcher {
	m := &wordMatcher{terms: map[string]bool{}, seen: map[string]bool{}}
	for _, t := range parsedQuery.Terms {
		m.terms[t.Term] = true
		if t.Term != "" {
			m.firstBytes[t.Term[0]] = true
		}
	}
	if parsedQuery.Rank != oxbow.RankSeed {
		m.termFinder = analysis.NewTermFinder(analysis.NewTermSet(slices.Collect(maps.Keys(m.terms)), nil))
	}
	return m
}

// matchedWords returns the words in an entry's name and content that match a term of the query, in lower case and
// without repetitions.
func (m *wordMatcher) matchedWords(e *oxbow.Entry) []string {
	var matched []string
	clear(m.seen)
	for _, s := range []string{e.Name, e.Content} {
		for w := range text.CrabtalkTermsMatching(s, m.mayMatch) {
			if m.isMatch(w) && !m.seen[w] {
				m.seen[w] = true
				matched = append(matched, w)
			}
		}
	}
	return matched
}

// mayMatch reports whether a word may match a term after it was converted to lower case. It returns false for most of
// the words that match no term.
func (m *wordMatcher) mayMatch(word string) bool {
	if m.termFinder != nil {
		return m.termFinder.MayWantWord(word) || m.mayBeTerm(word)
	}
	return m.mayBeTerm(word)
}

// mayBeTerm reports whether a word begins like a term, without regard to case.
func (m *wordMatcher) mayBeTerm(word string) bool {
	c := word[0]
	return c >= utf8.RuneSelf || m.firstBytes[c] || (c >= 'A' && c <= 'Z' && m.firstBytes[c+'a'-'A'])
}

// isMatch reports whether a word in lower case matches a term.
func (m *wordMatcher) isMatch(word string) bool {
	// First compare the word's first byte with those of the terms. Most words differ in this byte, and need not be
	// looked up in the map.
	isTerm := m.firstBytes[word[0]] && m.terms[word]
	return isTerm || (m.termFinder != nil && m.termFinder.SearchesForWord(word))
}

// addHits adds the hits to the result, with their snippets, file references and trust levels, and adds notes. It
// returns the content of each hit.
func (out *RecallOut) addHits(
	ctx context.Context,
	w *Workspace,
	hits []oxbow.Hit,
	parsedQuery oxbow.ParsedQuery,
) (contents []string) {
	out.Notes = append(out.Notes, queryInterpretationNotes(parsedQuery, hits)...)
	var cited map[uint64][]FileRef
	if out.AsOfSeq == 0 { // An old state of the memory is not compared with the present files.
		var notes []Note
		cited, notes = w.CheckFileRefs(ctx, hitEntries(hits))
		out.Notes = append(append(out.Notes, notes...), demoteStaleHits(hits, cited)...)
	}
	shown := map[uint64]bool{} // Show each turn only once.
	for _, h := range hits {
		shown[h.Entry.ID] = true
	}
	turns := func(es []oxbow.Entry) (ts []Turn) {
		for _, e := range es {
			if !shown[e.ID] {
				ts = append(ts, Turn{e.Name, e.Content})
			}
			shown[e.ID] = true
		}
		return ts
	}
	matcher := newWordMatcher(parsedQuery)
	out.Hits, contents = slices.Grow(out.Hits, len(hits)), make([]string, 0, len(hits))
	for i := range hits {
		h := &hits[i]
		e := makeEntry(h.Entry)
		e.Score = h.Score
		e.Citations = cited[h.Entry.ID]
		e.SameContentNames = h.Alike
		e.HitContent = h.Entry.Content
		e.MatchedWords = matcher.matchedWords(&h.Entry)
		e.Snippet = makeSnippet(h.Entry.Content, e.MatchedWords, snippetWidth)
		e.Explanation = makeExplanation(h.Explanation)
		e.turnsBeforeAndAfter = [2][]Turn{turns(h.Before), turns(h.After)}
		slices.Reverse(e.turnsBeforeAndAfter[0])
		out.Hits, contents = append(out.Hits, e), append(contents, h.Entry.Content)
	}
	if w.Unlabelled { // If w.Unlabelled is not set, makeEntry has already set the trust levels.
		entries := make([]*Entry, len(out.Hits))
		for i := range out.Hits {
			entries[i] = &out.Hits[i]
		}
		w.setTrustLevels(entries, hitEntries(hits))
	}
	return contents
}

func makeExplanation(x *oxbow.Explanation) *Explanation {
	if x == nil {
		return nil
	}
	a := &Explanation{Formula: x.Formula, Entries: x.Entries, Length: x.Length, AvgLen: x.AvgLen, Terms: []TermScore{}}
	for _, t := range x.Terms {
		ts := TermScore{
			Term:      t.Term,
			QueryWord: t.Word,
			Weight:    t.Weight,
			TF:        t.TF,
			DF:        t.DF,
			IDF:       t.IDF,
			Score:     t.Score,
		}
		for _, f := range t.Fields {
			ts.Fields = append(ts.Fields, FieldScore(f))
		}
		a.Terms = append(a.Terms, ts)
	}
	return a
}

// ResolveChangeSeq returns the number of a change for dateOrSeq, which is a change number or a date. A plain number is
// always a change number and is returned unchanged, so a year must be written as a date such as 2026-12-31. For a date,
// ResolveChangeSeq returns the number of the last change up to the end of the day or month. It returns 0 if the date is
// before the first change.
func ResolveChangeSeq(ctx context.Context, m *oxbow.Memory, dateOrSeq string, now time.Time) (uint64, error) {
	if seq, err := strconv.ParseUint(dateOrSeq, 10, 64); err == nil {
		if seq == 0 {
			return 0, InvalidValue("as_of", dateOrSeq, "is no change; they count from 1")
		}
		return seq, nil
	}
	day, err := TimeFilter("as_of", "until", dateOrSeq, now)
	if invalid, ok := errors.AsType[*oxbow.InvalidError](err); ok {
		return 0, InvalidValue("as_of", dateOrSeq, "is not the number of a change and "+invalid.Reason)
	}
	if err != nil {
		return 0, err
	}
	h, err := m.History()
	if err != nil {
		return 0, err
	}
	return h.SeqAt(ctx, day.Before.Add(-1))
}

// Get returns an entry in its current version, or in an earlier one if in.Name has the form NAME@SEQ.
func Get(ctx context.Context, w *Workspace, in GetIn) (GetOut, error) {
	offset, most, err := w.PageBounds(in.Offset, in.MaxTokens)
	if err != nil {
		return GetOut{}, err
	}
	ctx, m, err := w.OpenMemory(ctx, in.requiredAccess())
	if err != nil {
		return GetOut{}, err
	}
	if in.WithoutSimilarNames {
		silent := *w
		silent.omitsNameSuggestions = true
		w = &silent
	}
	e, past, notes, err := w.entryOrVersion(ctx, m, in.Name)
	if errors.Is(err, oxbow.ErrNotFound) && w.mayBeTurnName(in.Name) {
		if over, oerr := w.SessionsWorkspace(ctx); oerr == nil {
			return Get(ctx, over, in)
		}
	}
	if w.isSessionsArchive {
		e.Content = session.ReadableText(e.Content)
	}
	if err != nil {
		return GetOut{}, err
	}
	WithholdQuarantinedText(ctx, &e)
	if past {
		NewPastTextFilter(m).WithholdText(ctx, &e)
	}
	out := GetOut{Entry: makeEntry(e), Notes: notes}
	w.setTrustLevels([]*Entry{&out.Entry}, []oxbow.Entry{e})
	out.Entry.Content = &e.Content
	if !past {
		cited, notes := w.CheckFileRefs(ctx, []oxbow.Entry{e})
		out.Citations = cited[e.ID]
		out.Notes = append(out.Notes, notes...)
	}
	if !past && !in.ContentOnly {
		out.addInjectionCounts(ctx, w)
	}
	err = out.cutToBudget(offset, most)
	if err == nil {
		page := e
		page.Content = *out.Content
		RecordShownEntries(ctx, page)
	}
	if err == nil && !past {
		seenEntriesWithoutHistory(ctx, m).recordShownPage(e, out.Offset, cmp.Or(out.NextOffset, len(e.Content)))
	}
	return out, err
}

// mayBeTurnName reports whether a name may refer to a turn in past sessions, such as claude/4f2a/3. It returns false
// if this workspace is already the sessions' workspace.
func (w *Workspace) mayBeTurnName(name string) bool {
	return w.Sessions != nil && !w.isSessionsArchive && strings.Count(name, "/") > 1
}

func (in GetIn) requiredAccess() MemoryAccess {
	if in.WithoutTeamFiles {
		return ReadWithoutTeamFiles
	}
	return Read
}

// addInjectionCounts stores two numbers in out: in how many turns the entry was shown to a model, and in how many turns
// a model used the entry. It also adds a note with these numbers. Errors of the archive are ignored, because the answer
// is useful without these numbers.
func (out *GetOut) addInjectionCounts(ctx context.Context, w *Workspace) {
	if w.Kept == nil {
		return
	}
	a, err := w.Kept(ctx)
	if err != nil || a == nil {
		return
	}
	counts, err := a.CountEntryUses(ctx, out.Name)
	if err != nil || counts[0].ShownTurns == 0 {
		return
	}
	out.ShownTurnCount, out.UsedTurnCount = counts[0].ShownTurns, counts[0].UsedTurns
	out.Notes = append(
		out.Notes,
		Notef(
			"shown %d, used %d: the turns of sessions in which hooks put it before a model; %s to see them",
			out.ShownTurnCount,
			out.UsedTurnCount,
			PersonOnlyCommandRef("oxbow injected --entry "+text.ShellQuote(out.Name)),
		),
	)
}

// entryOrVersion returns the entry with this name or alias, or an old version for a name of the form NAME@SEQ.
// isVersion is true for an old version.
func (w *Workspace) entryOrVersion(
	ctx context.Context,
	m *oxbow.Memory,
	typedName string,
) (e oxbow.Entry, isVersion bool, notes []Note, err error) {
	e, err = m.Get(ctx, typedName)
	if err == nil && !oxbow.SameName(e.Name, typedName) {
		notes = []Note{Notef("%q is an alias of %q", typedName, e.Name)}
	}
	// Look for NAME@SEQ only after the name was not found, because the name of an entry may end like that.
	name, seq, ok := splitVersionName(typedName)
	if !ok || oxbow.CheckName(name) != nil {
		err, ok = noSuchNameError(typedName, err), false
	}
	if !errors.Is(err, oxbow.ErrNotFound) || !ok {
		return e, false, notes, w.AdviseUnknownName(ctx, m, typedName, err)
	}
	v, err := m.VersionAt(ctx, name, seq)
	if err != nil {
		if now, nerr := m.Get(ctx, name); nerr == nil && now.Version == seq {
			return now, false, nil, nil // an entry in a team file has only one version
		}
		return e, false, nil, w.addVersionAdvice(ctx, m, name, seq, err)
	}
	if v.Erased {
		return e, false, nil, fmt.Errorf("%q as of change %d was erased for good: %w", name, seq, oxbow.ErrNotFound)
	}
	note := fmt.Sprintf("this is %q as of change %d; get without @%d gives what it says now", name, seq, seq)
	return v.Entry, true, []Note{PlainNote(note)}, nil
}

// noSuchNameError returns the error for a name that no entry has. If the name itself is invalid, the error says why.
// It returns other errors than [oxbow.ErrNotFound] unchanged.
func noSuchNameError(name string, err error) error {
	if bad := oxbow.CheckName(name); bad != nil && errors.Is(err, oxbow.ErrNotFound) {
		return bad
	}
	return err
}

// splitVersionName splits a name of the form NAME@SEQ. ok is false if s does not have this form.
func splitVersionName(s string) (name string, seq uint64, ok bool) {
	i := strings.LastIndexByte(s, '@')
	if i < 1 {
		return "", 0, false
	}
	seq, err := strconv.ParseUint(s[i+1:], 10, 64)
	return s[:i], seq, err == nil && seq > 0
}

// ListEntries returns the entries that the arguments select, the newest first.
func ListEntries(ctx context.Context, w *Workspace, in ListIn) (ListOut, error) {
	f, err := in.EntrySelection.CombineFilter(in.Filter, w.CurrentTime())
	if err != nil {
		return ListOut{}, err
	}
	limit, notes, err := ResolveLimit(in.Limit, DefaultListLimit)
	if err != nil {
		return ListOut{}, err
	}
	offset, most, err := w.PageBounds(in.Offset, in.MaxTokens)
	if err != nil {
		return ListOut{}, err
	}
	ctx, m, err := w.OpenMemory(ctx, Read)
	if err != nil {
		return ListOut{}, err
	}
	out := ListOut{Entries: []Entry{}, Notes: notes}
	page, total, err := m.Newest(ctx, f, offset, limit)
	if err != nil {
		return ListOut{}, err
	}
	out.Total = total
	switch {
	case total == 0:
		out.EmptyReasons, out.SimilarNames, err = explainNoHits(
			ctx,
			m,
			oxbow.Query{Filter: f},
			in.ParseDateFilterTerms(w.CurrentTime(), in.Filter),
		)
		return out, err
	case offset >= total:
		out.EmptyReasons = []Note{
			Notef("offset %d is past the last of %s", offset, text.FormatCount(total, "entry", "entries")),
		}
		return out, nil
	}
	var at []int // index in page of each entry that is shown
	for i, e := range page {
		if e.MayShow(oxbow.OnRequest(ctx)) {
			out.Entries, at = append(out.Entries, outlineEntry(ctx, e)), append(at, i)
		}
	}
	shown := make([]*Entry, len(at))
	entries := make([]oxbow.Entry, len(at))
	for i, n := range at {
		shown[i], entries[i] = &out.Entries[i], page[n]
	}
	w.setTrustLevels(shown, entries)
	out.cutToBudget(offset, most, append(at, len(page)))
	return out, nil
}

// This file adjusts the scores of dialogues. A talk is a conversation between people. The score of a turn in a talk
// depends on the turn's neighbours, on the speaker, and on whether the turn is a question. A chat is a conversation
// with a program. The score of a turn in a chat depends on whether the program wrote the turn. The score of a whole
// dialogue also depends on the part of the dialogue with the most query words.

package ranking

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"unique"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// These parameters adjust the scores of dialogues. A turn is short, and often only earlier turns mention its subject.
const (
	// Scores are adjusted only if the first hits of the index contain parts of dialogues. This is how many hits are
	// examined.
	maxCheckedHits = 10
	// minimum number of hits of the index whose scores are recomputed with the adjustments for dialogues
	minCandidates = 30

	namedSpeakerFactor = 1.5 // factor for the score of a turn whose speaker is named in the query
	questionTurnFactor = 0.8 // factor for the score of a turn that ends in a question
	timeMentionFactor  = 1.3 // factor for the score of a turn that mentions a time, if the query asks for a time
	// factor for the score of a turn that a program wrote, unless the query asks for texts by programs
	programTurnFactor = 0.7

	// Weight of a query word that is the speaker's name. It is low because namedSpeakerFactor already raises the
	// score.
	speakerNameWeight = 0.5
	// If a larger share of English texts contains a word, the word has less weight in chats with programs.
	minEnglishTermShare = 0.001
)

// candidateCount returns the number of hits to fetch from the index if limit turns are wanted.
func candidateCount(limit int) int { return max(minCandidates, limit+limit/2) }

// dialogueKinds reports which kinds of dialogue occur among the hits. Only kinds that affect the ranking are
// distinguished.
type dialogueKinds struct {
	hasTalks bool // there are turns of talks
	// some hits are turns that programs wrote in a chat, and the query does not ask for texts by programs
	hasChats          bool
	hasWholeDialogues bool // there are hits that contain a whole dialogue
}

// findDialogueKinds returns the kinds of dialogue among the hits.
func (v *View) findDialogueKinds(p *Plan, hits []index.Hit) (s dialogueKinds) {
	for i := range hits {
		switch v.itemTurn(v.hitItem(&hits[i])).speechKind {
		case analysis.TurnOfTalk:
			s.hasTalks = true
		case analysis.TurnOfChat:
			s.hasChats = !p.isAddressedToProgram
		case analysis.WholeTalk, analysis.WholeChat:
			s.hasWholeDialogues = true
		}
	}
	return s
}

// rescoreDialogues adjusts the scores of the candidates for dialogues, and ranks them again. The candidates are the
// index's hits and the nearest neighbours of these hits.
func (v *View) rescoreDialogues(p *Plan, found []index.Hit, limit int) []index.Hit {
	p.stretchRanked = nil
	if p.foundKinds.hasWholeDialogues {
		for _, h := range found[:min(len(found), maxHitsForStretches)] {
			p.stretchRanked = append(p.stretchRanked, h.ID)
		}
		slices.Sort(p.stretchRanked)
	}
	d := newDialogue(v, p, found)
	defer d.releaseForReuse()
	p.neighbourOnlyLimit = d.neighbourOnlyLimit()
	order := func(a, b index.Hit) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c
		}
		return cmp.Or(v.compareNewestFirst(a, b), cmp.Compare(a.ID, b.ID))
	}
	hits := make([]index.Hit, 0, min(limit, len(d.candidates))+1)
	a := &d.accountBuffer
	slices.SortFunc(
		d.candidates,
		func(i, j int) int { return cmp.Compare(d.neighbourhood[j].scoreBound, d.neighbourhood[i].scoreBound) },
	)
	for _, i := range d.candidates {
		if len(hits) == limit && d.neighbourhood[i].scoreBound < hits[limit-1].Score {
			// no remaining candidate can reach the score of the worst hit, because the candidates are sorted by their
			// upper bounds
			break
		}
		d.explainScore(i, a)
		h := index.Hit{ID: d.neighbourhood[i].id, Score: a.score}
		isLow := len(hits) == limit && h.Score < hits[limit-1].Score
		if h.Score <= 0 || isLow {
			continue // skip the entry without reading it, because it cannot score high enough
		}
		h.Data = d.itemAt(i)
		if len(hits) == limit && order(hits[limit-1], h) < 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(hits, h, order)
		hits = slices.Insert(hits, at, h)
		hits = hits[:min(len(hits), limit)]
	}
	return hits
}

// dialogueScorer contains the candidates and their neighbours, and the data that the adjustments of scores need.
type dialogueScorer struct {
	view       *View
	plan       *Plan
	candidates []int // indexes in the list neighbourhood of the entries that may become hits, ascending
	// the entries that may become hits and the entries with the IDs around them, sorted by ID
	neighbourhood []candidate
	termScores    index.TermScores
	// For each term of the query, whether it is a date. Dates of neighbouring turns do not raise a turn's score.
	isDateTerm []bool
	speakers   []speakerWeights // speakers that were looked up so far (usually few)

	cachedRarities []float64 // weight of each term in a chat (nil until needed)

	idBuffer      []uint64       // memory for a list of IDs, which is used again for other queries
	stretchFinder *stretchFinder // nil until needed
	accountBuffer scoreExplanation
}

// candidate is an entry that may become a hit, or a neighbour of such an entry. No entry may exist with this ID,
// because all IDs around a hit are looked up.
type candidate struct {
	id uint64
	// what each query term adds to the entry's score in the index (nil if the entry is not in the index)
	termScores   []float64
	maxTermScore float64 // largest of termScores
	scoreBound   float64 // score that the entry cannot exceed after all adjustments (not set for neighbours)
	item         Item    // the entry itself (nil until it is read)
	// turn that the entry contains (nil until it is read, noTurn if the query's conditions exclude the entry)
	turn *dialogueTurn
}

// spareDialogues contains used dialogueScorers for reuse, because a dialogueScorer has a size of about 50 kB.
var spareDialogues = sync.Pool{New: func() any { return new(dialogueScorer) }}

// newDialogue looks up the hits and their neighbours. The nearest neighbours become candidates as well. The caller may
// release the result as soon as nothing refers to a part of it.
func newDialogue(v *View, p *Plan, hits []index.Hit) *dialogueScorer {
	t := spareDialogues.Get().(*dialogueScorer)
	t.view, t.plan = v, p
	ids := make([]uint64, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	slices.Sort(ids)
	reach := uint64(0)
	if p.foundKinds.hasTalks {
		reach = maxCandidateDistance + maxNeighbourDistance
	}
	for _, id := range ids {
		from, last := id-min(id, reach), id+min(reach, math.MaxUint64-id)
		if n := len(t.idBuffer); n > 0 {
			if t.idBuffer[n-1] == last {
				continue // idBuffer already ends with the largest possible ID
			}
			from = max(from, t.idBuffer[n-1]+1)
		}
		for n := from; n < last; n++ {
			t.idBuffer = append(t.idBuffer, n)
		}
		t.idBuffer = append(t.idBuffer, last)
	}
	v.searcher.ComputeTermScores(&t.termScores, t.idBuffer, p.indexQuery.Terms)
	for _, text := range t.termScores.Terms {
		t.isDateTerm = append(t.isDateTerm, strings.HasPrefix(text, datePrefix))
	}
	t.neighbourhood = slices.Grow(t.neighbourhood, len(t.idBuffer))
	for i, id := range t.idBuffer {
		n := candidate{id: id, termScores: t.termScores.Contributions(i)}
		for _, given := range n.termScores {
			n.maxTermScore = max(n.maxTermScore, given)
		}
		t.neighbourhood = append(t.neighbourhood, n)
	}
	for _, h := range hits {
		t.neighbourhood[t.indexOfID(h.ID)].item, _ = h.Data.(Item)
	}
	i := 0
	for _, id := range ids {
		for t.neighbourhood[i].id < id {
			i++
		}
		t.candidates = append(t.candidates, i)
		t.eachNeighbour(
			i,
			maxCandidateDistance,
			nil,
			func(n *candidate, step int) { t.candidates = append(t.candidates, i+step) },
		)
	}
	slices.Sort(t.candidates)
	t.candidates = slices.Compact(t.candidates)
	for _, i := range t.candidates {
		t.neighbourhood[i].scoreBound = t.upperScoreBound(i)
	}
	return t
}

// upperScoreBound returns a score that candidate i cannot exceed after all adjustments. If the hits contain turns of
// talks between people, it is infinite, because only such turns have factors above 1.
func (t *dialogueScorer) upperScoreBound(i int) float64 {
	if t.plan.foundKinds.hasTalks {
		return math.Inf(1)
	}
	_, long := slices.BinarySearch(t.plan.stretchRanked, t.neighbourhood[i].id)
	sum := 0.0
	for k, given := range t.neighbourhood[i].termScores {
		if long && given > 0 {
			given += stretchWeight * t.termScores.Gains[k]
		}
		sum += given
	}
	return sum
}

// releaseForReuse keeps the scorer's memory for another query. The scorer must not be used afterwards.
func (t *dialogueScorer) releaseForReuse() {
	clear(t.speakers)
	t.termScores.Release()
	clear(t.neighbourhood)
	*t = dialogueScorer{
		candidates:    t.candidates[:0],
		neighbourhood: t.neighbourhood[:0],
		termScores:    t.termScores,
		isDateTerm:    t.isDateTerm[:0],
		speakers:      t.speakers[:0],
		idBuffer:      t.idBuffer[:0],
		accountBuffer: t.accountBuffer,
	}
	spareDialogues.Put(t)
}

// readTurn returns the entry with index i in the list neighbourhood, with its turn of a dialogue. This may read a
// file. Therefore it is called only when the turn is needed, because most neighbours contribute nothing.
func (t *dialogueScorer) readTurn(i int) *candidate {
	n := &t.neighbourhood[i]
	if n.turn != nil {
		return n
	}
	n.turn = turnOutsideDialogue
	if n.termScores != nil {
		n.turn = t.view.itemTurn(t.itemAt(i))
	}
	if n.turn.speechKind != analysis.TurnOfTalk || t.plan.acceptDocument == nil {
		return n
	}
	if !t.plan.acceptDocument(n.id) {
		n.turn = turnOutsideDialogue
	}
	return n
}

// itemAt returns the entry with index i in the list neighbourhood, or nil if the entry cannot be read.
func (t *dialogueScorer) itemAt(i int) Item {
	n := &t.neighbourhood[i]
	if n.item == nil {
		it, ok := t.termScores.Data(i).(Item)
		if !ok {
			it = t.view.findItem(n.id)
		}
		n.item = it
	}
	return n.item
}

// indexOfID returns the index of the entry with this ID in the list neighbourhood.
func (t *dialogueScorer) indexOfID(id uint64) int {
	i, _ := slices.BinarySearchFunc(
		t.neighbourhood,
		id,
		func(p candidate, id uint64) int { return cmp.Compare(p.id, id) },
	)
	return i
}

// eachNeighbour calls fn for the turns before and after turn i of a talk between people. It visits at most reach turns
// in each direction, which have consecutive IDs. A turn is visited only if the query's conditions select it and it was
// created at most an hour before or after turn i. Both turns must belong to the same session, if they have one. Other
// entries between the turns are skipped. If isWorthwhile is not nil and returns false for a turn, the turn is skipped
// without being read. If the entry with index i is not a turn of a talk, fn is not called.
func (t *dialogueScorer) eachNeighbour(
	i, reach int,
	isWorthwhile func(n *candidate, step int) bool,
	fn func(n *candidate, step int),
) {
	if !t.plan.foundKinds.hasTalks {
		return // Only turns of talks have neighbours. Return without reading the entry.
	}
	own := t.readTurn(i)
	if own.turn.speechKind != analysis.TurnOfTalk {
		return
	}
	for n := range 2 * reach {
		step := n/2 + 1 // visit the nearest turns first
		if n%2 == 0 {
			step = -step
		}
		j := i + step
		if j < 0 || j >= len(t.neighbourhood) {
			continue
		}
		if t.neighbourhood[j].id != own.id+uint64(int64(step)) {
			continue
		}
		if isWorthwhile != nil {
			if n := &t.neighbourhood[j]; n.maxTermScore == 0 || !isWorthwhile(n, step) {
				continue
			}
		}
		if n := t.readTurn(j); n.turn.isInSameTalkAs(own.turn) {
			fn(n, step)
		}
	}
}

// scoreExplanation explains the score of an entry. The score is a sum, multiplied by all factors. The sum contains the
// terms' contributions and the contributions from the best stretch (the part of a long text with the most query
// words). Each contribution is multiplied by the weight of its term.
type scoreExplanation struct {
	termScores []float64 // what each query term adds to the score
	// for each query term, the sum of the fourth powers of the contributions (only for a turn in a talk; see
	// addNeighbourScores)
	fourthPowers []float64
	neighbours   []neighbourContribution // what the turns before and after this turn add to the score
	// what each query term adds to the score because of the part of a long dialogue that matches the query best (nil
	// without such a part)
	stretchScores []float64
	termWeights   []float64 // factor for what each query term adds (nil means 1 for all terms)
	weightReason  string    // reason for termWeights, which is shown to the user
	factors       []scoreFactor
	score         float64
}

type scoreFactor struct {
	reason     string
	multiplier float64
}

// explainScore sets a to the explanation of candidate i's score. It reuses the memory of a.
func (t *dialogueScorer) explainScore(i int, a *scoreExplanation) {
	own := t.readTurn(i)
	a.termScores = append(a.termScores[:0], own.termScores...)
	a.stretchScores = nil
	a.termWeights = nil
	a.factors = a.factors[:0]
	a.score = 0
	t.addNeighbourScores(i, own, a)
	if _, long := slices.BinarySearch(t.plan.stretchRanked, own.id); long {
		a.stretchScores = t.bestStretch(i)
	}
	switch {
	case own.turn.speechKind == analysis.WholeChat && t.plan.foundKinds.hasWholeDialogues:
		a.termWeights, a.weightReason = t.termRarities(), "how common it is"
	case own.turn.speechKind == analysis.TurnOfTalk && t.plan.foundKinds.hasTalks:
		a.termWeights, a.weightReason = t.speakerByName(own.turn.speaker).termWeights, "the name of who speaks"
	}
	for k, given := range a.termScores {
		if a.stretchScores != nil {
			given += a.stretchScores[k]
		}
		if a.termWeights != nil {
			given = float64(given * a.termWeights[k])
		}
		a.score += given
	}
	if a.score > 0 {
		a.factors = t.appendFactors(own, a.termScores, a.factors)
	}
	if t.plan.indexQuery.ScoreFactor != nil {
		a.factors = append(a.factors, scoreFactor{"age", t.plan.indexQuery.ScoreFactor(own.id)})
	}
	for _, f := range a.factors {
		a.score *= f.multiplier
	}
	t.limitToNeighbourScore(i, own, a)
}

// termRarities returns the weight of each term in a chat with a program, because such a chat usually has many
// subjects. The weight is the square root of the term's information, relative to a term that occurs in one in 1,000
// English texts.
func (t *dialogueScorer) termRarities() []float64 {
	if t.cachedRarities == nil {
		for _, term := range t.termScores.Terms {
			share := max(analysis.EnglishShare(term), minEnglishTermShare)
			t.cachedRarities = append(t.cachedRarities, math.Sqrt(math.Log(share)/math.Log(minEnglishTermShare)))
		}
	}
	return t.cachedRarities
}

// bestStretch finds the part of a dialogue, 40 words long, that matches the query best. It returns what each query
// term adds to the entry's score for this part. It returns nil if no part scores high enough. The result is valid
// until the next call.
func (t *dialogueScorer) bestStretch(i int) []float64 {
	it := t.itemAt(i)
	if it == nil || t.neighbourhood[i].maxTermScore == 0 {
		return nil
	}
	if t.stretchFinder == nil {
		t.stretchFinder = newStretch(t.termScores.Terms)
	}
	return t.stretchFinder.findBest(t.view.spokenTokens(it), t.termScores.Gains)
}

// appendFactors appends the factors by which the score of the entry own is multiplied. termScores contains what each
// query term adds to this score.
func (t *dialogueScorer) appendFactors(own *candidate, termScores []float64, fs []scoreFactor) []scoreFactor {
	switch own.turn.speechKind {
	case analysis.TurnOfChat:
		if t.plan.foundKinds.hasChats {
			fs = append(fs, scoreFactor{"a program says it", programTurnFactor})
		}
	case analysis.TurnOfTalk:
		if !t.plan.foundKinds.hasTalks {
			break
		}
		if share := t.termCoverage(termScores); share < 1 {
			fs = append(fs, scoreFactor{"words it has not", math.Sqrt(math.Sqrt(share))})
		}
		if t.speakerByName(own.turn.speaker).termWeights != nil {
			fs = append(fs, scoreFactor{"who speaks", namedSpeakerFactor})
		}
		if own.turn.isQuestion {
			fs = append(fs, scoreFactor{"it asks", questionTurnFactor})
		}
		if t.plan.asksForTime && t.mentionsTime(own) {
			fs = append(fs, scoreFactor{"it tells when", timeMentionFactor})
		}
	}
	return fs
}

// termCoverage returns the fraction of the query's terms, not counting dates, that contribute to the score. The result
// is never 0: if only a date matches, it counts as half a term. The factor for the score is the fourth root of the
// fraction. It is computed as two square roots, because a general power is five times slower and not identical on all
// machines.
func (t *dialogueScorer) termCoverage(termScores []float64) float64 {
	has, all := 0, 0
	for k, given := range termScores {
		if !t.isDateTerm[k] {
			all++
			if given > 0 {
				has++
			}
		}
	}
	if all == 0 {
		return 1
	}
	return max(float64(has), .5) / float64(all)
}

// speakerWeights are the weights that query terms have in the turns of one speaker.
type speakerWeights struct {
	name        unique.Handle[string]
	termWeights []float64 // weight of each query term (nil if the query does not name this speaker)
}

// speakerByName returns the speaker with this name. The query names the speaker if it contains a word of the name.
func (t *dialogueScorer) speakerByName(name unique.Handle[string]) *speakerWeights {
	for i := range t.speakers {
		if t.speakers[i].name == name {
			return &t.speakers[i]
		}
	}
	s := speakerWeights{name: name}
	for _, term := range t.view.scorer.queryAnalyzer.TermSequence(t.view.ctx, name.Value()) {
		if !slices.ContainsFunc(t.plan.WordTerms, func(w QueryWordTerm) bool { return w.Term == term }) {
			continue
		}
		if s.termWeights == nil {
			s.termWeights = slices.Repeat([]float64{1}, len(t.termScores.Terms))
		}
		if k, ok := slices.BinarySearch(t.termScores.Terms, term); ok {
			s.termWeights[k] = speakerNameWeight
		}
	}
	t.speakers = append(t.speakers, s)
	return &t.speakers[len(t.speakers)-1]
}

// mentionsTime reports whether a turn mentions a time.
func (t *dialogueScorer) mentionsTime(n *candidate) bool {
	when := n.turn.timeMention.Load()
	if when == timeUnknown {
		when = timeNotMentioned
		if it := t.view.findItem(n.id); it != nil {
			it.FillText(&t.view.textBuffer)
			if t.view.scorer.queryAnalyzer.MentionsTime(t.view.textBuffer.Content) {
				when = timeMentioned
			}
		}
		n.turn.timeMention.Store(when)
	}
	return when == timeMentioned
}

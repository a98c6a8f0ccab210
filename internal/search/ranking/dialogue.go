// This file adjusts the scores of dialogues. A talk is a conversation between people. The score of a turn in a talk
// depends on the turn's neighbours, on the speaker, and on whether the turn is a question. A chat is a conversation
// with a program. The score of a turn in a chat depends on whether the program wrote the turn. The score of a whole
// dialogue also depends on the dialogue's part with the most query words.

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
	// Scores are adjusted only if some of the best hits of the index are parts of dialogues. maxHitsCheckedForDialogue
	// is the number of best hits that are examined for this.
	maxHitsCheckedForDialogue = 10
	// minimum number of index hits whose scores are recomputed with the adjustments for dialogues
	minHitCandidates = 30

	namedSpeakerScoreFactor = 1.5 // factor for the score of a turn whose speaker is named in the query
	questionTurnScoreFactor = 0.8 // factor for the score of a turn that ends in a question
	timeMentionScoreFactor  = 1.3 // factor for the score of a turn that mentions a time, if the query asks for a time
	// factor for the score of a turn that a program wrote, unless the query asks for texts by programs
	programTurnScoreFactor = 0.7

	// Weight of a query word that is the speaker's name. It is low because namedSpeakerScoreFactor already raises the
	// score.
	speakerNameWeight = 0.5
	// If a larger share of English texts contains a word, the word has less weight in chats with programs.
	minEnglishTermShare = 0.001
)

// candidateCount returns the number of hits to fetch from the index. The argument limit is the number of hits that the
// search shall return. More hits are fetched than returned, because the hits are ranked again afterwards.
func candidateCount(limit int) int { return max(minHitCandidates, limit+limit/2) }

// hitDialogueKinds reports which kinds of dialogue occur among the hits. Only kinds that affect the ranking are
// distinguished.
type hitDialogueKinds struct {
	hasPersonTurns bool // at least one hit is a turn that a person wrote in a conversation between people
	// some hits are turns that programs wrote in a chat, and the query does not ask for texts by programs
	hasProgramTurns      bool
	hasWholeDialogueHits bool // there are hits that contain a whole dialogue
}

// findDialogueKinds returns the kinds of dialogue among the hits. The ranking lowers the score of turns that programs
// wrote if s.hasProgramTurns is set. Therefore findDialogueKinds leaves hasProgramTurns false if the query asks for
// texts by programs (p.isAddressedToProgram).
func (v *View) findDialogueKinds(p *Plan, hits []index.Hit) (s hitDialogueKinds) {
	for i := range hits {
		switch v.itemTurn(v.hitItem(&hits[i])).dialogueKind {
		case analysis.PersonTurn:
			s.hasPersonTurns = true
		case analysis.ProgramTurn:
			s.hasProgramTurns = !p.isAddressedToProgram
		case analysis.DialogueBetweenPeople, analysis.DialogueWithProgram:
			s.hasWholeDialogueHits = true
		}
	}
	return s
}

// rescoreDialogues computes new scores for the candidates, which are indexHits and the nearest neighbours (turns next
// to them), and ranks the candidates by these scores. Turns of a dialogue need other scores than other texts, because a
// question and its answer belong together. rescoreDialogues returns the best candidates with a positive score, at most
// limit candidates.
func (v *View) rescoreDialogues(p *Plan, indexHits []index.Hit, limit int) []index.Hit {
	p.idsWithPassageBonus = nil
	if p.foundDialogueKinds.hasWholeDialogueHits {
		for _, h := range indexHits[:min(len(indexHits), maxHitsForPassageSearch)] {
			p.idsWithPassageBonus = append(p.idsWithPassageBonus, h.ID)
		}
		slices.Sort(p.idsWithPassageBonus)
	}
	d := newDialogueScorer(v, p, indexHits)
	defer d.releaseForReuse()
	p.maxNeighbourOnlyScore = d.maxNeighbourOnlyScore()
	order := func(a, b index.Hit) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c
		}
		return cmp.Or(v.compareNewestFirst(a, b), cmp.Compare(a.ID, b.ID))
	}
	hits := make([]index.Hit, 0, min(limit, len(d.candidateIndexes))+1)
	a := &d.explanationBuffer
	slices.SortFunc(
		d.candidateIndexes,
		func(i, j int) int {
			return cmp.Compare(d.candidatesAndNeighbours[j].scoreBound, d.candidatesAndNeighbours[i].scoreBound)
		},
	)
	for _, i := range d.candidateIndexes {
		if len(hits) == limit && d.candidatesAndNeighbours[i].scoreBound < hits[limit-1].Score {
			// no remaining candidate can reach the score of the worst hit, because the candidates are sorted by their
			// upper bounds
			break
		}
		d.explainScore(i, a)
		h := index.Hit{ID: d.candidatesAndNeighbours[i].id, Score: a.score}
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
	view             *View
	plan             *Plan
	candidateIndexes []int // indexes in candidatesAndNeighbours of the entries that may become hits, ascending
	// the entries that may become hits and the entries with the IDs around them, sorted by ID
	candidatesAndNeighbours []hitCandidate
	termScores              index.TermScores
	// For each term of the query, whether it is a date. Dates of neighbouring turns do not raise a turn's score.
	isDateTerm     []bool
	cachedSpeakers []speakerTermWeights // speakers that were looked up so far (usually few)

	cachedTermRarities []float64 // weight of each term in a chat (nil until needed)

	idBuffer          []uint64       // memory for a list of IDs, which is used again for other queries
	passageFinder     *passageFinder // nil until needed
	explanationBuffer scoreExplanation
}

// hitCandidate is an entry that may become a hit, or a neighbour of such an entry. It may also stand for an ID without
// an entry, because all IDs around an entry are looked up.
type hitCandidate struct {
	id uint64
	// the contribution by each query term to the entry's score in the index (nil if the entry is not in the index)
	termScores   []float64
	maxTermScore float64 // largest of termScores
	scoreBound   float64 // score that the entry cannot exceed after all adjustments (not set for neighbours)
	item         Item    // the entry itself (nil until it is read)
	// turn that the entry contains (nil until it is read, nonDialogueTurn if the query's conditions exclude the entry)
	turn *dialogueTurn
}

// spareDialogueScorers contains used dialogueScorers for reuse, because a dialogueScorer has a size of about 50 kB.
var spareDialogueScorers = sync.Pool{New: func() any { return new(dialogueScorer) }}

// newDialogueScorer looks up the hits of the index and each hit's neighbours. In a talk between people, the neighbours
// are the turns before and after a turn. A candidate is an entry that may become a hit in the result: each hit of the
// index, and its nearest neighbours. The caller may release the result as soon as nothing refers to a part of it.
func newDialogueScorer(v *View, p *Plan, hits []index.Hit) *dialogueScorer {
	t := spareDialogueScorers.Get().(*dialogueScorer)
	t.view, t.plan = v, p
	ids := make([]uint64, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	slices.Sort(ids)
	reach := uint64(0)
	if p.foundDialogueKinds.hasPersonTurns {
		reach = maxCandidateTurnDistance + maxNeighbourTurnDistance
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
	t.candidatesAndNeighbours = slices.Grow(t.candidatesAndNeighbours, len(t.idBuffer))
	for i, id := range t.idBuffer {
		n := hitCandidate{id: id, termScores: t.termScores.DocumentTermScores(i)}
		for _, given := range n.termScores {
			n.maxTermScore = max(n.maxTermScore, given)
		}
		t.candidatesAndNeighbours = append(t.candidatesAndNeighbours, n)
	}
	for _, h := range hits {
		t.candidatesAndNeighbours[t.indexOfID(h.ID)].item, _ = h.Data.(Item)
	}
	i := 0
	for _, id := range ids {
		for t.candidatesAndNeighbours[i].id < id {
			i++
		}
		t.candidateIndexes = append(t.candidateIndexes, i)
		t.eachNeighbourTurn(
			i,
			maxCandidateTurnDistance,
			nil,
			func(n *hitCandidate, step int) { t.candidateIndexes = append(t.candidateIndexes, i+step) },
		)
	}
	slices.Sort(t.candidateIndexes)
	t.candidateIndexes = slices.Compact(t.candidateIndexes)
	for _, i := range t.candidateIndexes {
		t.candidatesAndNeighbours[i].scoreBound = t.upperScoreBound(i)
	}
	return t
}

// upperScoreBound returns a score that the final score of candidate i cannot exceed. If the hits contain a turn of a
// conversation between people, the result is infinite, because the scores of such turns may be multiplied by a factor
// above 1.
func (t *dialogueScorer) upperScoreBound(i int) float64 {
	if t.plan.foundDialogueKinds.hasPersonTurns {
		return math.Inf(1)
	}
	_, long := slices.BinarySearch(t.plan.idsWithPassageBonus, t.candidatesAndNeighbours[i].id)
	sum := 0.0
	for k, given := range t.candidatesAndNeighbours[i].termScores {
		if long && given > 0 {
			given += bestPassageWeight * t.termScores.TermScoreGains[k]
		}
		sum += given
	}
	return sum
}

// releaseForReuse keeps the scorer's memory for another query. The scorer must not be used afterwards.
func (t *dialogueScorer) releaseForReuse() {
	clear(t.cachedSpeakers)
	t.termScores.Release()
	clear(t.candidatesAndNeighbours)
	*t = dialogueScorer{
		candidateIndexes:        t.candidateIndexes[:0],
		candidatesAndNeighbours: t.candidatesAndNeighbours[:0],
		termScores:              t.termScores,
		isDateTerm:              t.isDateTerm[:0],
		cachedSpeakers:          t.cachedSpeakers[:0],
		idBuffer:                t.idBuffer[:0],
		explanationBuffer:       t.explanationBuffer,
	}
	spareDialogueScorers.Put(t)
}

// readTurn returns the entry with index i in candidatesAndNeighbours. It sets the entry's field turn, unless an earlier
// call has set it. This may read a file. Therefore readTurn is called only when the turn is needed, because most
// neighbours contribute nothing.
func (t *dialogueScorer) readTurn(i int) *hitCandidate {
	n := &t.candidatesAndNeighbours[i]
	if n.turn != nil {
		return n
	}
	n.turn = nonDialogueTurn
	if n.termScores != nil {
		n.turn = t.view.itemTurn(t.itemAt(i))
	}
	if n.turn.dialogueKind != analysis.PersonTurn || t.plan.acceptDocument == nil {
		return n
	}
	if !t.plan.acceptDocument(n.id) {
		n.turn = nonDialogueTurn
	}
	return n
}

// itemAt returns the item of the entry with index i in the list candidatesAndNeighbours. It returns nil if the entry
// cannot be read.
func (t *dialogueScorer) itemAt(i int) Item {
	n := &t.candidatesAndNeighbours[i]
	if n.item == nil {
		it, ok := t.termScores.DocumentData(i).(Item)
		if !ok {
			it = t.view.findItem(n.id)
		}
		n.item = it
	}
	return n.item
}

// indexOfID returns the index in the list candidatesAndNeighbours of the entry with this ID.
func (t *dialogueScorer) indexOfID(id uint64) int {
	i, _ := slices.BinarySearchFunc(
		t.candidatesAndNeighbours,
		id,
		func(p hitCandidate, id uint64) int { return cmp.Compare(p.id, id) },
	)
	return i
}

// eachNeighbourTurn calls fn for the turns near turn i of a talk between people. Turn i is the turn at the index i in
// t.candidatesAndNeighbours. If this entry is not a turn of a talk, fn is not called.
//
// The ID of a neighbour differs from the ID of turn i by at most maxDistance. The nearest neighbours come first. The
// argument step of fn is the difference of the two IDs. A neighbour is skipped in these cases:
//   - It is not in t.candidatesAndNeighbours, for example because the query's conditions do not select it.
//   - It is not a turn of a talk between people.
//   - It belongs to another session than turn i.
//   - It was created more than an hour before or after turn i.
//   - isWorthwhile is not nil, and the neighbour contains no query word or isWorthwhile returns false. In this case,
//     the neighbour is not read.
func (t *dialogueScorer) eachNeighbourTurn(
	i, maxDistance int,
	isWorthwhile func(n *hitCandidate, step int) bool,
	fn func(n *hitCandidate, step int),
) {
	if !t.plan.foundDialogueKinds.hasPersonTurns {
		return // Only turns of talks have neighbours. Return without reading the entry.
	}
	own := t.readTurn(i)
	if own.turn.dialogueKind != analysis.PersonTurn {
		return
	}
	for n := range 2 * maxDistance {
		step := n/2 + 1 // visit the nearest turns first
		if n%2 == 0 {
			step = -step
		}
		j := i + step
		if j < 0 || j >= len(t.candidatesAndNeighbours) {
			continue
		}
		if t.candidatesAndNeighbours[j].id != own.id+uint64(int64(step)) {
			continue
		}
		if isWorthwhile != nil {
			if n := &t.candidatesAndNeighbours[j]; n.maxTermScore == 0 || !isWorthwhile(n, step) {
				continue
			}
		}
		if n := t.readTurn(j); n.turn.isInSameDialogueAs(own.turn) {
			fn(n, step)
		}
	}
}

// scoreExplanation explains the score of an entry. The score is a sum, multiplied by all factors. The sum contains the
// terms' contributions and the contributions from the best stretch (the part of a long text with the most query
// words). Each contribution is multiplied by the weight of its term.
type scoreExplanation struct {
	termScores []float64 // the contribution by each query term to the score
	// for each query term, the sum of the contributions' fourth powers (only for a turn in a talk; see
	// addNeighbourScores)
	scoreFourthPowerSums []float64
	neighbours           []neighbourTermScore // the contribution by the turns before and after this turn to the score
	// the contribution by each query term to the score, from the best matching part of a long dialogue (nil without
	// such a part)
	passageScores    []float64
	termWeights      []float64 // factor for the contribution by each query term (nil means 1 for all terms)
	termWeightReason string    // reason for termWeights, which is shown to the user
	factors          []scoreFactor
	score            float64
}

type scoreFactor struct {
	factorReason string
	multiplier   float64
}

// explainScore stores the explanation of the score of candidate i in *a. It reuses the memory of the slices in *a.
func (t *dialogueScorer) explainScore(i int, a *scoreExplanation) {
	own := t.readTurn(i)
	a.termScores = append(a.termScores[:0], own.termScores...)
	a.passageScores = nil
	a.termWeights = nil
	a.factors = a.factors[:0]
	a.score = 0
	t.addNeighbourScores(i, own, a)
	if _, long := slices.BinarySearch(t.plan.idsWithPassageBonus, own.id); long {
		a.passageScores = t.scoreBestPassage(i)
	}
	switch {
	case own.turn.dialogueKind == analysis.DialogueWithProgram && t.plan.foundDialogueKinds.hasWholeDialogueHits:
		a.termWeights, a.termWeightReason = t.termRarities(), "how common it is"
	case own.turn.dialogueKind == analysis.PersonTurn && t.plan.foundDialogueKinds.hasPersonTurns:
		a.termWeights, a.termWeightReason = t.speakerByName(own.turn.speaker).termWeights, "the name of who speaks"
	}
	for k, given := range a.termScores {
		if a.passageScores != nil {
			given += a.passageScores[k]
		}
		if a.termWeights != nil {
			given = float64(given * a.termWeights[k])
		}
		a.score += given
	}
	if a.score > 0 {
		a.factors = t.appendScoreFactors(own, a.termScores, a.factors)
	}
	if t.plan.indexQuery.ScoreFactor != nil {
		a.factors = append(a.factors, scoreFactor{"age", t.plan.indexQuery.ScoreFactor(own.id)})
	}
	for _, f := range a.factors {
		a.score *= f.multiplier
	}
	t.limitNeighbourOnlyScore(i, own, a)
}

// termRarities returns a weight from 0 to 1 for each query term. The weights are used to score a chat with a program.
// Such a chat usually covers many subjects and therefore contains nearly all common words, so common words must count
// less. The weight of a term is the square root of its information (the logarithm of the share of English texts that
// contain the term) divided by that of a term with the share minEnglishTermShare, one in 1,000 texts. A rarer term also
// has the weight 1.
func (t *dialogueScorer) termRarities() []float64 {
	if t.cachedTermRarities == nil {
		for _, term := range t.termScores.Terms {
			share := max(analysis.EnglishDocumentShare(term), minEnglishTermShare)
			t.cachedTermRarities = append(
				t.cachedTermRarities,
				math.Sqrt(math.Log(share)/math.Log(minEnglishTermShare)),
			)
		}
	}
	return t.cachedTermRarities
}

// scoreBestPassage finds the passage that matches the query best in a dialogue. A passage is a sequence of
// passageWordCount words. The dialogue is the text of the entry with index i in t.candidatesAndNeighbours. For each
// query term, scoreBestPassage returns how much the passage adds to the score of this entry. It returns nil if the
// entry cannot be read, or if no query term occurs in the entry. The result is valid until the next call.
func (t *dialogueScorer) scoreBestPassage(i int) []float64 {
	it := t.itemAt(i)
	if it == nil || t.candidatesAndNeighbours[i].maxTermScore == 0 {
		return nil
	}
	if t.passageFinder == nil {
		t.passageFinder = newPassageFinder(t.termScores.Terms)
	}
	return t.passageFinder.scoreBestPassage(t.view.spokenTokens(it), t.termScores.TermScoreGains)
}

// appendScoreFactors returns the slice factors with additional elements for the entry candidate. The score of the entry
// is multiplied by each element. termScores contains the contribution of each query term to the score.
func (t *dialogueScorer) appendScoreFactors(
	candidate *hitCandidate,
	termScores []float64,
	factors []scoreFactor,
) []scoreFactor {
	switch candidate.turn.dialogueKind {
	case analysis.ProgramTurn:
		if t.plan.foundDialogueKinds.hasProgramTurns {
			factors = append(factors, scoreFactor{"a program says it", programTurnScoreFactor})
		}
	case analysis.PersonTurn:
		if !t.plan.foundDialogueKinds.hasPersonTurns {
			break
		}
		if share := t.matchedTermFraction(termScores); share < 1 {
			factors = append(factors, scoreFactor{"words it has not", math.Sqrt(math.Sqrt(share))})
		}
		if t.speakerByName(candidate.turn.speaker).termWeights != nil {
			factors = append(factors, scoreFactor{"who speaks", namedSpeakerScoreFactor})
		}
		if candidate.turn.isQuestion {
			factors = append(factors, scoreFactor{"it asks", questionTurnScoreFactor})
		}
		if t.plan.asksForTime && t.mentionsTime(candidate) {
			factors = append(factors, scoreFactor{"it tells when", timeMentionScoreFactor})
		}
	}
	return factors
}

// matchedTermFraction returns the fraction of the query's terms that contribute to the score. Dates are not counted.
// The result is never 0: if only a date contributes, it counts as half a term. If the query has only dates, the result
// is 1.
//
// The score is multiplied by the fourth root of this fraction. The caller computes the fourth root as two square roots,
// because a general power is five times slower and not identical on all machines.
func (t *dialogueScorer) matchedTermFraction(termScores []float64) float64 {
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

// speakerTermWeights are the weights that query terms have in the turns of one speaker.
type speakerTermWeights struct {
	name        unique.Handle[string]
	termWeights []float64 // weight of each query term (nil if the query does not name this speaker)
}

// speakerByName returns the speaker with this name, with a weight for each query term. If the query contains a word of
// the name, the query names the speaker. The words of the name then have the weight speakerNameWeight, and all other
// terms have the weight 1. If the query does not name the speaker, termWeights is nil.
func (t *dialogueScorer) speakerByName(name unique.Handle[string]) *speakerTermWeights {
	for i := range t.cachedSpeakers {
		if t.cachedSpeakers[i].name == name {
			return &t.cachedSpeakers[i]
		}
	}
	s := speakerTermWeights{name: name}
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
	t.cachedSpeakers = append(t.cachedSpeakers, s)
	return &t.cachedSpeakers[len(t.cachedSpeakers)-1]
}

// mentionsTime reports whether a turn mentions a time.
func (t *dialogueScorer) mentionsTime(n *hitCandidate) bool {
	when := n.turn.timeMentionState.Load()
	if when == timeUnknown {
		when = timeNotMentioned
		if it := t.view.findItem(n.id); it != nil {
			it.FillText(&t.view.textBuffer)
			if t.view.scorer.queryAnalyzer.MentionsTime(t.view.textBuffer.Content) {
				when = timeMentioned
			}
		}
		n.turn.timeMentionState.Store(when)
	}
	return when == timeMentioned
}

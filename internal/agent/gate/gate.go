// This file computes how strongly an entry answers a prompt. The strength decides whether the prompt gets the entry's
// sentences (payload), only the entry's name (pointer), or nothing (silence).

// Package gate decides whether an entry or a turn, called a unit, is strong enough to be shown for a prompt. It reads
// no clock and no files. Its inputs are the terms that a search matched, and a floor (a minimum strength) that was
// calibrated on decoys: prompts that no memory can answer ([DecoyPrompts]).
//
// The strength g of a unit u for a prompt with the terms t is
//
//	g = share · √score,  share = Σ score(t, u) ÷ Σ a(t)·(k1+1)·weight(t)·idf(t)
//
// where score is the BM25 score, and (k1+1)·weight·idf is the highest score that a term can reach.
// A term that no unit contains has the idf for document frequency 0, and a(t) is .5. For any other
// term, a(t) is 1. Thus unknown words lower the share for a subject that the memory does not know,
// but a long prompt in ordinary words can still find its note. The benchmark command inject compares
// this rule with others.
//
// A note's strength ([NoteStrength]) differs from a turn's ([TurnStrength]). Only the [maxNoteWords]
// heaviest words of the prompt count in the sum below the line, because a prompt may be long and still be
// about a single note. A note that states a rule is stronger than a description, and so is a note that
// contains a word of the prompt that no other note contains.
package gate

import (
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// AnswerKind says how much of the memory is shown for a prompt.
type AnswerKind string

// The kinds of answers, from the shortest to the longest.
const (
	AnswerSilence AnswerKind = "silence"
	AnswerPointer AnswerKind = "pointer" // the answer is a line with the names of the matching units
	AnswerPayload AnswerKind = "payload" // the answer contains sentences of the matching units
)

// Besides a strength above the floor, a unit must meet these conditions to be shown.
const (
	minMatchedWords = 2 // the unit must contain at least this many words of the prompt
	// at least this many of the matched words must not be steering words, with which people steer an agent
	minSubjectWords = 1
	// replaces minSubjectWords if the share of unknown words in the prompt exceeds maxUnknownShare
	minWordsIfUnknown = 2
	// lowest score of a shown unit, so that two common words are not enough, even in a small memory
	minScore = 6.
	// an order and a unit often share up to this many words by chance (steering words do not count)
	maxChanceWords = 3

	// maxUnknownShare is the largest share that unknown words, which occur in no unit, may have in the prompt. The
	// share is weighted by idf and ignores steering words. Above it, the answer is at most a pointer, because the
	// memory knows the subject but not the answer.
	maxUnknownShare = .2

	// absentWordWeight reduces the weight of a word that no unit contains: the word's highest score is multiplied by
	// this factor.
	absentWordWeight = .5

	// companionShare applies to a unit below the floor: the unit may still be shown together with a unit above the
	// floor if its strength is at least this part of the floor.
	companionShare = .5

	// longIdentifierTerms is the number of terms from which an identifier counts as two words: three parts and the
	// whole identifier. Such an identifier is as rare as two words. An identifier with an underscore also counts as
	// two words. File and product names, such as main.go, src/main_test.go and TypeScript, count as a single word
	// because any kind of prompt may contain them.
	longIdentifierTerms = 4

	minFloor = .5 // lowest floor that a memory can have, whatever its size
	// lowest floor for a turn if the prompt is an order and shares at most [maxChanceWords] words with the turn
	minOrderFloor     = 1.12
	minNoteFloor      = .9   // lowest floor for a note if the prompt is a question
	minNoteOrderFloor = 1.25 // lowest floor for a note if the prompt is an order

	// maxNoteWords limits how many words of a long prompt count in a note's share. The heaviest words are used.
	maxNoteWords = 6

	// A note's strength is always multiplied by plainNoteFactor. It is also multiplied by ruleNoteFactor or
	// uniqueTermFactor if the note has that property. A note with exactly one of the properties therefore keeps its
	// strength.
	plainNoteFactor  = 1 / 1.6
	ruleNoteFactor   = 1.6 // applies to a note that states a rule ([isRuleText])
	uniqueTermFactor = 1.6 // applies to a note with a word of the prompt that no other note contains
)

// Term is one term of a prompt, and how it matches a certain unit.
type Term struct {
	Text   string
	Most   float64 // highest score that the term can reach: (k1+1)·weight·idf
	IDF    float64 // inverse document frequency (the value for a frequency of 0 if no unit contains the term)
	Score  float64 // amount that the term adds to the unit's score
	Held   bool    // the unit contains the term
	Absent bool    // no unit of the memory contains the term
	Unique bool    // the term occurs in exactly one unit, which is rare because the memory is large enough

	// Of is the identifier to which the term belongs, or "" for an ordinary word. The terms of the identifier
	// parse.go, for example, are parse, go and parse.go.
	Of string
}

// MatchStrength tells how well a unit answers a prompt.
type MatchStrength struct {
	Value float64 `json:"g"`
	// the score divided by the highest possible score, or 0 with fewer than two matched words. In the highest possible
	// score, a word that no unit contains counts half.
	ScoreShare float64 `json:"share"`
	Score      float64 `json:"score"` // sum of all terms' scores
	// number of the prompt's words that the unit contains (a long identifier counts as two words)
	MatchedWords int `json:"matched"`
	SubjectWords int `json:"subject"` // MatchedWords without steering words
	// share of the prompt's words that no unit contains, weighted by idf and without steering words
	UnknownShare float64 `json:"unknown"`

	isNote bool
}

// TurnStrength returns how strongly a turn of a conversation matches the prompt's terms. The terms of an identifier
// count as a single word, or as two words if the identifier is long or contains an underscore.
func TurnStrength(terms []Term) MatchStrength {
	s, most, _ := sumWordScores(promptWords(terms))
	s.computeShareAndValue(sum(most), 1)
	return s
}

// NoteStrength is like TurnStrength for a note with the given content. A caller should pass scores that do not
// depend on the note's length if the note is short.
func NoteStrength(terms []Term, content string) MatchStrength {
	s, most, isUnique := sumWordScores(promptWords(terms))
	s.isNote = true
	slices.Sort(most)
	factor := plainNoteFactor
	if isUnique {
		factor *= uniqueTermFactor
	}
	if isRuleText(content) {
		factor *= ruleNoteFactor
	}
	s.computeShareAndValue(sum(most[max(len(most)-maxNoteWords, 0):]), factor)
	return s
}

// sumWordScores adds up the scores and counts of the words, and returns the sums in s. maxScores contains the
// highest score that each word can reach, which is reduced for a word that no unit contains. isUnique is true if
// the unit contains a word that is not a steering word and that no other unit contains.
func sumWordScores(words []promptWord) (s MatchStrength, maxScores []float64, isUnique bool) {
	absent := 0.0
	all := 0.0
	for _, w := range words {
		if w.Absent {
			maxScores = append(maxScores, absentWordWeight*w.Most)
		} else {
			maxScores = append(maxScores, w.Most)
		}
		s.Score += max(w.Score, 0)
		if !w.isSteering {
			all += w.IDF
			if w.Absent {
				absent += w.IDF
			}
		}
		if w.Held {
			s.MatchedWords += w.wordCount
			if !w.isSteering {
				s.SubjectWords += w.wordCount
				isUnique = isUnique || w.Unique
			}
		}
	}
	if all > 0 {
		s.UnknownShare = absent / all
	}
	return s, maxScores, isUnique
}

// computeShareAndValue computes ScoreShare and Value from the score. maxScore is the highest possible score, and
// factor is a factor of the value.
func (s *MatchStrength) computeShareAndValue(maxScore, factor float64) {
	if maxScore > 0 && s.MatchedWords >= minMatchedWords {
		s.ScoreShare = min(s.Score/maxScore, 1)
	}
	s.Value = factor * s.ScoreShare * math.Sqrt(s.Score)
}

func sum(all []float64) (total float64) {
	for _, x := range all {
		total += x
	}
	return total
}

// promptWord is a word of a prompt. An identifier is a single promptWord, into which the identifier's terms are
// merged.
type promptWord struct {
	Term
	isSteering bool // the word is a stop word, or people use it to steer an agent
	wordCount  int  // number of words for which it counts: 1, or 2 for a long identifier
}

// promptWords groups a prompt's terms into words. The terms of an identifier become one word, which counts as two
// words if the identifier is long or contains an underscore.
func promptWords(terms []Term) (all []promptWord) {
	at := map[string]int{}
	size := map[string]int{}
	for _, t := range terms {
		w := promptWord{t, steeringTerms()[t.Text] || analysis.IsStopWord(t.Text), 1}
		i, isJoined := at[t.Of]
		if t.Of == "" || !isJoined {
			at[t.Of] = len(all)
			size[t.Of] = 1
			all = append(all, w)
			continue
		}
		size[t.Of]++
		isLong := size[t.Of] >= longIdentifierTerms || strings.Contains(t.Of, "_")
		if isLong && !strings.Contains(t.Of, "/") {
			all[i].wordCount = 2
		}
		all[i].addTermScore(w)
	}
	return all
}

// addTermScore merges another term of the same identifier into w.
func (w *promptWord) addTermScore(term promptWord) {
	w.isSteering = w.isSteering && term.isSteering
	w.Held = w.Held || term.Held
	w.Unique = w.Unique || term.Unique
	w.Score = max(w.Score, 0) + max(term.Score, 0)
	switch {
	case w.Absent == term.Absent && w.Absent:
		w.Most = max(w.Most, term.Most)
		w.IDF = max(w.IDF, term.IDF)
	case w.Absent == term.Absent:
		w.Most += term.Most
		w.IDF = max(w.IDF, term.IDF)
	case w.Absent:
		w.Most = term.Most
		w.IDF = term.IDF
		w.Absent = false
	}
}

//go:embed steering.txt
var steeringWordList string

// steeringTerms returns the set of terms for the words with which people steer an agent.
var steeringTerms = sync.OnceValue(func() map[string]bool {
	terms := map[string]bool{}
	for line := range strings.Lines(steeringWordList) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for w := range strings.FieldsSeq(line) {
			terms[analysis.TermOfWord(analysis.Fold(w))] = true
		}
	}
	return terms
})

// ScoreFloor is a strength that a unit must exceed to be shown. Each memory has its own floor, which is calibrated on
// decoys.
type ScoreFloor float64

// UnreachableFloor is above the strength of every unit, so nothing is shown.
const UnreachableFloor ScoreFloor = math.MaxFloat64

// maxDecoyShare is the share of a language's decoys that may exceed the floor, although no memory can answer a decoy.
const maxDecoyShare = .02

// FloorForDecoys returns the floor above which at most maxDecoyShare of the decoys are. The argument contains the
// strengths that the decoys reach in the memory, by language. The 98th percentile is computed for each language, and
// the highest is the floor, because a memory is written in only one or two languages.
func FloorForDecoys(strengthsByLanguage map[string][]float64) ScoreFloor {
	floor := minFloor
	for _, of := range strengthsByLanguage {
		of = slices.Sorted(slices.Values(of))
		if len(of) > 0 {
			floor = max(floor, of[int(math.Ceil((1-maxDecoyShare)*float64(len(of))))-1])
		}
	}
	return ScoreFloor(floor)
}

// AnswerQuestion returns what to show of a unit with strength s if the prompt is a question.
func (f ScoreFloor) AnswerQuestion(s MatchStrength) AnswerKind {
	switch {
	case s.Value <= float64(f.QuestionFloor(s)) || s.Score < minScore || s.SubjectWords < minSubjectWords:
		return AnswerSilence
	case s.UnknownShare > maxUnknownShare && s.SubjectWords < minWordsIfUnknown:
		return AnswerSilence
	case s.UnknownShare > maxUnknownShare:
		return AnswerPointer
	}
	return AnswerPayload
}

// QuestionFloor returns the floor for a unit with strength s if the prompt is a question (see [IsQuestion]).
func (f ScoreFloor) QuestionFloor(s MatchStrength) ScoreFloor {
	if s.isNote {
		return max(f, minNoteFloor)
	}
	return f
}

// OrderFloor returns the floor for a unit with strength s if the prompt is an order. An order names project parts, so
// a unit in a small memory may contain two or three words of the order by chance. Therefore such a unit needs a higher
// strength than for a question. A turn that contains at least four words of the order has the floor for questions,
// because four words are seldom a coincidence. A note always has the higher floor.
func (f ScoreFloor) OrderFloor(s MatchStrength) ScoreFloor {
	switch {
	case s.isNote:
		return max(f, minNoteOrderFloor)
	case s.SubjectWords > maxChanceWords:
		return f
	}
	return max(f, minOrderFloor)
}

// AnswerOrder returns what to show of a unit with strength s if the prompt is an order.
func (f ScoreFloor) AnswerOrder(s MatchStrength) AnswerKind {
	if s.SubjectWords < minWordsIfUnknown {
		return AnswerSilence
	}
	return f.OrderFloor(s).AnswerQuestion(s)
}

// CanAccompanyAnswer reports whether a unit with strength s may be shown next to a unit that answers the prompt.
func (f ScoreFloor) CanAccompanyAnswer(s MatchStrength) bool {
	return s.Value >= companionShare*float64(f)
}

// This file computes how strongly an entry answers a prompt, and decides between payload, pointer and
// silence.

// Package gate decides whether an entry or a turn, called a unit, is strong enough to be shown for a prompt. It reads
// no clock and no files. Its inputs are the terms that a search matched, and a floor (a minimum strength) that was
// calibrated on decoys: prompts that no memory can answer ([Decoys]).
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
// A note's strength ([StrengthOfNote]) differs from a turn's ([StrengthOfTurn]). Only the [maxNoteWords]
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

// AnswerKind is the kind of block that is shown for a prompt.
type AnswerKind string

// Kinds of answers.
const (
	AnswerSilence AnswerKind = "silence"
	AnswerPointer AnswerKind = "pointer" // a line with the names of units
	AnswerPayload AnswerKind = "payload" // sentences of units
)

// Conditions for a unit besides a strength above the floor.
const (
	minMatchedWords   = 2  // minimum number of the prompt's words in the unit
	minSubjectWords   = 1  // minimum number of these words that are not steering words
	minWordsIfUnknown = 2  // like minSubjectWords, if the prompt's unknown part exceeds maxUnknownShare
	minScore          = 6. // minimum score, so that two common words are not enough, even in a small memory
	maxChanceWords    = 3  // words that are not steering words, which an order and a unit often share by chance

	// maxUnknownShare is the largest part of the prompt, weighted by idf and without steering words,
	// that may occur in no unit. Above this share the answer is at most a pointer, because the
	// memory knows the subject but not the answer.
	maxUnknownShare = .2

	// absentWeight is the part of its highest score with which a word counts that no unit contains.
	absentWeight = .5

	// companionShare is the part of the floor that a unit must reach to be shown together with a unit above
	// the floor.
	companionShare = .5

	// longIdentifierTerms is the number of terms (three parts and the whole identifier) from which an
	// identifier counts as two words, because it is as rare as two words. An identifier with an
	// underscore counts as two words as well. File and product names, such as main.go,
	// src/main_test.go and TypeScript, count as a single word because any kind of prompt may
	// contain them.
	longIdentifierTerms = 4

	minFloor          = .5   // the lowest floor, for a memory of any size
	minOrderFloor     = 1.12 // the lowest floor for an order that shares at most [maxChanceWords] words with a turn
	minNoteFloor      = .9   // the lowest floor of a note for a question
	minNoteOrderFloor = 1.25 // the lowest floor of a note for an order

	// maxNoteWords is the maximum number of words, the prompt's heaviest, that count in a note's
	// share.
	maxNoteWords = 6

	// A note's strength is multiplied by plainNoteFactor, and also by ruleFactor or uniqueFactor if the
	// note has that property. So the strength of a note with exactly one property does not change.
	plainNoteFactor = 1 / 1.6
	ruleFactor      = 1.6 // the note states a rule ([statesRule])
	uniqueFactor    = 1.6 // for a note with a word of the prompt that no other note contains
)

// Term is a term of a prompt, compared with a unit.
type Term struct {
	Text   string
	Most   float64 // highest score that the term can reach: (k1+1)·weight·idf
	IDF    float64 // inverse document frequency (the value for a frequency of 0 if no unit contains the term)
	Score  float64 // part of the unit's score
	Held   bool    // the unit contains the term
	Absent bool    // no unit of the memory contains the term
	Unique bool    // the term occurs in a single unit, and the memory is large enough for this to be rare

	// Of is the identifier that contains the term, or "" for a word. For example, parse, go and
	// parse.go are parts of parse.go.
	Of string
}

// Strength tells how well a unit answers a prompt.
type Strength struct {
	Value float64 `json:"g"`
	// score divided by the highest possible score, in which words that no unit contains count half
	// (0 with fewer than two matched words)
	ScoreShare   float64 `json:"share"`
	Score        float64 `json:"score"`   // sum over all terms
	MatchedWords int     `json:"matched"` // number of the prompt's words in the unit (a long identifier counts as two)
	SubjectWords int     `json:"subject"` // like MatchedWords, without steering words
	// part of the prompt that occurs in no unit, weighted by idf, without steering words
	UnknownShare float64 `json:"unknown"`

	isNote bool
}

// StrengthOfTurn returns the strength of a turn for a prompt's terms. An identifier's terms count as a
// single word, or as two if the identifier is long or contains an underscore.
func StrengthOfTurn(terms []Term) Strength {
	s, most, _ := sumWords(promptWords(terms))
	s.setShareAndValue(sum(most), 1)
	return s
}

// StrengthOfNote is like StrengthOfTurn for a note with this content. The terms' scores should not
// depend on the length of a short note.
func StrengthOfNote(terms []Term, content string) Strength {
	s, most, isUnique := sumWords(promptWords(terms))
	s.isNote = true
	slices.Sort(most)
	factor := plainNoteFactor
	if isUnique {
		factor *= uniqueFactor
	}
	if statesRule(content) {
		factor *= ruleFactor
	}
	s.setShareAndValue(sum(most[max(len(most)-maxNoteWords, 0):]), factor)
	return s
}

// sumWords returns the sums of the words' scores and counts. maxScores contains, for each word, the highest score that
// the word can reach, where a word that no unit contains counts only partly. isUnique is true if the unit contains a
// word that no other unit contains and that is not a steering word.
func sumWords(words []promptWord) (s Strength, maxScores []float64, isUnique bool) {
	absent := 0.0
	all := 0.0
	for _, w := range words {
		if w.Absent {
			maxScores = append(maxScores, absentWeight*w.Most)
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

// setShareAndValue sets the share and the strength. The argument maxScore is the highest possible score.
func (s *Strength) setShareAndValue(maxScore, factor float64) {
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

// promptWord is a word of a prompt, or an identifier.
type promptWord struct {
	Term
	isSteering bool // a word with which people steer an agent, or a stop word
	wordCount  int  // 1, or 2 for a long identifier
}

// promptWords converts a prompt's terms to words. The terms of an identifier become one word, which counts as two
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
		all[i].addTerm(w)
	}
	return all
}

// addTerm adds another term of the same identifier to w.
func (w *promptWord) addTerm(o promptWord) {
	w.isSteering = w.isSteering && o.isSteering
	w.Held = w.Held || o.Held
	w.Unique = w.Unique || o.Unique
	w.Score = max(w.Score, 0) + max(o.Score, 0)
	switch {
	case w.Absent == o.Absent && w.Absent:
		w.Most = max(w.Most, o.Most)
		w.IDF = max(w.IDF, o.IDF)
	case w.Absent == o.Absent:
		w.Most += o.Most
		w.IDF = max(w.IDF, o.IDF)
	case w.Absent:
		w.Most = o.Most
		w.IDF = o.IDF
		w.Absent = false
	}
}

//go:embed steering.txt
var steeringWordList string

// steeringTerms returns the terms of the words with which people steer an agent.
var steeringTerms = sync.OnceValue(func() map[string]bool {
	terms := map[string]bool{}
	for line := range strings.Lines(steeringWordList) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for w := range strings.FieldsSeq(line) {
			terms[analysis.Root(analysis.Fold(w))] = true
		}
	}
	return terms
})

// Floor is the strength that a unit must exceed to be shown. Each memory has its own floor.
type Floor float64

// UnreachableFloor is a floor that no unit exceeds.
const UnreachableFloor Floor = math.MaxFloat64

// maxDecoyShare is the share of a language's decoys that may be above the floor.
const maxDecoyShare = .02

// FloorForDecoys returns the floor for the decoys' strengths, which are grouped by language. The
// floor is the highest of the languages' 98th percentiles, because a memory is written in only
// one or two languages.
func FloorForDecoys(strengthsByLanguage map[string][]float64) Floor {
	floor := minFloor
	for _, of := range strengthsByLanguage {
		of = slices.Sorted(slices.Values(of))
		if len(of) > 0 {
			floor = max(floor, of[int(math.Ceil((1-maxDecoyShare)*float64(len(of))))-1])
		}
	}
	return Floor(floor)
}

// AnswerQuestion returns what to show for the prompt if a unit has this strength.
func (f Floor) AnswerQuestion(s Strength) AnswerKind {
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

// QuestionFloor returns the floor for a unit with strength s, if the prompt asks something ([IsQuestion]).
func (f Floor) QuestionFloor(s Strength) Floor {
	if s.isNote {
		return max(f, minNoteFloor)
	}
	return f
}

// OrderFloor returns the floor for a unit with strength s if the prompt asks nothing. An order names the parts of a
// project, so that two or three of its words occur by chance in a unit of a small memory. Therefore such a unit needs
// a higher strength than for a question. A turn with at least four words of the order has the floor for questions,
// because four words are seldom a coincidence. A note always has the higher floor.
func (f Floor) OrderFloor(s Strength) Floor {
	switch {
	case s.isNote:
		return max(f, minNoteOrderFloor)
	case s.SubjectWords > maxChanceWords:
		return f
	}
	return max(f, minOrderFloor)
}

// AnswerOrder is like AnswerQuestion for a prompt that asks nothing.
func (f Floor) AnswerOrder(s Strength) AnswerKind {
	if s.SubjectWords < minWordsIfUnknown {
		return AnswerSilence
	}
	return f.OrderFloor(s).AnswerQuestion(s)
}

// CanAccompanyAnswer reports whether a unit may be shown together with a unit that is an answer.
func (f Floor) CanAccompanyAnswer(s Strength) bool { return s.Value >= companionShare*float64(f) }

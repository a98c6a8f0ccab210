// This file computes how strongly an entry answers a prompt. The strength decides whether the prompt gets the entry's
// sentences (payload), only the entry's name (pointer), or nothing (silence).

// Package gate decides whether a note or a conversation turn answers a prompt well enough to be shown for the prompt.
// Both are called units. The package reads no clock and no files. It gets the terms that a search matched in the unit,
// computes the unit's strength from them, and compares the strength with a minimum, the floor. The floor was calibrated
// with decoys, which are prompts that no memory can answer ([DecoyPrompts]).
//
// The strength g of a unit u for a prompt with the terms t is
//
//	g = share · √score,  share = Σ score(t, u) ÷ Σ a(t)·(k1+1)·weight(t)·idf(t)
//
// The score is the BM25 score, and (k1+1)·weight·idf is the highest score that a term can reach. Thus share says how
// much of the highest possible score the unit has reached. If no unit contains the term t, idf(t) is computed with the
// document frequency 0, and a(t) is .5. For any other term, a(t) is 1. Unknown words therefore lower the share, because
// the memory may not know the prompt's subject. But a long prompt in ordinary words can still find its note. The
// benchmark command inject compares this rule with others.
//
// A note's strength ([NoteMatchStrength]) differs from a turn's ([ComputeTurnMatchStrength]). In the divisor of the
// share, only the [maxWordsInScoreDivisor] heaviest words of the prompt count, because a prompt may be long and still
// be about a single note. A note is stronger if it states a rule, or if it contains a word of the prompt that no other
// note contains.
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

// How much of the memory is shown for a prompt, from the least to the most.
const (
	AnswerSilence AnswerKind = "silence"
	// the answer is a line with the names of the matching notes and conversation turns
	AnswerEntryNames AnswerKind = "pointer"
	// the answer contains sentences of the matching notes and conversation turns
	AnswerQuotedSentences AnswerKind = "payload"
)

// A note or conversation turn is shown for a prompt only if its strength is above the minimum (the floor) and it meets
// these conditions.
const (
	minMatchedPromptWords = 2 // the note or turn must contain at least this many words of the prompt
	// at least this many of the matched words must not be steering words, with which people steer an agent
	minMatchedSubjectWords = 1
	// Subject words are the words of a prompt that are neither stop words nor steering words. If many words of the
	// prompt are unknown (see maxUnknownWordShare), a note or turn must match at least this many subject words.
	// Otherwise, minMatchedSubjectWords are enough.
	minSubjectWordsIfManyUnknown = 2
	// A note or turn is shown only if its search score is at least this. Two common words do not reach this score,
	// even if the memory is small.
	minSearchScore = 6.
	// An order, such as "fix the parser", often has up to this many words in common with a note or turn by chance.
	// Words that direct an agent, such as "fix", are not counted.
	maxWordsMatchedByChance = 3

	// maxUnknownWordShare is the largest share of the prompt's words that may be missing in the whole memory if the
	// answer is to quote sentences. If a larger share is missing, the answer contains at most the names of the matching
	// notes and turns (AnswerEntryNames), because the memory knows the subject, but not the answer. Rare words weigh
	// more in the share, and words that direct an agent, such as "please", do not count.
	maxUnknownWordShare = .2

	// A prompt word that occurs nowhere in the memory has less influence on the result: the highest score that the
	// word could add is multiplied by this factor.
	absentWordWeight = .5

	// A note or turn that is too weak to be shown by itself may still be shown next to a strong one. Its strength must
	// be at least this part of the minimum strength.
	minShareOfMinStrength = .5

	// minTermsOfTwoWordIdentifier is a minimum number of search terms. An identifier with at least this many terms
	// counts as two words, because it is as rare as two words. The terms are the parts of the identifier and the whole
	// identifier. An identifier with three parts therefore has four terms. An identifier with an underscore also counts
	// as two words. File and product names, such as main.go, src/main_test.go and TypeScript, count as a single word
	// because any kind of prompt may contain them.
	minTermsOfTwoWordIdentifier = 4

	// The minimum strength of an answer is calibrated for each memory, but is never lower than this.
	lowestMinMatchStrength = .5
	// minimum strength of a conversation turn as an answer to an order, such as "fix the parser", if the turn contains
	// at most [maxWordsMatchedByChance] words of the order
	minTurnMatchForInstruction = 1.12
	minNoteMatchForQuestion    = .9   // minimum strength of a note as an answer to a question
	minNoteMatchForInstruction = 1.25 // minimum strength of a note as an answer to an order, such as "fix the parser"

	// maxWordsInScoreDivisor is used to compute the share of the highest possible score that a note has reached. The
	// note's score is divided by the highest score that the prompt's words can reach. If the prompt is long, only this
	// many words with the highest scores count in the divisor.
	maxWordsInScoreDivisor = 6

	// A note's strength is always multiplied by noteStrengthFactor. If the note states a rule, the strength is also
	// multiplied by ruleNoteStrengthFactor. If the note contains a word of the prompt that no other note contains, the
	// strength is also multiplied by uniqueTermStrengthFactor. If only one of these two conditions is met, the strength
	// does not change, because the product of the factors is 1.
	noteStrengthFactor     = 1 / 1.6
	ruleNoteStrengthFactor = 1.6 // factor for the strength of a note that states a rule ([isRuleText])
	// factor for the strength of a note that contains a word of the prompt that no other note contains
	uniqueTermStrengthFactor = 1.6
)

// PromptTerm is a search term of a prompt. It also records how well the term matches one note or conversation turn.
type PromptTerm struct {
	Text     string
	MaxScore float64 // highest BM25 score that the term can reach: (BM25's k1 + 1) · term weight · IDF
	// inverse document frequency (if no note or turn contains the term, the value for a frequency of 0)
	IDF                float64
	Score              float64 // amount that the term adds to the score of the note or turn
	IsInText           bool    // the note or turn contains the term
	IsAbsentFromMemory bool    // no note or turn in the memory contains the term
	// Exactly one note or turn contains the term. It is false in a small memory, in which most words occur only once.
	IsUniqueInMemory bool

	// The field Identifier contains the identifier to which the term belongs. It is "" for an ordinary word. For
	// example, the identifier parse.go has the terms parse, go and parse.go.
	Identifier string
}

// PromptMatchStrength tells how well a note or conversation turn answers a prompt.
type PromptMatchStrength struct {
	Strength float64 `json:"g"`
	// ShareOfMaxScore is the score divided by the highest possible score. It is 0 if fewer than two words matched. A
	// prompt word that occurs nowhere in the memory adds only half of its weight to the highest possible score.
	ShareOfMaxScore float64 `json:"share"`
	Score           float64 `json:"score"` // sum of all terms' scores
	// number of the prompt's words that the note or turn contains (a long identifier counts as two words)
	MatchedWordCount int `json:"matched"`
	// like MatchedWordCount, but without words that direct an agent, such as "please" or "continue"
	MatchedSubjectWordCount int `json:"subject"`
	// Share of the prompt's words that occur nowhere in the memory. Rare words weigh more (by their inverse document
	// frequency), and words that direct an agent, such as "please", do not count.
	UnknownWordShare float64 `json:"unknown"`

	isNoteMatch bool
}

// ComputeTurnMatchStrength returns how strongly a turn of a conversation matches the prompt's terms. The terms of an
// identifier count as a single word, or as two words if the identifier is long or contains an underscore.
func ComputeTurnMatchStrength(terms []PromptTerm) PromptMatchStrength {
	s, most, _ := sumWordScores(promptWords(terms))
	s.computeStrength(sum(most), 1)
	return s
}

// NoteMatchStrength returns how strongly a note matches a prompt. terms contains the prompt's terms, each with its
// search score for the note, and content is the note's text. For a short note, the caller should compute these scores
// without regard to the note's length. The strength of a note is higher if the note states a rule, or if it contains a
// word of the prompt that no other note contains.
func NoteMatchStrength(terms []PromptTerm, content string) PromptMatchStrength {
	s, most, isUnique := sumWordScores(promptWords(terms))
	s.isNoteMatch = true
	slices.Sort(most)
	factor := noteStrengthFactor
	if isUnique {
		factor *= uniqueTermStrengthFactor
	}
	if isRuleText(content) {
		factor *= ruleNoteStrengthFactor
	}
	s.computeStrength(sum(most[max(len(most)-maxWordsInScoreDivisor, 0):]), factor)
	return s
}

// sumWordScores adds up the scores and counts of a prompt's words for one note or turn, and returns the sums in s.
// maxScores contains the highest score that each word can reach. This score is reduced by absentWordWeight if the word
// occurs nowhere in the memory. hasUniqueWord reports whether the note or turn contains a word of the prompt that no
// other one contains. Words that direct an agent, such as "please", are ignored for hasUniqueWord.
func sumWordScores(words []promptWord) (s PromptMatchStrength, maxScores []float64, hasUniqueWord bool) {
	absent := 0.0
	all := 0.0
	for _, w := range words {
		if w.IsAbsentFromMemory {
			maxScores = append(maxScores, absentWordWeight*w.MaxScore)
		} else {
			maxScores = append(maxScores, w.MaxScore)
		}
		s.Score += max(w.Score, 0)
		if !w.isCommandWord {
			all += w.IDF
			if w.IsAbsentFromMemory {
				absent += w.IDF
			}
		}
		if w.IsInText {
			s.MatchedWordCount += w.equivalentWordCount
			if !w.isCommandWord {
				s.MatchedSubjectWordCount += w.equivalentWordCount
				hasUniqueWord = hasUniqueWord || w.IsUniqueInMemory
			}
		}
	}
	if all > 0 {
		s.UnknownWordShare = absent / all
	}
	return s, maxScores, hasUniqueWord
}

// computeStrength sets ShareOfMaxScore and Strength. maxScore is the highest score that the prompt's words can reach.
// ShareOfMaxScore is Score divided by maxScore, at most 1. It is not set if fewer than minMatchedPromptWords words
// match. Strength is the product of strengthFactor, ShareOfMaxScore and the square root of Score.
func (s *PromptMatchStrength) computeStrength(maxScore, strengthFactor float64) {
	if maxScore > 0 && s.MatchedWordCount >= minMatchedPromptWords {
		s.ShareOfMaxScore = min(s.Score/maxScore, 1)
	}
	s.Strength = strengthFactor * s.ShareOfMaxScore * math.Sqrt(s.Score)
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
	PromptTerm
	isCommandWord       bool // the word is a stop word, or a word with which people direct an agent, such as "please"
	equivalentWordCount int  // how many words of the prompt it is counted as: 2 for a long identifier, otherwise 1
}

// promptWords groups the terms of a prompt into words. All terms with the same identifier become one word. A term
// without an identifier becomes a word of its own.
//
// A word counts as two words (equivalentWordCount) if its identifier has at least minTermsOfTwoWordIdentifier terms. It
// also counts as two words if its identifier has at least two terms and contains an underscore. A path, which is an
// identifier with a slash, always counts as one word.
func promptWords(terms []PromptTerm) (all []promptWord) {
	at := map[string]int{}
	size := map[string]int{}
	for _, t := range terms {
		w := promptWord{t, commandTerms()[t.Text] || analysis.IsStopWord(t.Text), 1}
		i, isJoined := at[t.Identifier]
		if t.Identifier == "" || !isJoined {
			at[t.Identifier] = len(all)
			size[t.Identifier] = 1
			all = append(all, w)
			continue
		}
		size[t.Identifier]++
		isLong := size[t.Identifier] >= minTermsOfTwoWordIdentifier || strings.Contains(t.Identifier, "_")
		if isLong && !strings.Contains(t.Identifier, "/") {
			all[i].equivalentWordCount = 2
		}
		all[i].addTermScore(w)
	}
	return all
}

// addTermScore merges term, another part of the same identifier, into the word w. For example, parse and go are parts
// of the identifier parse.go. The scores of the parts are added. The merged word is in the text, or unique in the
// memory, if this is true for any part. It is absent from the memory, or a command word, only if this is true for all
// parts.
func (w *promptWord) addTermScore(term promptWord) {
	w.isCommandWord = w.isCommandWord && term.isCommandWord
	w.IsInText = w.IsInText || term.IsInText
	w.IsUniqueInMemory = w.IsUniqueInMemory || term.IsUniqueInMemory
	w.Score = max(w.Score, 0) + max(term.Score, 0)
	switch {
	case w.IsAbsentFromMemory == term.IsAbsentFromMemory && w.IsAbsentFromMemory:
		w.MaxScore = max(w.MaxScore, term.MaxScore)
		w.IDF = max(w.IDF, term.IDF)
	case w.IsAbsentFromMemory == term.IsAbsentFromMemory:
		w.MaxScore += term.MaxScore
		w.IDF = max(w.IDF, term.IDF)
	case w.IsAbsentFromMemory:
		w.MaxScore = term.MaxScore
		w.IDF = term.IDF
		w.IsAbsentFromMemory = false
	}
}

//go:embed steering.txt
var commandWordList string

// commandTerms returns the set of terms for the words with which people steer an agent.
var commandTerms = sync.OnceValue(func() map[string]bool {
	terms := map[string]bool{}
	for line := range strings.Lines(commandWordList) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for w := range strings.FieldsSeq(line) {
			terms[analysis.TermOfWord(analysis.FoldText(w))] = true
		}
	}
	return terms
})

// MinMatchStrength is the minimum strength above which a note or conversation turn is shown for a prompt. It is
// calibrated for each memory with decoys, which are prompts that no memory can answer.
type MinMatchStrength float64

// UnreachableMinStrength is higher than the strength of any note or conversation turn. A memory with this minimum
// strength shows nothing for any prompt.
const UnreachableMinStrength MinMatchStrength = math.MaxFloat64

// Decoys are prompts that no memory can answer. maxAnsweredDecoyShare is the share of the decoys in one language for
// which the memory may nevertheless show something.
const maxAnsweredDecoyShare = .02

// CalibrateMinMatchStrength returns the minimum strength for answers. It is computed from a test with decoys, which are
// prompts that no memory can answer. For each language, strengthsByLanguage contains one strength for each decoy: the
// strength of the best match in the memory.
//
// For each language, the function finds the lowest minimum that at most maxAnsweredDecoyShare of the decoys exceed. It
// returns the highest of these minimums, but at least lowestMinMatchStrength. The highest minimum comes from the
// language of the memory, because decoys in other languages match the memory only weakly.
func CalibrateMinMatchStrength(strengthsByLanguage map[string][]float64) MinMatchStrength {
	floor := lowestMinMatchStrength
	for _, of := range strengthsByLanguage {
		of = slices.Sorted(slices.Values(of))
		if len(of) > 0 {
			floor = max(floor, of[int(math.Ceil((1-maxAnsweredDecoyShare)*float64(len(of))))-1])
		}
	}
	return MinMatchStrength(floor)
}

// AnswerKindForQuestion returns how much of a note or conversation turn is shown as the answer to a question. s
// describes how well the text of the note or turn matches the question, and the receiver f is the minimum strength of a
// match. The first case that applies determines the result:
//
//   - AnswerSilence, if the match is too weak: s.Strength is not above the minimum (see
//     [MinMatchStrength.MinStrengthForQuestion]), s.Score is below minSearchScore, or the text contains too few of the
//     question's subject words.
//   - AnswerSilence, if the share of the question's words that the memory lacks is above maxUnknownWordShare, and the
//     text contains fewer than minSubjectWordsIfManyUnknown subject words.
//   - AnswerEntryNames, if this share is above maxUnknownWordShare.
//   - AnswerQuotedSentences in all other cases.
func (f MinMatchStrength) AnswerKindForQuestion(s PromptMatchStrength) AnswerKind {
	switch {
	case s.Strength <= float64(f.MinStrengthForQuestion(s)) || s.Score < minSearchScore ||
		s.MatchedSubjectWordCount < minMatchedSubjectWords:
		return AnswerSilence
	case s.UnknownWordShare > maxUnknownWordShare && s.MatchedSubjectWordCount < minSubjectWordsIfManyUnknown:
		return AnswerSilence
	case s.UnknownWordShare > maxUnknownWordShare:
		return AnswerEntryNames
	}
	return AnswerQuotedSentences
}

// MinStrengthForQuestion returns a minimum for the strength of the match s, if the prompt is a question (see
// [IsQuestion]). The matched note or conversation turn is shown only if the strength of s is greater than this minimum.
// For a turn, the minimum is the receiver f, which was calibrated for the memory. For a note, the minimum is f or
// minNoteMatchForQuestion, whichever is greater.
func (f MinMatchStrength) MinStrengthForQuestion(s PromptMatchStrength) MinMatchStrength {
	if s.isNoteMatch {
		return max(f, minNoteMatchForQuestion)
	}
	return f
}

// RaiseForInstruction returns a minimum for the strength of the match s, if the prompt is an order, such as "fix the
// parser". The receiver f is the minimum for a question. The minimum for an order is higher, because two or three words
// of an order may occur in a text by chance. There is one exception: for a turn that contains at least four words of
// the order, the result is f, because four words seldom match by chance.
func (f MinMatchStrength) RaiseForInstruction(s PromptMatchStrength) MinMatchStrength {
	switch {
	case s.isNoteMatch:
		return max(f, minNoteMatchForInstruction)
	case s.MatchedSubjectWordCount > maxWordsMatchedByChance:
		return f
	}
	return max(f, minTurnMatchForInstruction)
}

// AnswerKindForInstruction returns how much of a note or conversation turn is shown if the prompt is an order, such as
// "fix the parser". match describes how well the note or turn matches the prompt.
//
// If fewer than minSubjectWordsIfManyUnknown words about the prompt's subject match, the result is AnswerSilence.
// Otherwise the result is the same as for a question, but a higher strength may be needed (see
// [MinMatchStrength.RaiseForInstruction]).
func (f MinMatchStrength) AnswerKindForInstruction(match PromptMatchStrength) AnswerKind {
	if match.MatchedSubjectWordCount < minSubjectWordsIfManyUnknown {
		return AnswerSilence
	}
	return f.RaiseForInstruction(match).AnswerKindForQuestion(match)
}

// CanAccompanyStrongerText reports whether a note or turn with strength s may be shown next to a stronger text that
// answers the prompt.
func (f MinMatchStrength) CanAccompanyStrongerText(s PromptMatchStrength) bool {
	return s.Strength >= minShareOfMinStrength*float64(f)
}

// This file finds the sentences in a text that are a request, a correction or a conclusion.

package extract

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// FindRememberRequests returns the sentences in which a person asks an agent to remember something. It returns at most
// maxFoundSentences sentences, unchanged, in order and without duplicates.
func FindRememberRequests(text string) []string {
	return findSentencesByMeaning(meaningRememberRequest, text)
}

// FindConclusions returns the sentences in which an agent reports a finding or a decision. It returns at most
// maxFoundSentences sentences, unchanged, in order and without duplicates.
func FindConclusions(text string) []string {
	return findSentencesByMeaning(meaningAgentConclusion, text)
}

// FindCorrection returns the first sentence of a person's text if this sentence rejects the work that an agent just
// did. Otherwise it returns "".
func FindCorrection(text string) (first string) {
	splitSentences(text, func(s string) bool {
		if w := normalizeSentence(s); anyRuleMatches(meaningUserCorrection, w) {
			first = s
		}
		return false
	})
	return first
}

// findSentencesByMeaning returns the sentences of a text that have the given meaning, for example the sentences in
// which the user corrects the agent. A sentence has a meaning if it matches one of the rules for this meaning. The
// result contains at most maxFoundSentences sentences, in the order of the text and without duplicates.
func findSentencesByMeaning(meaning sentenceMeaning, text string) (found []string) {
	splitSentences(text, func(s string) bool {
		if w := normalizeSentence(s); anyRuleMatches(meaning, w) && !slices.Contains(found, s) {
			found = append(found, s)
		}
		return len(found) < maxFoundSentences
	})
	return found
}

// maxFoundSentences is the maximum number of sentences found in a text. A text with more matches is a pasted list of
// rules, not a person's message.
const maxFoundSentences = 12

// anyRuleMatches reports whether a sentence matches a rule for the given meaning, such as a request to remember
// something. foldedSentence is the sentence in the form that [normalizeSentence] returns.
func anyRuleMatches(meaning sentenceMeaning, foldedSentence string) bool {
	return findMatchingRule(meaning, foldedSentence) != nil
}

// findMatchingRule returns a rule for the given meaning that matches the sentence, or nil if no rule matches. A
// sentence that ends with a question mark matches only rules for corrections.
func findMatchingRule(signal sentenceMeaning, foldedSentence string) *sentenceRule {
	if signal != meaningUserCorrection && strings.HasSuffix(foldedSentence, " ? ") {
		return nil
	}
	t := compiledRuleIndex()
	for word := range strings.FieldsSeq(foldedSentence) {
		for _, r := range t.rulesByMeaningAndWord[signal][word] {
			if r.matchesSentence(foldedSentence) {
				return r
			}
		}
	}
	if !strings.ContainsFunc(foldedSentence, func(r rune) bool { return r >= 0x2e80 }) {
		return nil
	}
	for _, r := range t.cjkRules {
		if r.meaning == signal && r.matchesSentence(foldedSentence) {
			return r
		}
	}
	return nil
}

// sentenceRule is a row of sentenceRuleTable with functions that return its compiled patterns.
type sentenceRule struct {
	sentenceRuleRow
	matchPattern, excludePattern func() *regexp.Regexp // Each function compiles its pattern at the first call.
}

func (r *sentenceRule) matchesSentence(foldedSentence string) bool {
	return r.matchPattern().MatchString(foldedSentence) &&
		(r.excludeText == "" || !r.excludePattern().MatchString(foldedSentence))
}

type ruleIndex struct {
	// rules by the meaning of the sentences that they recognize, and by trigger word; a rule is tried only if the
	// sentence contains its trigger word
	rulesByMeaningAndWord map[sentenceMeaning]map[string][]*sentenceRule
	// rules without trigger words, which are tried for every sentence in Chinese or Japanese
	cjkRules []*sentenceRule
}

var compiledRuleIndex = sync.OnceValue(func() ruleIndex {
	t := ruleIndex{
		rulesByMeaningAndWord: map[sentenceMeaning]map[string][]*sentenceRule{
			meaningRememberRequest: {},
			meaningUserCorrection:  {},
			meaningAgentConclusion: {},
		},
	}
	for _, row := range sentenceRuleTable {
		r := &sentenceRule{
			sentenceRuleRow: row,
			matchPattern:    lazyRulePattern(row.language, row.matchText),
			excludePattern:  lazyRulePattern(row.language, row.excludeText),
		}
		for word := range strings.FieldsSeq(row.triggerWords) {
			of := t.rulesByMeaningAndWord[row.meaning]
			of[word] = append(of[word], r)
		}
		if row.triggerWords == "" {
			t.cjkRules = append(t.cjkRules, r)
		}
	}
	return t
})

// lazyRulePattern returns a function that returns a compiled rule pattern for the given language. The function compiles
// the pattern when it is called for the first time. In the pattern, the word LEAD stands for the language's pattern of
// polite words, and the word PLAN stands for the language's pattern of sentences about plans. Both words are replaced
// before the pattern is compiled.
func lazyRulePattern(language, pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			strings.NewReplacer("LEAD", courtesyPatterns[language], "PLAN", planSentencePatterns[language]).
				Replace(pattern),
		)
	})
}

// This file finds the sentences of a text that match a signal.

package extract

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// FindRememberRequests returns the sentences of a person's text that ask to remember something, unchanged, in
// order and without duplicates.
func FindRememberRequests(text string) []string { return findSentences(signalRequest, text) }

// FindConclusions returns the sentences in an agent's text that report a finding or decision,
// unchanged, in order and without duplicates.
func FindConclusions(text string) []string { return findSentences(signalConclusion, text) }

// FindCorrection returns the first sentence of a person's text if it refuses what an agent just did,
// otherwise "".
func FindCorrection(text string) (first string) {
	splitSentences(text, func(s string) bool {
		if w := foldWords(s); anyRuleMatches(signalCorrection, w) {
			first = s
		}
		return false
	})
	return first
}

// findSentences returns the sentences that match a row of the signal.
func findSentences(signal signal, text string) (found []string) {
	splitSentences(text, func(s string) bool {
		if w := foldWords(s); anyRuleMatches(signal, w) && !slices.Contains(found, s) {
			found = append(found, s)
		}
		return len(found) < maxFoundSentences
	})
	return found
}

// maxFoundSentences is the maximum number of sentences found in a text. A text with more requests is a
// pasted list of rules.
const maxFoundSentences = 12

// anyRuleMatches reports whether a sentence matches a rule for the signal. words is the sentence in the form that
// [foldWords] returns.
func anyRuleMatches(signal signal, words string) bool {
	return matchingRule(signal, words) != nil
}

func matchingRule(signal signal, words string) *rule {
	if signal != signalCorrection && strings.HasSuffix(words, " ? ") {
		return nil
	}
	t := compiledRules()
	for word := range strings.FieldsSeq(words) {
		for _, r := range t.rulesByWord[signal][word] {
			if r.matchesSentence(words) {
				return r
			}
		}
	}
	if !strings.ContainsFunc(words, func(r rune) bool { return r >= 0x2e80 }) {
		return nil
	}
	for _, r := range t.cjkRules {
		if r.signal == signal && r.matchesSentence(words) {
			return r
		}
	}
	return nil
}

// rule is a row of the table with its patterns.
type rule struct {
	tableRow
	matchPattern, excludePattern func() *regexp.Regexp // compiled at first use
}

func (r *rule) matchesSentence(words string) bool {
	return r.matchPattern().MatchString(words) && (r.excludeText == "" || !r.excludePattern().MatchString(words))
}

type ruleIndex struct {
	rulesByWord map[signal]map[string][]*rule // rules that a word may trigger
	cjkRules    []*rule                       // rules for Chinese and Japanese, which are tried without such a word
}

var compiledRules = sync.OnceValue(func() ruleIndex {
	t := ruleIndex{
		rulesByWord: map[signal]map[string][]*rule{signalRequest: {}, signalCorrection: {}, signalConclusion: {}},
	}
	for _, row := range signalTable {
		r := &rule{
			tableRow:       row,
			matchPattern:   lazyPattern(row.language, row.matchText),
			excludePattern: lazyPattern(row.language, row.excludeText),
		}
		for word := range strings.FieldsSeq(row.triggerWords) {
			of := t.rulesByWord[row.signal]
			of[word] = append(of[word], r)
		}
		if row.triggerWords == "" {
			t.cjkRules = append(t.cjkRules, r)
		}
	}
	return t
})

// lazyPattern returns a function that compiles a pattern of the table. In a pattern, LEAD is replaced by
// the language's courtesy pattern, and PLAN by its plans pattern.
func lazyPattern(lang, pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			strings.NewReplacer("LEAD", courtesyPatterns[lang], "PLAN", planPatterns[lang]).Replace(pattern),
		)
	})
}

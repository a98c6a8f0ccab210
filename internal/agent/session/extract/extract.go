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
func FindRememberRequests(text string) []string { return findSentences(signalRequest, text) }

// FindConclusions returns the sentences in which an agent reports a finding or a decision. It returns at most
// maxFoundSentences sentences, unchanged, in order and without duplicates.
func FindConclusions(text string) []string { return findSentences(signalConclusion, text) }

// FindCorrection returns the first sentence of a person's text if this sentence rejects what an agent just did.
// Otherwise it returns "".
func FindCorrection(text string) (first string) {
	splitSentences(text, func(s string) bool {
		if w := foldWords(s); anyRuleMatches(signalCorrection, w) {
			first = s
		}
		return false
	})
	return first
}

// findSentences returns at most maxFoundSentences sentences that match a rule for the signal, in order and without
// duplicates.
func findSentences(signal signal, text string) (found []string) {
	splitSentences(text, func(s string) bool {
		if w := foldWords(s); anyRuleMatches(signal, w) && !slices.Contains(found, s) {
			found = append(found, s)
		}
		return len(found) < maxFoundSentences
	})
	return found
}

// maxFoundSentences is the maximum number of sentences found in a text. A text with more matches is a pasted list of
// rules, not a person's message.
const maxFoundSentences = 12

// anyRuleMatches reports whether a sentence matches a rule for the signal. words must be a result of [foldWords].
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

// rule is a row of signalTable with functions that return its compiled patterns.
type rule struct {
	tableRow
	matchPattern, excludePattern func() *regexp.Regexp // Each function compiles its pattern at the first call.
}

func (r *rule) matchesSentence(words string) bool {
	return r.matchPattern().MatchString(words) && (r.excludeText == "" || !r.excludePattern().MatchString(words))
}

type ruleIndex struct {
	// rules by signal and trigger word; only the rules of the words in a sentence are tried
	rulesByWord map[signal]map[string][]*rule
	// rules without trigger words, which are tried for every sentence in Chinese or Japanese
	cjkRules []*rule
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

// lazyPattern returns a function that compiles a pattern of the table at the first call. It first replaces LEAD in the
// pattern by the language's pattern for polite words, and PLAN by the language's pattern for plans.
func lazyPattern(lang, pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			strings.NewReplacer("LEAD", courtesyPatterns[lang], "PLAN", planPatterns[lang]).Replace(pattern),
		)
	})
}

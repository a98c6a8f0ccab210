// This file finds the sentences of a text that match a signal.

package extract

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// AskedToRemember returns the sentences of a person's text that ask to remember something, unchanged, in
// order and without duplicates.
func AskedToRemember(text string) []string { return find(asked, text) }

// FindConclusions returns the sentences in an agent's text that report a finding or decision,
// unchanged, in order and without duplicates.
func FindConclusions(text string) []string { return find(concluded, text) }

// FindCorrection returns the first sentence of a person's text if it refuses what an agent just did,
// otherwise "".
func FindCorrection(text string) (first string) {
	splitSentences(text, func(s string) bool {
		if w := foldWords(s); anyRuleMatches(corrects, w) {
			first = s
		}
		return false
	})
	return first
}

// find returns the sentences that match a row of the signal.
func find(signal signal, text string) (found []string) {
	splitSentences(text, func(s string) bool {
		if w := foldWords(s); anyRuleMatches(signal, w) && !slices.Contains(found, s) {
			found = append(found, s)
		}
		return len(found) < maxFound
	})
	return found
}

// maxFound is the maximum number of sentences found in a text. A text with more requests is a
// pasted list of rules.
const maxFound = 12

// anyRuleMatches reports whether a row for the signal matches a sentence in the form returned
// by [foldWords].
func anyRuleMatches(signal signal, words string) bool {
	return matching(signal, words) != nil
}

func matching(signal signal, words string) *rule {
	if signal != corrects && strings.HasSuffix(words, " ? ") {
		return nil
	}
	t := compiled()
	for word := range strings.FieldsSeq(words) {
		for _, r := range t.byWord[signal][word] {
			if r.matches(words) {
				return r
			}
		}
	}
	if !strings.ContainsFunc(words, func(r rune) bool { return r >= 0x2e80 }) {
		return nil
	}
	for _, r := range t.east {
		if r.signal == signal && r.matches(words) {
			return r
		}
	}
	return nil
}

// rule is a row of the table with its patterns.
type rule struct {
	row
	yes, no func() *regexp.Regexp // compiled at first use
}

func (r *rule) matches(words string) bool {
	return r.yes().MatchString(words) && (r.not == "" || !r.no().MatchString(words))
}

type rules struct {
	byWord map[signal]map[string][]*rule // rules that a word may trigger
	east   []*rule                       // rules for Chinese and Japanese, which are tried without such a word
}

var compiled = sync.OnceValue(func() rules {
	t := rules{byWord: map[signal]map[string][]*rule{asked: {}, corrects: {}, concluded: {}}}
	for _, row := range table {
		r := &rule{row: row, yes: lazily(row.lang, row.match), no: lazily(row.lang, row.not)}
		for word := range strings.FieldsSeq(row.words) {
			of := t.byWord[row.signal]
			of[word] = append(of[word], r)
		}
		if row.words == "" {
			t.east = append(t.east, r)
		}
	}
	return t
})

// lazily returns a function that compiles a pattern of the table. In a pattern, LEAD is replaced by
// the language's courtesy pattern, and PLAN by its plans pattern.
func lazily(lang, pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(strings.NewReplacer("LEAD", courtesy[lang], "PLAN", plans[lang]).Replace(pattern))
	})
}

// What is looked for in the texts of a turn.

package extract

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Asked returns the sentences of a person's text that ask to remember something,
// as they stand there, in their order and each once.
func Asked(text string) []string { return find(asked, text) }

// Concluded returns the sentences of an agent's text that say what it found or
// decided, as they stand there, in their order and each once.
func Concluded(text string) []string { return find(concluded, text) }

// Corrects returns the sentence with which a person's text begins when that
// refuses what an agent just did, and "".
func Corrects(text string) (first string) {
	sentences(text, func(s string) bool {
		if w := words(s); matches(corrects, w) {
			first = s
		}
		return false
	})
	return first
}

// find returns the sentences in which a row of the signal matches.
func find(signal signal, text string) (found []string) {
	sentences(text, func(s string) bool {
		if w := words(s); matches(signal, w) && !slices.Contains(found, s) {
			found = append(found, s)
		}
		return len(found) < maxFound
	})
	return found
}

// maxFound is how many sentences of one text are found: one that asks for more
// is a pasted list of rules.
const maxFound = 12

// matches reports whether a row of the signal matches the words of a sentence.
func matches(signal signal, words string) bool {
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

// rule is a row that can match.
type rule struct {
	row
	yes, no func() *regexp.Regexp // compiled when a sentence first needs them
}

func (r *rule) matches(words string) bool {
	return r.yes().MatchString(words) && (r.not == "" || !r.no().MatchString(words))
}

type rules struct {
	byWord map[signal]map[string][]*rule // those that a word may match
	east   []*rule                       // of Chinese and Japanese, which have no words
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

// lazily returns a function that compiles a pattern of the table: LEAD stands
// for the beginning of a sentence, and words that may stand before its first.
func lazily(lang, pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(strings.NewReplacer("LEAD", courtesy[lang], "PLAN", plans[lang]).Replace(pattern))
	})
}

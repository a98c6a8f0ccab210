// This file distinguishes questions from orders and reports.

package gate

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
)

//go:embed asking.txt
var questionWordList string

// questionWords returns the words with which a question may begin, in lower case, as a set.
var questionWords = sync.OnceValue(func() map[string]bool { return parseWordList(questionWordList) })

// parseWordList returns the words of a list as a set. Lines of the list that begin with # are comments.
func parseWordList(list string) map[string]bool {
	words := map[string]bool{}
	for line := range strings.Lines(list) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for w := range strings.FieldsSeq(line) {
			words[w] = true
		}
	}
	return words
}

// questionPhrases are substrings that occur in Chinese and Japanese questions.
var questionPhrases = []string{"吗", "呢", "什么", "什麼", "怎么", "怎麼", "怎样", "哪", "谁", "多少", "几个", "是否",
	"何", "誰", "どう", "どこ", "どれ", "どの", "なぜ", "いつ", "いくつ", "いくら", "ですか", "ますか", "でしたか", "ましたか"}

// IsQuestion reports whether a prompt asks something. It expects one sentence in each line. A prompt that asks
// nothing is an order, a report or an acknowledgement.
func IsQuestion(prompt string) bool {
	if strings.ContainsAny(prompt, "?？؟¿") {
		return true
	}
	for _, part := range questionPhrases {
		if strings.Contains(prompt, part) {
			return true
		}
	}
	for line := range strings.Lines(prompt) {
		words := strings.FieldsFunc(strings.ToLower(line), func(c rune) bool {
			return !unicode.IsLetter(c) && c != '\'' && c != '-'
		})
		if len(words) > 0 && questionWords()[words[0]] {
			return true
		}
	}
	return false
}

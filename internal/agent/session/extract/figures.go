// This file finds sentences with measured numbers.

package extract

import (
	"regexp"
	"sync"
)

// figure matches a number with a unit.
var figure = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`\d(?:[\d.,]*\d)? ?(?:%|[µumn]?s\b|ms\b|sec\b|seconds?\b|minutes?\b|[kKMG]i?[bB]\b|x\b|times\b|tests?\b|lines?\b|tokens?\b|files?\b|requests?\b|ops\b|[qr]ps\b)`,
	)
})

// FigureSentences returns the sentences of an agent's text that contain a number with a unit and express no
// plan in English words.
func FigureSentences(text string) (found []string) {
	splitSentences(text, func(s string) bool {
		if figure().MatchString(s) && !plan().MatchString(foldWords(s)) {
			found = append(found, s)
		}
		return len(found) < maxFound
	})
	return found
}

var plan = lazily("en", "PLAN")

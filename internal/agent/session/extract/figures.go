// This file finds sentences that report a measured number.

package extract

import (
	"regexp"
	"sync"
)

// measuredNumberPattern matches a number followed by a unit, such as 12 ms, 5 % or 3 tests.
var measuredNumberPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`\d(?:[\d.,]*\d)? ?(?:%|[µumn]?s\b|ms\b|sec\b|seconds?\b|minutes?\b|[kKMG]i?[bB]\b|x\b|times\b|tests?\b|lines?\b|tokens?\b|files?\b|requests?\b|ops\b|[qr]ps\b)`,
	)
})

// FindMeasurementSentences returns the sentences of an agent's text that contain a number with a unit. It leaves out
// sentences that match the English pattern for plans, such as "next I will try …". It returns at most
// maxFoundSentences sentences.
func FindMeasurementSentences(text string) (found []string) {
	splitSentences(text, func(s string) bool {
		if measuredNumberPattern().MatchString(s) && !planSentencePattern().MatchString(normalizeSentence(s)) {
			found = append(found, s)
		}
		return len(found) < maxFoundSentences
	})
	return found
}

var planSentencePattern = lazyRulePattern("en", "PLAN")

// This file distinguishes notes that state a rule from notes that only describe something.

package gate

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
)

//go:embed ruling.txt
var ruleWordsText string

// ruleWords returns the lower-case words with which people state rules, limits and reasons.
var ruleWords = sync.OnceValue(func() map[string]bool { return parseWordList(ruleWordsText) })

// rulePhrases are Chinese and Japanese phrases, such as "must not" and "because", that mark a sentence as a rule for
// the agent.
var rulePhrases = []string{"不要", "不能", "不可", "不得", "必须", "必須", "只能", "禁止", "从不", "從不", "因为", "因為", "否则",
	"ない", "ません", "必ず", "だけ", "のみ", "ため"}

// maxRuleSearchBytes limits the search for a rule to this many bytes at the beginning of a note.
const maxRuleSearchBytes = 2 << 10

// isRuleText reports whether a note says what must or must not be done, or why. Such a note
// answers a prompt more often than a description does, because an agent can find descriptions in
// the project itself.
func isRuleText(content string) bool {
	content = content[:min(len(content), maxRuleSearchBytes)]
	content = strings.ReplaceAll(strings.ToLower(content), "’", "'")
	for w := range strings.FieldsFuncSeq(content, func(c rune) bool { return !unicode.IsLetter(c) && c != '\'' }) {
		if ruleWords()[w] {
			return true
		}
	}
	for _, part := range rulePhrases {
		if strings.Contains(content, part) {
			return true
		}
	}
	return false
}

// This file turns a request to remember something into the text of a note.

package extract

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// rememberRequestPattern matches the words at the beginning of a sentence with which a person asks the agent to
// remember something, such as "please remember that".
var rememberRequestPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:(?:please|pls|ok|okay|also|and|so|por favor|bitte|пожалуйста),? )*(?:` +
		`(?:always |do |you (?:should|must|need to) |i (?:want|need) you to |i['’]d like you to )?remember(?:,? (?:that|this|to|for (?:next time|later|the future)))*[,:]? ` +
		`|remember[:,] ?|(?:merke? dir|denke? dran|beachte)[^:,]{0,24}: ?` +
		`|(?:recuerda|ten en cuenta) que |lembre-se (?:de )?que |(?:запомни|помни),? что |(?:记住|记得|牢记)[，：,: ]+)`)
})

// sentenceStarters contains, in lower case, words that often begin a sentence. Except for "i", these words are
// capitalized only because they begin a sentence.
var sentenceStarters = map[string]bool{"a": true, "all": true, "always": true, "an": true, "do": true, "don't": true,
	"each": true, "every": true, "i": true, "if": true,
	"in": true, "it": true, "my": true, "never": true, "no": true, "not": true, "only": true, "our": true, "run": true,
	"the": true, "there": true,
	"they": true, "this": true, "use": true, "we": true, "when": true, "you": true, "your": true}

// ExtractNoteText returns a sentence without the words that ask for a note: "Remember that we use tabs." becomes "We
// use tabs." It returns the sentence unchanged if it does not begin with such words, or if the rest begins with "not"
// or has fewer than six characters.
func ExtractNoteText(sentence string) string {
	asks := rememberRequestPattern().FindString(sentence)
	rest := strings.TrimSpace(sentence[len(asks):])
	isTooShort := utf8.RuneCountInString(rest) < 6
	if asks == "" || isTooShort {
		return sentence
	}
	if strings.HasPrefix(strings.ToLower(rest), "not ") {
		return sentence
	}
	first, _, _ := strings.Cut(rest, " ")
	if sentenceStarters[strings.ToLower(first)] {
		r, size := utf8.DecodeRuneInString(rest)
		rest = string(unicode.ToUpper(r)) + rest[size:]
	}
	return rest
}

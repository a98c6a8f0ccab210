// This file recognizes words that specify when something happens.

package analysis

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// timeWordTerms contains the terms of words that specify when something happened or will happen. The month name "may"
// is not included, because "may" is usually a verb.
var timeWordTerms = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`
yesterday today tomorrow tonight night morning day week weekend month year ago last next recently
monday tuesday wednesday thursday friday saturday sunday spring summer fall winter
january february march april june july august september october november december`) {
		m[TermOfWord(w)] = true
	}
	return m
})

// MayBeDate reports whether a word in a question may belong to a date. Such a word starts with a digit or is the name
// of a month.
func MayBeDate(word string) bool { return (word != "" && isDigit(word[0])) || monthNames()[word] }

// monthNames returns the names of the months in lower case.
var monthNames = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for i := time.January; i <= time.December; i++ {
		m[strings.ToLower(i.String())] = true
	}
	return m
})

// MentionsTime reports whether the text contains a word that specifies a time, such as "yesterday", "last", "week" or
// the name of a month.
func (a *Analyzer) MentionsTime(text string) bool {
	tells := false
	a.eachChunk(context.Background(), text, func(us []chunkTerm) {
		tells = tells || slices.ContainsFunc(us, func(u chunkTerm) bool { return timeWordTerms()[u.text] })
	})
	return tells
}

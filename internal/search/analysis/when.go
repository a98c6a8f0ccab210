// This file recognizes words that say when something happens.

package analysis

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// timeTerms are the terms of words that say when something happened or will happen. May is
// missing, because it is usually a verb.
var timeTerms = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`
yesterday today tomorrow tonight night morning day week weekend month year ago last next recently
monday tuesday wednesday thursday friday saturday sunday spring summer fall winter
january february march april june july august september october november december`) {
		m[Root(w)] = true
	}
	return m
})

// MayBeDate reports whether a word in a question may belong to a date. Such a word starts with a
// digit or is the name of a month.
func MayBeDate(word string) bool { return (word != "" && isDigit(word[0])) || monthNames()[word] }

// monthNames are the names of the months in lower case.
var monthNames = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for i := time.January; i <= time.December; i++ {
		m[strings.ToLower(i.String())] = true
	}
	return m
})

// MentionsTime reports whether the text has a word that says when, such as "yesterday",
// "last", "week" or the name of a month.
func (a *Analyzer) MentionsTime(text string) bool {
	tells := false
	a.eachChunk(context.Background(), text, func(us []unit) {
		tells = tells || slices.ContainsFunc(us, func(u unit) bool { return timeTerms()[u.text] })
	})
	return tells
}

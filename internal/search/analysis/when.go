// Questions for a time, and texts that tell one.

package analysis

import (
	"context"
	"slices"
	"strings"
	"time"
)

// timeTerms are the terms of words that say when something was or will be. May
// is mostly no month.
var timeTerms = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`
yesterday today tomorrow tonight night morning day week weekend month year ago last next recently
monday tuesday wednesday thursday friday saturday sunday spring summer fall winter
january february march april june july august september october november december`) {
		m[Root(w)] = true
	}
	return m
}()

// times are the words after what and which that make a question one for a
// time.
var times = map[string]bool{"date": true, "day": true, "week": true, "month": true, "year": true, "time": true}

// MayDate reports whether a word of a question may be a date, a month or a year: it begins
// with a digit, or is the name of a month.
func MayDate(word string) bool { return (word != "" && isDigit(word[0])) || months[word] }

// months are the names of the months.
var months = func() map[string]bool {
	m := map[string]bool{}
	for i := time.January; i <= time.December; i++ {
		m[strings.ToLower(i.String())] = true
	}
	return m
}()

// AsksWhen reports whether a question is one for a time: "when" stands before
// the first word that is no stop word, or "how long", "what year" or the like
// anywhere.
func AsksWhen(question string) bool {
	before, begun := "", false
	for w := range strings.FieldsFuncSeq(question, func(r rune) bool { return !((r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || r >= 0x80) }) {
		w = Fold(w)
		switch {
		case w == "when" && !begun, before == "how" && w == "long", (before == "what" || before == "which") && times[w]:
			return true
		}
		begun = begun || !IsStopWord(w)
		before = w
	}
	return false
}

// TellsWhen reports whether a word of the text says when: "yesterday", "last",
// "week", the name of a month.
func (a *Analyzer) TellsWhen(text string) bool {
	tells := false
	a.each(context.Background(), text, func(us []unit) {
		tells = tells || slices.ContainsFunc(us, func(u unit) bool { return timeTerms[u.text] })
	})
	return tells
}

// This file selects the sentence with a reason.

// Package editreason selects, from what an agent said before an edit, the sentence with the
// reason for the edit.
package editreason

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// Sentence returns the last sentence of a text that does more than announce the next step,
// and true. If all sentences are only announcements, it returns the last one and false. For
// a text without sentences it returns "".
func Sentence(text string) (sentence string, gives bool) {
	all := sentences(text)
	for i := len(all) - 1; i >= 0; i-- {
		if !announces(all[i]) {
			return all[i], true
		}
	}
	if len(all) == 0 {
		return "", false
	}
	return all[len(all)-1], false
}

// Trim returns a text without the sentences at its beginning and end that only announce the
// next step. If all sentences do, it returns the whole text. Fenced code is kept.
func Trim(text string) string {
	all := sentences(text)
	first, last := 0, len(all)-1
	for first <= last && announces(all[first]) {
		first++
	}
	for last > first && announces(all[last]) {
		last--
	}
	text = strings.TrimSpace(text)
	if first > last {
		return text
	}
	for _, s := range all[:first] {
		if at := strings.Index(text, s); at >= 0 && !strings.Contains(text[:at], "```") {
			text = strings.TrimSpace(text[at+len(s):])
		}
	}
	for i := len(all) - 1; i > last; i-- {
		text = strings.TrimSpace(strings.TrimSuffix(text, all[i]))
	}
	return text
}

// announcing matches the beginnings of sentences that only announce the next step.
var announcing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)^(now,? |next,? |first,? |then,? |ok(ay)?[,.]? |good[,.]? )*(let me|let's|let us|here is|here's|i'll (now|start|begin|look|check|read|make|do|apply|go)|i will (now|start|begin|look|check|read|make|do|apply)|check (that|if|whether) |now (for )?(the|to) )`,
	)
})

// announces reports whether a sentence announces the next step without a reason: it has
// only a few words, ends with a colon, or begins like an announcement and does not continue
// with a reason.
func announces(s string) bool {
	words := len(strings.Fields(s))
	switch {
	case strings.HasSuffix(s, ":"):
		return true
	case words < 5 && strings.HasPrefix(s, "I "): // "I simplify main."
		return true
	case !announcing().MatchString(s):
		return words < 3 && len(s) < 15 && isASCII(s) // "Done.", "Perfect!"
	}
	for _, reason := range []string{" because ", " so that ", " since ", " instead of ", " rather than ",
		" otherwise", ": ", " to avoid "} {
		if strings.Contains(s, reason) {
			return false
		}
	}
	return true
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

// marker matches a Markdown marker at the beginning of a line.
var marker = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([-*+>•]|#+|\d+[.)])\s+`) })

// sentences splits a text at the ends of lines and sentences. It leaves out fenced code and
// the markers of lists, quotes and headings.
func sentences(text string) []string {
	var out []string
	fenced := false
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "```") {
			fenced = !fenced
			continue
		}
		if fenced {
			continue
		}
		l = marker().ReplaceAllString(l, "")
		start := 0
		for i, c := range l {
			end := i + len(string(c))
			next := strings.TrimLeft(l[end:], " ")
			ends := strings.ContainsRune("。！？", c) ||
				(strings.ContainsRune(".!?", c) && end < len(l) && l[end] == ' ' && next != "" &&
					!unicode.IsLower([]rune(next[:min(len(next), 4)])[0]))
			if ends {
				out = appendSentence(out, l[start:end])
				start = end
			}
		}
		out = appendSentence(out, l[start:])
	}
	return out
}

func appendSentence(out []string, s string) []string {
	s = strings.TrimSpace(s)
	if strings.IndexFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0 {
		return out
	}
	return append(out, s)
}

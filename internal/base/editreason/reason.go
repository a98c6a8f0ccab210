// This file selects the sentence that contains the reason for an edit.

// Package editreason finds the reason for an edit in the text that the agent wrote before the edit.
package editreason

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// Sentence returns the last sentence that does more than announce the next step, and true. If all
// sentences are announcements, it returns the last sentence and false. It returns "" for a text
// without sentences.
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

// Trim removes the sentences at the beginning and end of a text that only announce the next step.
// If all sentences are announcements, it returns the whole text. It keeps fenced code.
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

// announcing matches the beginning of a sentence that only announces the next step.
var announcing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)^(now,? |next,? |first,? |then,? |ok(ay)?[,.]? |good[,.]? )*(let me|let's|let us|here is|here's|i'll (now|start|begin|look|check|read|make|do|apply|go)|i will (now|start|begin|look|check|read|make|do|apply)|check (that|if|whether) |now (for )?(the|to) )`,
	)
})

// announces reports whether a sentence only announces the next step: it has few words, ends with a
// colon, or begins like an announcement and does not continue with a reason.
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

// sentences divides a text into sentences. A sentence also ends at the end of a line. Fenced code
// and the markers of lists, quotations and headings are omitted.
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

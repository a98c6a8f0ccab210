// This file selects the sentence that gives the reason for an edit.

// Package editreason finds the reason for an edit of a file. It searches the text that the agent wrote before the edit.
package editreason

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// FindReasonSentence returns the last sentence of a text that may give a reason, and true. Sentences that only announce
// the next step, such as "Let me check the tests.", are skipped. If the text contains only such sentences,
// FindReasonSentence returns the last sentence and false. If the text contains no sentences, it returns "" and false.
func FindReasonSentence(text string) (sentence string, isReason bool) {
	all := splitSentences(text)
	for i := len(all) - 1; i >= 0; i-- {
		if !isNextStepAnnouncement(all[i]) {
			return all[i], true
		}
	}
	if len(all) == 0 {
		return "", false
	}
	return all[len(all)-1], false
}

// TrimAnnouncements removes sentences that only announce the next step from the beginning and the end of a text. If all
// sentences are announcements, it returns the whole text. It does not remove a sentence at the beginning if fenced code
// precedes the sentence.
func TrimAnnouncements(text string) string {
	all := splitSentences(text)
	first, last := 0, len(all)-1
	for first <= last && isNextStepAnnouncement(all[first]) {
		first++
	}
	for last > first && isNextStepAnnouncement(all[last]) {
		last--
	}
	text = strings.TrimSpace(text)
	if first > last {
		return text
	}
	for _, s := range all[:first] {
		if index := strings.Index(text, s); index >= 0 && !strings.Contains(text[:index], "```") {
			text = strings.TrimSpace(text[index+len(s):])
		}
	}
	for i := len(all) - 1; i > last; i-- {
		text = strings.TrimSpace(strings.TrimSuffix(text, all[i]))
	}
	return text
}

// announcementPattern matches the beginning of a sentence that only announces the next step.
var announcementPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)^(now,? |next,? |first,? |then,? |ok(ay)?[,.]? |good[,.]? )*(let me|let's|let us|here is|here's|i'll (now|start|begin|look|check|read|make|do|apply|go)|i will (now|start|begin|look|check|read|make|do|apply)|check (that|if|whether) |now (for )?(the|to) )`,
	)
})

// isNextStepAnnouncement reports whether a sentence only announces the next step, and gives no reason. It returns true
// for these sentences:
//
//   - a sentence that ends with a colon
//   - a sentence of fewer than five words that begins with "I"
//   - a sentence that matches announcementPattern, such as "Let me check the tests.", unless it contains a word such as
//     "because" that introduces a reason
//   - a short exclamation, such as "Done."
func isNextStepAnnouncement(s string) bool {
	words := len(strings.Fields(s))
	switch {
	case strings.HasSuffix(s, ":"):
		return true
	case words < 5 && strings.HasPrefix(s, "I "): // For example, "I simplify main." announces a step without a reason.
		return true
	case !announcementPattern().MatchString(s):
		// A short exclamation such as "Done." or "Perfect!" is not a reason.
		return words < 3 && len(s) < 15 && isASCII(s)
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

// lineMarkerPattern matches the Markdown marker of a list item, a quotation or a heading at a line's beginning.
var lineMarkerPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([-*+>•]|#+|\d+[.)])\s+`) })

// splitSentences divides a text into sentences. The end of a line also ends a sentence. Fenced code, and the markers
// of list items, quotations and headings, are left out.
func splitSentences(text string) []string {
	var out []string
	inFence := false
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "```") {
			inFence = !inFence
			continue
		}
		if inFence {
			continue
		}
		l = lineMarkerPattern().ReplaceAllString(l, "")
		start := 0
		for i, c := range l {
			end := i + len(string(c))
			rest := strings.TrimLeft(l[end:], " ")
			isEnd := strings.ContainsRune("。！？", c) ||
				(strings.ContainsRune(".!?", c) && end < len(l) && l[end] == ' ' && rest != "" &&
					!unicode.IsLower([]rune(rest[:min(len(rest), 4)])[0]))
			if isEnd {
				out = appendNonEmptySentence(out, l[start:end])
				start = end
			}
		}
		out = appendNonEmptySentence(out, l[start:])
	}
	return out
}

func appendNonEmptySentence(out []string, s string) []string {
	s = strings.TrimSpace(s)
	if strings.IndexFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0 {
		return out
	}
	return append(out, s)
}

// This file computes the different forms in which an agent may repeat a text that it has read, for example without
// HTML tags.

package fingerprint

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/screening/instruction"
)

// textVariants returns a text and the forms in which a reader may repeat the text. Each of the first forms has
// one change: JSON escapes are resolved, HTML tags are removed, or the line numbers and names that tools print are
// removed. The last form has all these changes. The last form also has no addresses, no footnote numbers, no hyphens at
// line ends, and no characters that look like other letters. A form that equals an earlier form may be left out.
func textVariants(text string) []string {
	forms := []string{text}
	all := text
	add := func(change func(string) string) {
		forms = append(forms, change(text))
		all = change(all)
	}
	if hasEscapes(text) {
		add(func(s string) string { return unescapeJSON([]byte(s)) })
	}
	if mayHaveTags(text) {
		add(removeTags)
	}
	s, changed := removeToolLinePrefixes(text)
	if changed {
		forms = append(forms, s)
	}
	if all != text {
		s, changed = removeToolLinePrefixes(all)
	}
	if changed {
		all = s
	}
	all = replaceLookalikes(joinHyphenatedWords(removeLinksAndFootnotes(all)))
	if !slices.Contains(forms, all) {
		forms = append(forms, all)
	}
	return forms
}

// hasEscapes reports whether a text contains a common escape sequence of JSON.
func hasEscapes(text string) bool {
	return strings.Contains(text, `\n`) || strings.Contains(text, `\u`) || strings.Contains(text, `\t`)
}

// mayHaveTags reports whether a text seems to contain HTML tags or character references.
func mayHaveTags(text string) bool {
	for _, part := range []string{"</", "/>", "<br"} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return strings.Contains(text, "&") && html.UnescapeString(text) != text
}

// mayHaveLinkOrFootnote reports whether a text may contain a link, an address or a footnote number.
func mayHaveLinkOrFootnote(s string) bool {
	return strings.Contains(s, "](") || strings.Contains(s, "://") || strings.Contains(s, "[")
}

// mayHaveDividedWord reports whether any line in the text s ends with a hyphen, so that a word may be divided between
// two lines. The last line of s is not examined, because no line break follows it.
func mayHaveDividedWord(s string) bool {
	return strings.Contains(s, "-\n") || strings.Contains(s, "-\r\n") || strings.Contains(s, "‐\n")
}

// removeLinksAndFootnotes replaces each part that a reader leaves out of a sentence by a space. These parts are
// Markdown link targets, addresses, and footnote numbers.
func removeLinksAndFootnotes(s string) string {
	if !mayHaveLinkOrFootnote(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		n := linkOrFootnoteSize(s[i:])
		if n > 0 {
			b.WriteByte(' ')
			i += n
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// linkOrFootnoteSize returns the length in bytes of the part at the start of s that a reader leaves out of a sentence.
// This part is the target of a Markdown link, from "](" to ")", or a footnote number such as [12], or an address. If s
// begins with other text, the result is 0. s must not be empty.
func linkOrFootnoteSize(s string) int {
	switch {
	case strings.HasPrefix(s, "]("):
		if n := strings.IndexAny(s[2:min(len(s), 2000)], "() \n"); n >= 0 && s[2+n] == ')' {
			return n + 3
		}
	case s[0] == '[':
		if n := strings.IndexByte(s[:min(len(s), 5)], ']'); n > 1 && isNumber(s[1:n]) {
			return n + 1
		}
	case strings.HasPrefix(s, "http://"), strings.HasPrefix(s, "https://"):
		if n := strings.IndexAny(s, " \t\r\n<>)\""); n >= 0 {
			return n
		}
		return len(s)
	}
	return 0
}

// joinHyphenatedWords joins the halves of words that are divided at a line end. A word counts as divided if a
// lower-case letter precedes the hyphen at the line end.
func joinHyphenatedWords(s string) string {
	if !mayHaveDividedWord(s) {
		return s
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		text := strings.TrimRight(line, "\r\n")
		word := strings.TrimRight(text, "-‐")
		before, _ := utf8.DecodeLastRuneInString(word)
		isDivided := len(text) < len(line) && len(word) < len(text) && unicode.IsLower(before)
		if !isDivided {
			word = line
		}
		b.WriteString(word)
	}
	return b.String()
}

// replaceLookalikes replaces characters that look like ASCII letters by these letters. If no word of the text contains
// both ASCII letters and letters of a similar script such as Cyrillic or Greek, it returns the text unchanged.
// Otherwise it replaces such characters in the whole text and returns the text in lower case.
func replaceLookalikes(s string) string {
	if isASCII(s) {
		return s
	}
	hasASCII, hasOther := false, false
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf && !unicode.IsLetter(r), unicode.IsSpace(r):
			hasASCII, hasOther = false, false
		case r < utf8.RuneSelf:
			hasASCII = true
		case unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Lisu):
			hasOther = true
		}
		if hasASCII && hasOther {
			return instruction.ReplaceLookalikes(strings.ToLower(s))
		}
	}
	return s
}

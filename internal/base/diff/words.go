// This file finds the words that differ between two lines, so that a difference can be shown word by word.

package diff

import (
	"strings"
	"unicode"
)

// WordRun is a part of a line: some words that are all changed or all unchanged.
type WordRun struct {
	Text      string
	IsChanged bool // the words are only in this line and not in the line with which it was compared
}

// maxComparedWords is the maximum number of words in a line. [CompareLinesByWord] does not compare longer lines.
const maxComparedWords = 400

// CompareLinesByWord compares two lines word by word. The argument before is the old line, and the argument after is
// the new line. The first result, a, is the old line divided into runs of words. The second result, b, is the new line
// divided in the same way. In each run, either all words are changed or all words are unchanged.
//
// Both results are nil if the unchanged words make up less than half of the lines, or if a line has more than
// maxComparedWords words. In these cases the runs would not help a reader.
func CompareLinesByWord(before, after string) (a, b []WordRun) {
	wordsA, wordsB := splitWords(before), splitWords(after)
	if len(wordsA) > maxComparedWords || len(wordsB) > maxComparedWords {
		return nil, nil
	}
	in := LineNumberer{}
	m := new(LineMapper).MapEqualLines(in.LineIDs(wordsA), in.LineIDs(wordsB))
	isCommonA, isCommonB := make([]bool, len(wordsA)), make([]bool, len(wordsB))
	common := 0
	for i, j := range m {
		if j >= 0 {
			isCommonA[i], isCommonB[j] = true, true
			if strings.TrimSpace(wordsA[i]) != "" {
				common += 2 * len(wordsA[i])
			}
		}
	}
	if 2*common < len(before)+len(after) {
		return nil, nil
	}
	return joinWordRuns(wordsA, isCommonA), joinWordRuns(wordsB, isCommonB)
}

// joinWordRuns joins neighboring words into parts. The words of a part are all common to both lines, or all changed. A
// space between two changed words is also changed.
func joinWordRuns(words []string, isCommon []bool) (parts []WordRun) {
	for i, w := range words {
		isChanged := !isCommon[i] || (w == " " && isBetweenChanges(isCommon, i))
		if n := len(parts); n > 0 && parts[n-1].IsChanged == isChanged {
			parts[n-1].Text += w
			continue
		}
		parts = append(parts, WordRun{w, isChanged})
	}
	return parts
}

// isBetweenChanges reports whether both neighbors of word i exist and are changed.
func isBetweenChanges(isCommon []bool, i int) bool {
	return i > 0 && i+1 < len(isCommon) && !isCommon[i-1] && !isCommon[i+1]
}

// splitWords splits a line into words, runs of spaces, and single punctuation characters.
func splitWords(s string) (words []string) {
	const space, word, sign = 1, 2, 3
	last := 0
	for _, r := range s {
		kind := sign
		switch {
		case unicode.IsSpace(r):
			kind = space
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '_':
			kind = word
		}
		switch {
		case kind == sign, kind != last:
			words = append(words, "")
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			words = append(words, "") // In a script without spaces, each letter is a word.
		}
		words[len(words)-1] += string(r)
		last = kind
	}
	return words
}

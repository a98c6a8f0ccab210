// This file splits text into chunks: words, compounds and emoji.

package analysis

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Classes of characters: separators, letters and digits, connectors, and emoji.
const (
	separates = iota
	isWord
	joins
	isEmoji
)

var asciiClass = func() (class [utf8.RuneSelf]uint8) {
	for c := range class {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
			class[c] = isWord
		}
	}
	for _, c := range "-_./@'," {
		class[c] = joins
	}
	return class
}()

// firstClass returns the class and byte length of the first character in s.
func firstClass(s string) (class uint8, size int) {
	if c := s[0]; c < utf8.RuneSelf {
		return asciiClass[c], 1
	}
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == '’' || r == '‐' || r == '‑':
		return joins, n
	case r == utf8.RuneError && n == 1, isEmojiSuffix(r):
		return separates, n
	case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
		return isWord, n
	case startsEmoji(r):
		return isEmoji, n
	}
	return separates, n
}

// maxChunk is the size limit of a chunk in bytes. A longer chunk is split, so that a text without
// spaces needs little memory and cancellation is noticed soon.
const maxChunk = 1 << 16

// watch checks whether a context is done, after every [maxChunk] bytes of a text.
type watch struct {
	ctx  context.Context
	next int // offset in the text of the next check
}

// isDone reports whether the context is done. It checks the context only if enough text was
// processed since the last check.
func (w *watch) isDone(at int) bool {
	if at < w.next {
		return false
	}
	w.next = at + maxChunk
	return w.ctx.Err() != nil
}

// chunk returns the start and end of the first chunk in s at or after byte i. If s has
// no further chunk, start and end are equal. A chunk is not much longer than maxChunk.
func chunk(s string, i int) (from, to int) {
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf { // a fast version of firstClass for ASCII
			if asciiClass[c] == isWord {
				break
			}
			i++
			continue
		}
		class, n := firstClass(s[i:])
		if class == isEmoji {
			return i, i + emojiSize(s[i:])
		}
		if class == isWord {
			break
		}
		i += n
	}
	from = i
	joined := false // the previous character was a connector, which cannot end the chunk
	for i < len(s) && (i-from < maxChunk || joined) {
		if c := s[i]; c < utf8.RuneSelf {
			if class := asciiClass[c]; class == isWord {
				i, joined = i+1, false
				continue
			} else if class == separates {
				break
			}
		}
		class, n := firstClass(s[i:])
		if class == isWord {
			i, joined = i+n, false
			continue
		}
		if class != joins || i+n == len(s) {
			break
		}
		next, _ := firstClass(s[i+n:])
		if next != isWord {
			break
		}
		if s[i] == ',' && !isBetweenDigits(s, i) {
			break
		}
		i, joined = i+n, true
	}
	if from < i { // a single letter may be followed by ++ or #, as in C++ and C#
		switch rest := s[i:]; {
		case i-from > 1:
		case strings.HasPrefix(rest, "++"):
			i += 2
		case strings.HasPrefix(rest, "#"):
			i++
		}
	}
	return from, i
}

// isBetweenDigits reports whether the bytes before and after byte i, which must exist, are digits.
func isBetweenDigits(s string, i int) bool { return isDigit(s[i-1]) && isDigit(s[i+1]) }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

const (
	zeroWidthJoiner = '\u200d'

	maxEmoji = 64 // maximum size of an emoji in bytes, except for its last character
)

// startsEmoji reports whether r is an emoji or another pictograph. Arrows, box drawings and
// geometric shapes do not count, because texts use them as punctuation.
func startsEmoji(r rune) bool {
	return (r >= 0x2300 && r <= 0x23ff) || (r >= 0x2600 && r <= 0x27bf) || (r >= 0x2b00 && r <= 0x2bff) ||
		(r >= 0x1f000 && r <= 0x1faff && !isSkinTone(r))
}

// isRegion reports whether r is a letter of a flag.
func isRegion(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

func isSkinTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// isEmojiSuffix reports whether r only changes how the previous character looks: as text, as an
// emoji, or as a key.
func isEmojiSuffix(r rune) bool { return r == 0xfe0e || r == 0xfe0f || r == 0x20e3 }

// emojiSize returns the size of the emoji that s begins with. An emoji may consist of several
// emoji that are joined, and a flag of two letters. The size is not much larger than maxEmoji.
func emojiSize(s string) int {
	first, i := utf8.DecodeRuneInString(s)
	if isRegion(first) {
		if r, n := utf8.DecodeRuneInString(s[i:]); isRegion(r) {
			i += n
		}
		return i
	}
	isJoined := false
	for end := i; end < len(s) && end < maxEmoji; {
		r, n := utf8.DecodeRuneInString(s[end:])
		switch {
		case isEmojiSuffix(r) || isSkinTone(r):
			isJoined = false
		case r == zeroWidthJoiner:
			isJoined = true
		case !isJoined || !startsEmoji(r):
			return i
		default:
			isJoined = false
		}
		end += n
		if !isJoined {
			i = end
		}
	}
	return i
}

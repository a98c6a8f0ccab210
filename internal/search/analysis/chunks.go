// This file splits text into chunks: words, compounds and emoji.

package analysis

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"
)

// These are the classes of characters: separators, letters and digits, connectors, and emoji.
const (
	separatorChar = iota
	wordChar
	connectorChar
	emojiChar
)

var asciiClass = func() (class [utf8.RuneSelf]uint8) {
	for c := range class {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
			class[c] = wordChar
		}
	}
	for _, c := range "-_./@'," {
		class[c] = connectorChar
	}
	return class
}()

// classifyFirstChar returns the class of the first character in the text s, and the character's length in bytes.
func classifyFirstChar(s string) (class uint8, size int) {
	if c := s[0]; c < utf8.RuneSelf {
		return asciiClass[c], 1
	}
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == '’' || r == '‐' || r == '‑':
		return connectorChar, n
	case r == utf8.RuneError && n == 1, isEmojiSuffix(r):
		return separatorChar, n
	case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
		return wordChar, n
	case isEmojiStart(r):
		return emojiChar, n
	}
	return separatorChar, n
}

// maxChunkBytes is the maximum size of a chunk in bytes. A longer chunk is split, so that a text without spaces needs
// little memory. The split also lets the analysis stop soon after its context.Context has ended.
const maxChunkBytes = 1 << 16

// contextChecker checks whether a context is done, after every [maxChunkBytes] bytes of a text.
type contextChecker struct {
	ctx             context.Context
	nextCheckOffset int // byte offset in the text at which ctx is checked next
}

// isContextDoneAt reports whether the context is done. processedBytes is the number of bytes of the text that were
// processed. The context is checked only if this number has grown by at least maxChunkBytes since the last check.
func (w *contextChecker) isContextDoneAt(processedBytes int) bool {
	if processedBytes < w.nextCheckOffset {
		return false
	}
	w.nextCheckOffset = processedBytes + maxChunkBytes
	return w.ctx.Err() != nil
}

// findNextChunk returns the start and the end of the first chunk in s at or after byte i. A chunk is an emoji, or a
// sequence of words and the characters that connect them, such as a hyphen. If there is no further chunk, the start and
// the end are equal. A chunk may be slightly longer than maxChunkBytes.
func findNextChunk(s string, i int) (from, to int) {
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf { // For ASCII characters, this is faster than classifyFirstChar.
			if asciiClass[c] == wordChar {
				break
			}
			i++
			continue
		}
		class, n := classifyFirstChar(s[i:])
		if class == emojiChar {
			return i, i + leadingEmojiLength(s[i:])
		}
		if class == wordChar {
			break
		}
		i += n
	}
	from = i
	// joined is true if the last character of the chunk so far is a connector, such as a hyphen. The chunk must not end
	// with a connector.
	joined := false
	for i < len(s) && (i-from < maxChunkBytes || joined) {
		if c := s[i]; c < utf8.RuneSelf {
			if class := asciiClass[c]; class == wordChar {
				i, joined = i+1, false
				continue
			} else if class == separatorChar {
				break
			}
		}
		class, n := classifyFirstChar(s[i:])
		if class == wordChar {
			i, joined = i+n, false
			continue
		}
		if class != connectorChar || i+n == len(s) {
			break
		}
		next, _ := classifyFirstChar(s[i+n:])
		if next != wordChar {
			break
		}
		if s[i] == ',' && !isBetweenDigits(s, i) {
			break
		}
		i, joined = i+n, true
	}
	if from < i { // Include the characters ++ or # after a single letter, as in C++ and C#.
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

// isBetweenDigits reports whether the bytes before and after byte i are digits. Both bytes must exist.
func isBetweenDigits(s string, i int) bool { return isDigit(s[i-1]) && isDigit(s[i+1]) }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

const (
	zeroWidthJoiner = '\u200d'

	maxEmojiBytes = 64 // limit for an emoji: no character after this many bytes is added to it
)

// isEmojiStart reports whether an emoji or another pictograph can start with the character r. It checks only the blocks
// of Unicode in which most pictographs are. Most arrows, box drawings and geometric shapes are in other blocks. They do
// not count, because texts use them as punctuation.
func isEmojiStart(r rune) bool {
	return (r >= 0x2300 && r <= 0x23ff) || (r >= 0x2600 && r <= 0x27bf) || (r >= 0x2b00 && r <= 0x2bff) ||
		(r >= 0x1f000 && r <= 0x1faff && !isSkinTone(r))
}

// isFlagEmojiLetter reports whether r is one of the regional indicator symbols, two of which form the emoji of a
// country's flag.
func isFlagEmojiLetter(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

func isSkinTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// isEmojiSuffix reports whether the character r only changes how the previous character is displayed: as text, as an
// emoji, or as a key.
func isEmojiSuffix(r rune) bool { return r == 0xfe0e || r == 0xfe0f || r == 0x20e3 }

// leadingEmojiLength returns how many bytes the emoji at the start of s has. Such an emoji may consist of several
// joined emoji or a flag's two letters. The size may be slightly larger than maxEmojiBytes.
func leadingEmojiLength(s string) int {
	first, i := utf8.DecodeRuneInString(s)
	if isFlagEmojiLetter(first) {
		if r, n := utf8.DecodeRuneInString(s[i:]); isFlagEmojiLetter(r) {
			i += n
		}
		return i
	}
	isJoined := false
	for end := i; end < len(s) && end < maxEmojiBytes; {
		r, n := utf8.DecodeRuneInString(s[end:])
		switch {
		case isEmojiSuffix(r) || isSkinTone(r):
			isJoined = false
		case r == zeroWidthJoiner:
			isJoined = true
		case !isJoined || !isEmojiStart(r):
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

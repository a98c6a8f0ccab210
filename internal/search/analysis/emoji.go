// This file splits emoji into terms.

package analysis

import (
	"strings"
	"unicode/utf8"
)

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

// cutEmoji returns the emoji in a text of emojiSize bytes, and their combination without
// variants and skin tones.
func cutEmoji(emoji string) (parts []string, whole string) {
	whole = strings.Map(func(r rune) rune {
		if isEmojiSuffix(r) || isSkinTone(r) {
			return -1
		}
		return r
	}, emoji)
	return strings.Split(whole, string(zeroWidthJoiner)), whole
}

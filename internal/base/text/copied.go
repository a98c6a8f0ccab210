// This file declares what all searches for copied words have in common.

package text

import "unicode"

// MinCopiedWords is the number of consecutive words that two texts must have in common before one counts as a copy.
const MinCopiedWords = 6

// unspacedScripts contains scripts without spaces between words. No character of these scripts is below
// firstUnspacedRune.
var unspacedScripts = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai,
	unicode.Lao, unicode.Khmer, unicode.Myanmar}

const firstUnspacedRune = '\u0e01'

// IsUnspacedScriptLetter reports whether a letter belongs to a script that is written without spaces between words.
// These are Chinese characters, Kana, Thai, Lao, Khmer and Burmese.
func IsUnspacedScriptLetter(r rune) bool {
	return r >= firstUnspacedRune && unicode.In(r, unspacedScripts...)
}

// This file declares what the searches for copied words have in common.

package text

import "unicode"

// MinCopiedWords is the number of consecutive words that two texts must have in common for a copy to be assumed.
const MinCopiedWords = 6

// unspacedScripts are scripts without spaces between words. All their characters are at or above firstUnspacedRune.
var unspacedScripts = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai,
	unicode.Lao, unicode.Khmer, unicode.Myanmar}

const firstUnspacedRune = '\u0e01'

// IsUnspaced reports whether a letter belongs to a script that is written without spaces between words: Chinese
// characters, Kana, Thai, Lao, Khmer or Burmese.
func IsUnspaced(r rune) bool { return r >= firstUnspacedRune && unicode.In(r, unspacedScripts...) }

// This file estimates how many tokens a model needs for a text.

package text

import (
	"unicode"
	"unicode/utf8"
)

// These constants are the costs for a text's pieces, in hundredths of a token.
const (
	costWord   = 100 // cost of a word of up to maxBaseLetters ASCII letters, in hundredths of a token
	costLetter = 22  // cost of each additional letter in a longer word, up to maxNormalLetters letters
	// cost of each letter after the first maxNormalLetters letters of a word, because most long words are not English
	costLongWord     = 40
	maxBaseLetters   = 5
	maxNormalLetters = 9
	costCapital      = 30 // additional cost of the first capital letter inside a word, as in camelCase
	// additional cost of each later capital letter in a word, because a word with many capitals is probably a code
	costCapitals = 200
	// additional cost of each consonant after maxFreeConsonants consonants in a row, because such a sequence of
	// letters is probably not a word, and tokenizers divide it into many tokens
	costConsonant     = 200
	maxFreeConsonants = 3
	costDigits        = 100 // cost of a group of up to 3 digits, in hundredths of a token
	costMark          = 75  // cost of an ASCII punctuation mark, in hundredths of a token
	costSameMark      = 10  // cost of each repetition of a punctuation mark, as in a Markdown line of dashes
	costSpace         = 5   // cost of a single space, which is low because most tokens include the space before a word
	// cost of a digit after a single space, which is high because the space is then a separate token
	costSpacedDigit = 95
	costSpaces      = 75  // cost of a run of two or more spaces, in hundredths of a token
	costNewline     = 75  // cost of the first line feed, return or tab in a sequence of these characters
	costNextLine    = 10  // cost of each later line feed, return or tab in such a sequence, in hundredths of a token
	costLatin       = 100 // cost of a Latin letter outside ASCII, such as é, in hundredths of a token
	costCyrillic    = 60  // cost of a Cyrillic letter, in hundredths of a token
	costArabic      = 90  // cost of an Arabic letter, in hundredths of a token
	costGreek       = 105 // cost of a Greek or Hebrew letter, in hundredths of a token
	costKana        = 105 // cost of a Japanese syllable, in hundredths of a token
	costHangul      = 115 // cost of a Korean syllable, in hundredths of a token
	costIdeograph   = 125 // cost of a Chinese character, in hundredths of a token
	costIndic       = 140 // cost of a letter or sign of Devanagari, Bengali, Tamil or Thai
	costOther       = 200 // cost of any other character with up to 3 bytes in UTF-8, in hundredths of a token
	costFourBytes   = 300 // cost of a character with 4 bytes in UTF-8, such as an emoji
	costInvalid     = 100 // cost of a byte that is not valid UTF-8, in hundredths of a token
)

// EstimateTokens returns the approximate number of tokens that a large language model sees in s. It
// returns 0 for the empty string and at least 1 for any other string.
//
// The estimate is the sum of costs for words, digit groups, marks and letters, which depend on the script. The
// constants above are the whole formula. They were fitted to the tokenizer cl100k_base, so that the estimate is rather
// too high than too low. These are the ratios of the estimate to the true count, measured on texts with 20 to 60 kB:
//
//	text                                      of cl100k_base   of o200k_base
//	English prose, Markdown, Go, Python, JSON    0.98–1.23        0.97–1.22
//	14 languages in Latin letters                0.79–1.23        0.94–1.82
//	Russian, Ukrainian, Bulgarian                1.02–1.35        1.53–2.15
//	Chinese, Japanese, Korean                    0.93–1.27        1.27–1.56
//	Greek, Hebrew, Arabic, Persian               0.90–1.09        1.96–2.26
//	Indic scripts, Thai, Georgian                0.93–1.41        2.74–4.56
//
// The ratio to cl100k_base is 0.92 for number tables, 0.85 for base64, and 0.69 for words of random letters. The
// language with the lowest ratio is Finnish. Newer tokenizers have more words for scripts other than Latin, so that
// the estimate is far too high for them.
func EstimateTokens(s string) int {
	sum := 0
	digitCost := 0 // cost that is added if the next character is a digit, because of the space before it
	for i := 0; i < len(s); {
		if s[i] >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			sum += runeTokenCost(r, size)
			i, digitCost = i+size, 0
			continue
		}
		if byteClasses[s[i]] == letterClass {
			cost, n := wordTokenCost(s[i:])
			sum += cost
			i, digitCost = i+n, 0
			continue
		}
		n := countEqualBytes(s[i:])
		switch byteClasses[s[i]] {
		case digitClass:
			sum += digitCost + (n+2)/3*costDigits
		case spaceClass:
			sum += costSpace + min(n-1, 1)*costSpaces
		case lineClass:
			sum += costNewline + (n-1)*costNextLine
		default:
			sum += costMark + (n-1)*costSameMark
		}
		digitCost = 0
		if s[i] == ' ' && n == 1 {
			digitCost = costSpacedDigit
		}
		i += n
	}
	return (sum + 99) / 100
}

// byteClass is the class of an ASCII byte, such as letter or digit. The token estimate depends on the class.
type byteClass uint8

const (
	markClass byteClass = iota
	letterClass
	digitClass
	spaceClass
	lineClass
)

// byteClasses contains the class of each byte. Bytes outside ASCII have the class of marks.
var byteClasses = func() (cs [256]byteClass) {
	for b := range cs[:utf8.RuneSelf] {
		switch {
		case (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z'):
			cs[b] = letterClass
		case b >= '0' && b <= '9':
			cs[b] = digitClass
		case b == ' ':
			cs[b] = spaceClass
		case b == '\n' || b == '\r' || b == '\t':
			cs[b] = lineClass
		}
	}
	return cs
}()

// countEqualBytes returns how many bytes at the start of s are of the same class, such as letters or digits. For a
// punctuation mark, only repetitions of the same mark are counted.
func countEqualBytes(s string) int {
	c, n := byteClasses[s[0]], 1
	for n < len(s) && byteClasses[s[n]] == c && (c != markClass || s[n] == s[0]) {
		n++
	}
	return n
}

// isCamelHump reports whether a capital ASCII letter follows a small ASCII letter.
func isCamelHump(before, c byte) bool {
	return c <= 'Z' && before >= 'a'
}

// consonantMask contains 0 for each vowel, and a value with all bits set for each other byte.
var consonantMask = func() (mask [256]int) {
	for b := range mask {
		mask[b] = -1
	}
	for _, vowel := range "aeiouyAEIOUY" {
		mask[vowel] = 0
	}
	return mask
}()

// wordTokenCost returns the cost of the word of ASCII letters with which s begins, and the length of the word.
func wordTokenCost(s string) (cost, length int) {
	cost = costWord
	consonants := 0 // number of consonants since the last vowel or capital
	maxConsonants := maxFreeConsonants + 1
	capitals := 0
	before := byte(0)
	n := 0
	for ; n < len(s) && byteClasses[s[n]] == letterClass; n++ {
		c := s[n]
		if isCamelHump(before, c) {
			capitals++
			if capitals > 1 {
				cost += costCapitals
			} else {
				cost += costCapital
			}
			consonants = 0
		}
		if n == maxBaseLetters {
			maxConsonants = maxFreeConsonants
		}
		consonants = (consonants + 1) & consonantMask[c]
		if consonants > maxConsonants {
			cost += costConsonant
		}
		before = c
	}
	cost += max(0, min(n, maxNormalLetters)-maxBaseLetters) * costLetter
	return cost + max(0, n-maxNormalLetters)*costLongWord, n
}

// scriptCosts contains the cost of a character for each writing system for which the token estimate has a special
// cost.
var scriptCosts = []struct {
	tables []*unicode.RangeTable
	cost   int
}{
	{[]*unicode.RangeTable{unicode.Latin}, costLatin},
	{[]*unicode.RangeTable{unicode.Cyrillic}, costCyrillic},
	{[]*unicode.RangeTable{unicode.Arabic}, costArabic},
	{[]*unicode.RangeTable{unicode.Greek, unicode.Hebrew}, costGreek},
	{[]*unicode.RangeTable{unicode.Hiragana, unicode.Katakana}, costKana},
	{[]*unicode.RangeTable{unicode.Hangul}, costHangul},
	{[]*unicode.RangeTable{unicode.Han}, costIdeograph},
	{[]*unicode.RangeTable{unicode.Devanagari, unicode.Bengali, unicode.Tamil, unicode.Thai}, costIndic},
}

// runeTokenCost returns how many hundredths of a token a character outside ASCII costs. The character has size bytes
// in UTF-8.
func runeTokenCost(r rune, size int) int {
	switch {
	case r == utf8.RuneError && size == 1:
		return costInvalid
	case size == 4:
		return costFourBytes
	}
	for _, s := range scriptCosts {
		if unicode.In(r, s.tables...) {
			return s.cost
		}
	}
	return costOther
}

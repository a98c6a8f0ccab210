// This file estimates how many tokens a model needs for a text.

package text

import (
	"unicode"
	"unicode/utf8"
)

// These constants are the costs for a text's pieces, in hundredths of a token.
const (
	tokenCostWord        = 100 // cost of a word of up to maxOneTokenLetters ASCII letters, in hundredths of a token
	tokenCostExtraLetter = 22  // cost of each additional letter in a longer word, up to maxUsualWordLetters letters
	// cost of each letter after a word's first maxUsualWordLetters letters, because most long words are not English
	tokenCostLongWordLetter = 40
	maxOneTokenLetters      = 5
	maxUsualWordLetters     = 9
	tokenCostFirstCapital   = 30 // additional cost of the first capital letter inside a word, as in camelCase
	// additional cost of each later capital letter in a word, because a word with many capitals is probably a code
	tokenCostLaterCapital = 200
	// additional cost of each consonant after maxConsonantsWithoutCost consonants in a row, because such a sequence of
	// letters is probably not a word, and tokenizers divide it into many tokens
	tokenCostConsonant       = 200
	maxConsonantsWithoutCost = 3
	tokenCostDigitGroup      = 100 // cost of a group of up to 3 digits, in hundredths of a token
	tokenCostPunctuation     = 75  // cost of an ASCII punctuation mark, in hundredths of a token
	tokenCostRepeatedMark    = 10  // cost of each repetition of a punctuation mark, as in a Markdown line of dashes
	// cost of a single space, which is low because most tokens include the space before a word
	tokenCostSingleSpace = 5
	// cost of a digit after a single space, which is high because the space is then a separate token
	tokenCostDigitAfterSpace = 95
	tokenCostSpaceRun        = 75 // cost of a run of two or more spaces, in hundredths of a token
	tokenCostFirstNewline    = 75 // cost of the first line feed, return or tab in a sequence of these characters
	// cost of each later line feed, return or tab in such a sequence, in hundredths of a token
	tokenCostLaterNewline   = 10
	tokenCostLatinLetter    = 100 // cost of a Latin letter outside ASCII, such as é, in hundredths of a token
	tokenCostCyrillicLetter = 60  // cost of a Cyrillic letter, in hundredths of a token
	tokenCostArabicLetter   = 90  // cost of an Arabic letter, in hundredths of a token
	tokenCostGreekLetter    = 105 // cost of a Greek or Hebrew letter, in hundredths of a token
	tokenCostKana           = 105 // cost of a Japanese syllable, in hundredths of a token
	tokenCostHangul         = 115 // cost in hundredths of a token for a Korean syllable
	tokenCostIdeograph      = 125 // cost of a Chinese character, in hundredths of a token
	tokenCostIndicLetter    = 140 // cost of a letter or sign of Devanagari, Bengali, Tamil or Thai
	tokenCostOtherChar      = 200 // cost of any other character with up to 3 bytes in UTF-8, in hundredths of a token
	tokenCostFourByteChar   = 300 // cost of a character with 4 bytes in UTF-8, such as an emoji
	tokenCostInvalidByte    = 100 // cost of a byte that is not valid UTF-8, in hundredths of a token
)

// EstimateTokens returns the approximate number of tokens that a large language model sees in s. It returns 0 for the
// empty string and at least 1 for any other string.
//
// The estimate is the sum of costs for words, digit groups, punctuation marks and letters. The cost of a letter depends
// on its script. The constants of this file whose names begin with tokenCost contain the costs. They were fitted to the
// tokenizer cl100k_base. For most texts, the estimate is too high rather than too low. These are the ratios of the
// estimate to the true count, measured on texts with 20 to 60 kB:
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
// language with the lowest ratio is Finnish. Newer tokenizers, such as o200k_base, have more words for scripts other
// than Latin. Therefore the estimate is far too high for texts in these scripts with a newer tokenizer.
func EstimateTokens(s string) int { return TokenCost(s).Tokens() }

// TokenHundredths is a number of hundredths of a token. Unlike token counts, which are rounded up, the hundredths of
// texts can be added.
type TokenHundredths int

// Tokens returns the number of whole tokens, rounded up.
func (h TokenHundredths) Tokens() int { return int(h+99) / 100 }

// BlankLineTokenCost is what a text costs more if one of its line ends is doubled.
const BlankLineTokenCost TokenHundredths = tokenCostLaterNewline

// TokenCost returns the estimate of [EstimateTokens] before it is rounded up. If one text ends with a line end, and a
// second text begins with a printable character, the cost for both texts together is exactly the sum of their costs.
// Therefore a text that consists of lines can be counted line by line.
func TokenCost(s string) TokenHundredths {
	sum := 0
	digitCost := 0 // cost that is added if the next character is a digit, because of the space before it
	for i := 0; i < len(s); {
		if s[i] >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			sum += runeTokenCost(r, size)
			i, digitCost = i+size, 0
			continue
		}
		if byteClasses[s[i]] == letterByteClass {
			cost, n := wordTokenCost(s[i:])
			sum += cost
			i, digitCost = i+n, 0
			continue
		}
		n := countSameClassBytes(s[i:])
		switch byteClasses[s[i]] {
		case digitByteClass:
			sum += digitCost + (n+2)/3*tokenCostDigitGroup
		case spaceByteClass:
			sum += tokenCostSingleSpace + min(n-1, 1)*tokenCostSpaceRun
		case lineEndByteClass:
			sum += tokenCostFirstNewline + (n-1)*tokenCostLaterNewline
		default:
			sum += tokenCostPunctuation + (n-1)*tokenCostRepeatedMark
		}
		digitCost = 0
		if s[i] == ' ' && n == 1 {
			digitCost = tokenCostDigitAfterSpace
		}
		i += n
	}
	return TokenHundredths(sum)
}

// asciiByteClass is the class of an ASCII byte, such as letter or digit. The token estimate depends on the class.
type asciiByteClass uint8

const (
	punctuationByteClass asciiByteClass = iota
	letterByteClass
	digitByteClass
	spaceByteClass
	lineEndByteClass
)

// byteClasses contains the class of each byte. Bytes outside ASCII, punctuation marks and all other bytes that are not
// listed here have the class punctuationByteClass.
var byteClasses = func() (cs [256]asciiByteClass) {
	for b := range cs[:utf8.RuneSelf] {
		switch {
		case (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z'):
			cs[b] = letterByteClass
		case b >= '0' && b <= '9':
			cs[b] = digitByteClass
		case b == ' ':
			cs[b] = spaceByteClass
		case b == '\n' || b == '\r' || b == '\t':
			cs[b] = lineEndByteClass
		}
	}
	return cs
}()

// countSameClassBytes returns how many bytes at the start of s are of the same class, such as letters or digits. For a
// punctuation mark, only repetitions of the same mark are counted.
func countSameClassBytes(s string) int {
	c, n := byteClasses[s[0]], 1
	for n < len(s) && byteClasses[s[n]] == c && (c != punctuationByteClass || s[n] == s[0]) {
		n++
	}
	return n
}

// isCamelHump reports whether c begins a part of a camel-case word, as the N in fileName: c is a capital letter, and
// the byte before it is a small letter. Both arguments must be ASCII letters. At the beginning of a word, the argument
// previousByte is 0.
func isCamelHump(previousByte, c byte) bool {
	return c <= 'Z' && previousByte >= 'a'
}

// nonVowelMasks contains 0 for each vowel, and a value with all bits set for each other byte.
var nonVowelMasks = func() (mask [256]int) {
	for b := range mask {
		mask[b] = -1
	}
	for _, vowel := range "aeiouyAEIOUY" {
		mask[vowel] = 0
	}
	return mask
}()

// wordTokenCost estimates how many tokens a model needs for the word of ASCII letters with which s begins. It returns
// this cost in hundredths of a token, and the length of the word in bytes.
func wordTokenCost(s string) (cost, byteLength int) {
	cost = tokenCostWord
	consonants := 0 // number of consonants in a row; a vowel or a new camel-case part restarts the count
	maxConsonants := maxConsonantsWithoutCost + 1
	capitals := 0
	before := byte(0)
	n := 0
	for ; n < len(s) && byteClasses[s[n]] == letterByteClass; n++ {
		c := s[n]
		if isCamelHump(before, c) {
			capitals++
			if capitals > 1 {
				cost += tokenCostLaterCapital
			} else {
				cost += tokenCostFirstCapital
			}
			consonants = 0
		}
		if n == maxOneTokenLetters {
			maxConsonants = maxConsonantsWithoutCost
		}
		consonants = (consonants + 1) & nonVowelMasks[c]
		if consonants > maxConsonants {
			cost += tokenCostConsonant
		}
		before = c
	}
	cost += max(0, min(n, maxUsualWordLetters)-maxOneTokenLetters) * tokenCostExtraLetter
	return cost + max(0, n-maxUsualWordLetters)*tokenCostLongWordLetter, n
}

// scriptCosts contains the cost of a character in certain writing systems, in hundredths of a token. The token estimate
// uses a default cost for all other writing systems.
var scriptCosts = []struct {
	tables []*unicode.RangeTable
	cost   int
}{
	{[]*unicode.RangeTable{unicode.Latin}, tokenCostLatinLetter},
	{[]*unicode.RangeTable{unicode.Cyrillic}, tokenCostCyrillicLetter},
	{[]*unicode.RangeTable{unicode.Arabic}, tokenCostArabicLetter},
	{[]*unicode.RangeTable{unicode.Greek, unicode.Hebrew}, tokenCostGreekLetter},
	{[]*unicode.RangeTable{unicode.Hiragana, unicode.Katakana}, tokenCostKana},
	{[]*unicode.RangeTable{unicode.Hangul}, tokenCostHangul},
	{[]*unicode.RangeTable{unicode.Han}, tokenCostIdeograph},
	{[]*unicode.RangeTable{unicode.Devanagari, unicode.Bengali, unicode.Tamil, unicode.Thai}, tokenCostIndicLetter},
}

// runeTokenCost returns how many hundredths of a token a character outside ASCII costs. The character has size bytes
// in UTF-8.
func runeTokenCost(r rune, size int) int {
	switch {
	case r == utf8.RuneError && size == 1:
		return tokenCostInvalidByte
	case size == 4:
		return tokenCostFourByteChar
	}
	for _, s := range scriptCosts {
		if unicode.In(r, s.tables...) {
			return s.cost
		}
	}
	return tokenCostOtherChar
}

// This file scans numbers that are written in groups of digits with separators between the groups.

package personal

import (
	"strings"
	"sync"
)

// digitSeparator is the kind of characters between two digit groups.
type digitSeparator uint8

const (
	// the digit groups of a number are separated by white space or an invisible character
	separatorSpace digitSeparator = iota
	separatorDash
	separatorDot
	separatorSlash
	separatorParenthesis
)

// digitGroup is a sequence of digits without a separator.
type digitGroup struct {
	start, end                  int // position of the digits in the text, in bytes
	firstDigitIndex, digitCount int // index of the first digit in digitGroupChain.digits, and digit count
	// separator in front of this group, that is, after the previous group (not used for the first group)
	separatorAfter digitSeparator
}

// maxDigitGroups is the maximum number of digit groups that are examined together. Numbers such as a phone number
// consist of digit groups with separators in between, and no searched number has more groups.
const maxDigitGroups = 24

// maxGroupDigits is the maximum number of digits in a group, such as a part of a phone number. If a group has more
// digits, only the first maxGroupDigits+1 digits are stored. Such a group is then too long to be part of a number.
const maxGroupDigits = 20

// digitGroupChain is a sequence of digit groups. There is a single separator between two groups.
type digitGroupChain struct {
	text   string
	groups []digitGroup
	digits []byte // digits of all groups. A digit of any script is stored as a byte from '0' to '9'.
	// areGroupsComplete is false if the number in the text has more than maxDigitGroups groups of digits. In this case,
	// the field groups contains only the first maxDigitGroups groups.
	areGroupsComplete bool
}

// nonASCIIZeroDigits contains the digit 0 of each recognized script except ASCII: full-width, Arabic, Persian and
// Devanagari. In UTF-8, the digits 1 to 9 of a script differ from the script's digit 0 only in the last byte.
var nonASCIIZeroDigits = []string{"０", "٠", "۰", "०"}

// digitAt returns the digit at a position as a byte from '0' to '9', and the digit's length in the text in bytes. If
// there is no digit at the position, the length is 0.
func digitAt(text string, i int) (d byte, size int) {
	if c := text[i]; c < 0x80 {
		if c >= '0' && c <= '9' {
			return c, 1
		}
		return 0, 0
	}
	for _, zero := range nonASCIIZeroDigits {
		last := len(zero) - 1
		if i+last >= len(text) || text[i:i+last] != zero[:last] {
			continue
		}
		if value := text[i+last] - zero[last]; value <= 9 {
			return '0' + value, len(zero)
		}
	}
	return 0, 0
}

// wideSeparators contains the separators outside of ASCII.
var wideSeparators = []struct {
	text string
	is   digitSeparator
}{
	{"\u00A0", separatorSpace}, {"\u202F", separatorSpace}, {"\u2007", separatorSpace}, {"\u2009", separatorSpace},
	{"\u2010", separatorDash}, {"\u2011", separatorDash}, {"\u2012", separatorDash}, {"\u2013", separatorDash},
	{
		"\u00AD",
		separatorSpace,
	}, {"\u200B", separatorSpace}, {"\u200C", separatorSpace}, {"\u200D", separatorSpace}, {"\u2060",
		separatorSpace}, {"\uFEFF", separatorSpace},
}

// separatorAt returns the kind of the separator at the start of a text, and the separator's length in bytes. If the
// text does not begin with a separator, the length is 0.
func separatorAt(text string) (digitSeparator, int) {
	if text == "" {
		return 0, 0
	}
	switch text[0] {
	case ' ':
		return separatorSpace, 1
	case '-':
		return separatorDash, 1
	case '.':
		return separatorDot, 1
	case '/':
		return separatorSlash, 1
	case '(', ')':
		return separatorParenthesis, 1
	case 0xC2, 0xE2, 0xEF:
		for _, s := range wideSeparators {
			if strings.HasPrefix(text, s.text) {
				return s.is, len(s.text)
			}
		}
	}
	return 0, 0
}

// digitGapAt examines the gap between two groups of digits, which is at the start of a text. It returns the kind of the
// gap's separator, and the length of the whole gap in bytes. A separator may have a space on each side. A parenthesis
// may be followed by another separator; the gap then counts as a parenthesis. If the text does not begin with a gap
// that may be inside a number, the length is 0.
func digitGapAt(text string) (sep digitSeparator, size int) {
	signs := 0
	for n := 0; n < 3; n++ {
		s, width := separatorAt(text[size:])
		if width == 0 {
			break
		}
		if s != separatorSpace {
			signs++
			if signs > 1 && sep != separatorParenthesis {
				return 0, 0
			}
			if sep != separatorParenthesis {
				sep = s
			}
		} else if n > 0 && signs == 0 {
			return 0, 0
		}
		size += width
	}
	return sep, size
}

// scanGroups replaces the content of c by the sequence of digit groups that begins at position i of a text, such as the
// parts of a card number. It returns the end of the last group. It reads at most maxDigitGroups groups.
func (c *digitGroupChain) scanGroups(text string, i int) (end int) {
	c.text = text
	c.groups = c.groups[:0]
	c.digits = c.digits[:0]
	c.areGroupsComplete = true
	sep := separatorSpace
	for {
		g := digitGroup{start: i, firstDigitIndex: len(c.digits), separatorAfter: sep}
		for i < len(text) {
			d, size := digitAt(text, i)
			if size == 0 {
				break
			}
			if g.digitCount <= maxGroupDigits {
				c.digits = append(c.digits, d)
				g.digitCount++
			}
			i += size
		}
		g.end = i
		c.groups = append(c.groups, g)
		var size int
		sep, size = digitGapAt(text[i:])
		if size == 0 || i+size >= len(text) {
			return i
		}
		if _, nextSize := digitAt(text, i+size); nextSize == 0 {
			return i
		}
		if len(c.groups) == maxDigitGroups {
			c.areGroupsComplete = false
			return i
		}
		i += size
	}
}

// digitsOfGroups returns the digits in neighbouring elements of c.groups, without the separators between them.
func (c *digitGroupChain) digitsOfGroups(groups []digitGroup) []byte {
	last := groups[len(groups)-1]
	return c.digits[groups[0].firstDigitIndex : last.firstDigitIndex+last.digitCount]
}

// isDigitStart contains true for each byte that can be the first byte of a digit in UTF-8, for all scripts that are
// recognized.
var isDigitStart = func() (table [256]bool) {
	for _, b := range []byte("0123456789\xD9\xDB\xE0\xEF") {
		table[b] = true
	}
	return table
}()

// minNumberDigits is the minimum number of digits in a card number. Shorter numbers in a text are not examined.
const minNumberDigits = 14

// digitChainPool contains digit chains for reuse, because most texts are short and contain numbers.
var digitChainPool = sync.Pool{New: func() any { return new(digitGroupChain) }}

// findAccountNumbers appends the IBANs and the numbers of payment cards in a text to found, and returns the extended
// slice.
func findAccountNumbers(text string, found []Finding) []Finding {
	c, ok := digitChainPool.Get().(*digitGroupChain)
	if !ok {
		c = new(digitGroupChain)
	}
	defer func() {
		c.text = "" // Remove the text, because the value in digitChainPool would keep it in memory.
		digitChainPool.Put(c)
	}()
	for i := 0; i < len(text); {
		if !isDigitStart[text[i]] {
			i++
			continue
		}
		if _, size := digitAt(text, i); size == 0 {
			i++
			continue
		}
		if end := findIBANEnd(text, i); end > 0 {
			found = append(found, Finding{kindIBAN, i - 2, end})
			i = end
			continue
		}
		end := c.scanGroups(text, i)
		if len(c.digits) >= minNumberDigits {
			found, end = c.appendNumbers(found, end)
		}
		i = end
	}
	return found
}

// appendNumbers searches the digit groups of c for payment card numbers, and appends each number to the list found. The
// parameter end is the position after the last digit group. appendNumbers returns the extended list and the position at
// which the caller must continue the search. If an IBAN begins at a digit group, this position is the start of the
// group. Otherwise the position is end.
func (c *digitGroupChain) appendNumbers(found []Finding, end int) ([]Finding, int) {
	for k := 0; k < len(c.groups); {
		if len(c.digits)-c.groups[k].firstDigitIndex < minNumberDigits {
			break
		}
		n := c.findPaymentCardAt(k)
		if n == 0 {
			// An IBAN begins at this group of digits. Return its position, so that the caller continues there and
			// finds the IBAN.
			if findIBANEnd(c.text, c.groups[k].start) > 0 {
				return found, c.groups[k].start
			}
			k++
			continue
		}
		found = append(found, Finding{kindPaymentCard, c.groups[k].start, c.groups[k+n-1].end})
		k += n
	}
	return found, end
}

// canNumberStart reports whether a number can begin at a position. It cannot begin after a letter, a digit, an
// underscore, or a sign such as a dash, a period or a slash. Digits after such a character are a part of a word, a
// path, a fraction or a longer number.
func canNumberStart(text string, i int) bool {
	if i == 0 {
		return true
	}
	b := text[i-1]
	return !isWordByte(b) && strings.IndexByte("-./\\#$,~^@", b) < 0
}

// canNumberEnd reports whether a number can end at a position. It cannot end before a letter, a digit, an underscore,
// or a sign such as % or @. It also cannot end before a punctuation sign that is directly followed by a letter or
// digit, because the number would then be a part of a path, a fraction or a longer number. But it can end before a dash
// and a letter.
func canNumberEnd(text string, i int) bool {
	if i == len(text) {
		return true
	}
	if isWordByte(text[i]) || strings.IndexByte("%$\\^@", text[i]) >= 0 {
		return false
	}
	if i+1 < len(text) && strings.IndexByte("-.,:/", text[i]) >= 0 {
		// In the text "4111 1111 1111 1111-Visa", the number ends before the dash.
		return !isWordByte(text[i+1]) || (text[i] == '-' && !isDigit(rune(text[i+1])))
	}
	return true
}

func isWordByte(b byte) bool {
	return b == '_' || (b >= '0' && b <= '9') || (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z')
}

// This file scans numbers in groups of digits with separators, as people write them.

package personal

import (
	"strings"
	"sync"
)

// separator is the kind of characters between two digit groups.
type separator uint8

const (
	space separator = iota // white space, or an invisible character
	dash
	dot
	slash
	paren
)

// digitGroup is a sequence of digits without a separator.
type digitGroup struct {
	start, end             int       // position in the text
	firstDigit, digitCount int       // index in digitChain.digits, and number of digits
	sep                    separator // separator before the group (unused for the first group)
}

// maxGroups is the maximum number of groups that are examined together. None of the numbers that
// are searched for has more groups.
const maxGroups = 24

// maxGroupDigits is the maximum number of digits in a group. For a longer group, only maxGroupDigits+1 digits are
// stored, so that the group cannot match.
const maxGroupDigits = 20

// digitChain is a sequence of digit groups with single separators between them.
type digitChain struct {
	text         string
	groups       []digitGroup
	digits       []byte // '0' to '9', whatever script the text uses
	hasAllGroups bool   // the text has no further group (false if maxGroups was reached)
}

// zeroDigits contains the digit 0 of other scripts that are recognized: full-width, Arabic, Persian and Devanagari. In
// UTF-8, the digits 1 to 9 of a script differ from the digit 0 only in the last byte.
var zeroDigits = []string{"０", "٠", "۰", "०"}

// digitAt returns the digit at a position and its length in bytes. The length is 0 if there is no
// digit.
func digitAt(text string, i int) (d byte, size int) {
	if c := text[i]; c < 0x80 {
		if c >= '0' && c <= '9' {
			return c, 1
		}
		return 0, 0
	}
	for _, zero := range zeroDigits {
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
	is   separator
}{
	{"\u00A0", space}, {"\u202F", space}, {"\u2007", space}, {"\u2009", space},
	{"\u2010", dash}, {"\u2011", dash}, {"\u2012", dash}, {"\u2013", dash},
	{"\u00AD", space}, {"\u200B", space}, {"\u200C", space}, {"\u200D", space}, {"\u2060", space}, {"\uFEFF", space},
}

// separatorAt returns the separator at the start of a text and its length in bytes. The length is 0
// if there is no separator.
func separatorAt(text string) (separator, int) {
	if text == "" {
		return 0, 0
	}
	switch text[0] {
	case ' ':
		return space, 1
	case '-':
		return dash, 1
	case '.':
		return dot, 1
	case '/':
		return slash, 1
	case '(', ')':
		return paren, 1
	case 0xC2, 0xE2, 0xEF:
		for _, s := range wideSeparators {
			if strings.HasPrefix(text, s.text) {
				return s.is, len(s.text)
			}
		}
	}
	return 0, 0
}

// gapAt returns the separator between two digit groups and the length of the whole gap in bytes.
// The length is 0 if no group can follow. A gap may have a space on each side of the separator,
// and another separator after a parenthesis.
func gapAt(text string) (sep separator, size int) {
	signs := 0
	for n := 0; n < 3; n++ {
		s, width := separatorAt(text[size:])
		if width == 0 {
			break
		}
		if s != space {
			signs++
			if signs > 1 && sep != paren {
				return 0, 0
			}
			if sep != paren {
				sep = s
			}
		} else if n > 0 && signs == 0 {
			return 0, 0
		}
		size += width
	}
	return sep, size
}

// scanGroups reads the groups of digits that begin at position i, and returns their end.
func (c *digitChain) scanGroups(text string, i int) (end int) {
	c.text = text
	c.groups = c.groups[:0]
	c.digits = c.digits[:0]
	c.hasAllGroups = true
	sep := space
	for {
		g := digitGroup{start: i, firstDigit: len(c.digits), sep: sep}
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
		sep, size = gapAt(text[i:])
		if size == 0 || i+size >= len(text) {
			return i
		}
		if _, nextSize := digitAt(text, i+size); nextSize == 0 {
			return i
		}
		if len(c.groups) == maxGroups {
			c.hasAllGroups = false
			return i
		}
		i += size
	}
}

// groupDigits returns the digits of the groups.
func (c *digitChain) groupDigits(gs []digitGroup) []byte {
	last := gs[len(gs)-1]
	return c.digits[gs[0].firstDigit : last.firstDigit+last.digitCount]
}

// isDigitStart contains true for the bytes that can be the first byte of a digit.
var isDigitStart = func() (table [256]bool) {
	for _, b := range []byte("0123456789\xD9\xDB\xE0\xEF") {
		table[b] = true
	}
	return table
}()

// minNumberDigits is the minimum number of digits in a number that is searched for.
const minNumberDigits = 14

// chains contains chains for reuse, because most texts have a number and are short.
var chains = sync.Pool{New: func() any { return new(digitChain) }}

// findNumbers appends the numbers in a text to found.
func findNumbers(text string, found []Finding) []Finding {
	c, ok := chains.Get().(*digitChain)
	if !ok {
		c = new(digitChain)
	}
	defer func() {
		c.text = "" // so that the pool does not keep the text
		chains.Put(c)
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
		if end := ibanEnd(text, i); end > 0 {
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

// appendNumbers appends the numbers of the chain to found. It returns the position at which the scan must
// continue.
func (c *digitChain) appendNumbers(found []Finding, end int) ([]Finding, int) {
	for k := 0; k < len(c.groups); {
		if len(c.digits)-c.groups[k].firstDigit < minNumberDigits {
			break
		}
		n := c.matchCard(k)
		if n == 0 {
			if ibanEnd(c.text, c.groups[k].start) > 0 { // the next chain begins there
				return found, c.groups[k].start
			}
			k++
			continue
		}
		found = append(found, Finding{kindCard, c.groups[k].start, c.groups[k+n-1].end})
		k += n
	}
	return found, end
}

// canNumberStart reports whether a number can begin at a position. It must not be part of a word, a
// path or a fraction. A dash or a similar sign must not join it to the text before.
func canNumberStart(text string, i int) bool {
	if i == 0 {
		return true
	}
	b := text[i-1]
	return !isWordByte(b) && strings.IndexByte("-./\\#$,~^@", b) < 0
}

// canNumberEnd reports whether a number can end at a position.
func canNumberEnd(text string, i int) bool {
	if i == len(text) {
		return true
	}
	if isWordByte(text[i]) || strings.IndexByte("%$\\^@", text[i]) >= 0 {
		return false
	}
	if i+1 < len(text) && strings.IndexByte("-.,:/", text[i]) >= 0 {
		return !isWordByte(text[i+1]) || (text[i] == '-' && !isDigit(rune(text[i+1]))) // 4111 1111 1111 1111-Visa
	}
	return true
}

func isWordByte(b byte) bool {
	return b == '_' || (b >= '0' && b <= '9') || (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z')
}

// This file finds numbers that have checksums: card numbers and bank account numbers.

package personal

// cardIssuer is a card issuer. Its card numbers begin with a number from lowPrefix to highPrefix, which has
// prefixDigits digits. Its card numbers have one of the lengths (ISO/IEC 7812). For Visa, the length 13 is not listed
// because such cards are not issued any more, and the length 19 is not listed because one in ten other numbers of this
// length would match.
type cardIssuer struct {
	lowPrefix, highPrefix, prefixDigits int
	lengths                             []int
}

var cardIssuers = []cardIssuer{
	{4, 4, 1, []int{16}},               // Visa card numbers begin with 4 and have 16 digits
	{51, 55, 2, []int{16}},             // Mastercard numbers begin with 51 to 55
	{2221, 2720, 4, []int{16}},         // other Mastercard numbers begin with 2221 to 2720
	{34, 34, 2, []int{15}},             // American Express card numbers begin with 34
	{37, 37, 2, []int{15}},             // other American Express card numbers begin with 37
	{6011, 6011, 4, []int{16, 19}},     // Discover card numbers begin with 6011
	{644, 659, 3, []int{16, 19}},       // other Discover card numbers begin with 644 to 659
	{300, 305, 3, []int{14, 16}},       // Diners Club card numbers begin with 300 to 305
	{36, 36, 2, []int{14}},             // other Diners Club card numbers begin with 36
	{38, 39, 2, []int{14, 16}},         // other Diners Club card numbers begin with 38 or 39
	{3528, 3589, 4, []int{16}},         // JCB card numbers begin with 3528 to 3589
	{62, 62, 2, []int{16, 17, 18, 19}}, // UnionPay
	{2200, 2204, 4, []int{16}},         // numbers of Mir, a Russian card system, begin with 2200 to 2204
	{5018, 5018, 4, []int{16, 18, 19}}, // Maestro card numbers begin with 5018
	{5020, 5020, 4, []int{16, 18, 19}}, // other Maestro card numbers begin with 5020
	{5038, 5038, 4, []int{16, 18, 19}}, // other Maestro card numbers begin with 5038
	{6304, 6304, 4, []int{16, 18, 19}}, // other Maestro card numbers begin with 6304
	{6759, 6763, 4, []int{16, 18, 19}}, // other Maestro card numbers begin with 6759 to 6763
}

// cardShapes contains the lengths of digit groups in card numbers, as they are printed on cards or written without
// spaces.
var cardShapes = [][]int{
	{16},
	{15},
	{14},
	{17},
	{18},
	{19},
	{4, 4, 4, 4},
	{4, 6, 5},
	{4, 6, 4},
	{4, 4, 4, 4, 3},
	{8, 8},
	{6, 13},
	{4, 4, 4, 2},
	{4, 12},
}

// findPaymentCardAt returns the number of groups of digits that form a payment card number. The number must begin with
// the group at the index firstGroup, and must consist of consecutive groups. Its group sizes must be possible for a
// card, its first digits must belong to a card issuer, and its check digit must be right. Otherwise the result is 0.
func (c *digitGroupChain) findPaymentCardAt(firstGroup int) int {
	gs := c.groups[firstGroup:]
	if gs[0].digitCount < 4 {
		return 0
	}
	if gs[0].digitCount > maxGroupDigits && !c.isCompleteNumber(firstGroup, 1) {
		return 0
	}
	for _, shape := range cardShapes {
		if !matchesGroupSizes(gs, shape) || !c.isCompleteNumber(firstGroup, len(shape)) {
			continue
		}
		if d := c.digitsOfGroups(gs[:len(shape)]); hasCardIssuerPrefix(d) && hasLuhnDigit(d) {
			return len(shape)
		}
	}
	return 0
}

// matchesGroupSizes reports whether the list groups begins with digit groups of the given sizes. The digit count of
// groups[i] must be groupSizes[i], for each i in groupSizes. Further groups are ignored. The separators between the
// compared groups must all be the same, either spaces or dashes.
func matchesGroupSizes(groups []digitGroup, groupSizes []int) bool {
	if len(groups) < len(groupSizes) {
		return false
	}
	for i, n := range groupSizes {
		if groups[i].digitCount != n {
			return false
		}
		if i == 0 {
			continue
		}
		if groups[i].separatorAfter != groups[1].separatorAfter || groups[i].separatorAfter > separatorDash {
			return false
		}
	}
	return true
}

// isCompleteNumber reports whether some groups of digits in the chain are a complete number, and not a part of a longer
// number. The number begins with the group at index firstGroup and has groupCount groups. All these conditions must be
// met:
//
//   - If a group precedes the number, a space separates the two.
//   - If a group follows the number, a space separates the two. If the number has several groups, a slash is accepted
//     as well.
//   - If the number has several groups, the group before the number has not as many digits as the number's first group.
//     The same holds for the group after the number, unless a slash separates them. Otherwise the group would look like
//     another part of the same number.
//   - If the number is at the start or at the end of the chain, the text next to the number allows a number to begin or
//     end there.
func (c *digitGroupChain) isCompleteNumber(firstGroup, groupCount int) bool {
	first, last := c.groups[firstGroup], c.groups[firstGroup+groupCount-1]
	if firstGroup == 0 && !canNumberStart(c.text, first.start) {
		return false
	}
	isLast := firstGroup+groupCount == len(c.groups) && c.areGroupsComplete
	if isLast && !canNumberEnd(c.text, last.end) {
		return false
	}
	if firstGroup > 0 {
		continuesPattern := groupCount > 1 && c.groups[firstGroup-1].digitCount == first.digitCount
		if first.separatorAfter != separatorSpace || continuesPattern {
			return false
		}
	}
	if firstGroup+groupCount < len(c.groups) {
		next := c.groups[firstGroup+groupCount]
		return (next.separatorAfter == separatorSpace && (groupCount == 1 ||
			next.digitCount != c.groups[firstGroup].digitCount)) ||
			(next.separatorAfter == separatorSlash && groupCount > 1)
	}
	return true
}

func hasCardIssuerPrefix(digits []byte) bool {
	for _, is := range cardIssuers {
		v := 0
		for _, b := range digits[:is.prefixDigits] {
			v = 10*v + int(b-'0')
		}
		if v < is.lowPrefix || v > is.highPrefix {
			continue
		}
		for _, n := range is.lengths {
			if n == len(digits) {
				return true
			}
		}
	}
	return false
}

// hasLuhnDigit reports whether the last digit is the correct check digit (ISO/IEC 7812-1, annex B). It returns false
// if all digits are equal.
func hasLuhnDigit(d []byte) bool {
	sum, allEqual := 0, true
	for i := range d {
		v := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			v *= 2
			if v > 9 {
				v -= 9
			}
		}
		sum += v
		allEqual = allEqual && d[i] == d[0]
	}
	return sum%10 == 0 && !allEqual
}

// ibanLengths contains the length of each country's account numbers, from SWIFT's IBAN registry.
var ibanLengths = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29,
	"BY": 28,
	"CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24,
	"FI": 18,
	"FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HN": 28, "HR": 21,
	"HU": 28,
	"IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21,
	"LT": 20,
	"LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20, "MR": 27, "MT": 31, "MU": 30,
	"NI": 28,
	"NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33,
	"SA": 24,
	"SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24,
	"TR": 26,
	"UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}

// findIBANEnd returns the end of the IBAN whose first digit is at position i, which is after the two letters of the
// country. If there is no IBAN, findIBANEnd returns 0. From the fourth character on, there may be a space or a dash
// between two characters of the IBAN. At least half of the characters must be digits. A letter or digit directly before
// or after the IBAN is not accepted.
func findIBANEnd(text string, i int) int {
	if i < 2 {
		return 0
	}
	if i > 2 && isWordByte(text[i-3]) {
		return 0
	}
	country := [2]byte{upperByte(text[i-2]), upperByte(text[i-1])}
	length := ibanLengths[string(country[:])]
	if length == 0 {
		return 0
	}
	var b [34]byte
	n, digits := copy(b[:], country[:]), 0
	for n < length {
		c, size := readIBANChar(text, i, n)
		if size == 0 {
			return 0
		}
		i += size
		if c == 0 {
			continue // Skip a separator, such as a space, inside the IBAN.
		}
		b[n] = c
		if c <= '9' {
			digits++
		}
		n++
	}
	if i < len(text) && isWordByte(text[i]) {
		return 0
	}
	if 2*digits < length || ibanRemainder(b[:n]) != 1 {
		return 0
	}
	return i
}

// readIBANChar returns the IBAN character at position i of a text, and its length in bytes. The parameter
// precedingCharCount is the number of the IBAN's characters before position i. A letter is returned in upper case. If
// the text cannot continue the IBAN at the position, the returned length is 0.
//
// The first two characters of an IBAN are the country, and the next two are digits. From the fifth character on,
// letters and digits are accepted. A single space or dash is accepted there as well; the returned character is then 0.
func readIBANChar(text string, i, precedingCharCount int) (c byte, size int) {
	if i >= len(text) {
		return 0, 0
	}
	if d, size := digitAt(text, i); size > 0 {
		return d, size
	}
	if precedingCharCount < 4 {
		return 0, 0
	}
	c = upperByte(text[i])
	if c >= 'A' && c <= 'Z' {
		return c, 1
	}
	sep, size := separatorAt(text[i:])
	if _, again := separatorAt(text[i+size:]); sep > separatorDash || again > 0 {
		return 0, 0
	}
	return 0, size
}

func upperByte(b byte) byte {
	if b >= 'a' && b <= 'z' {
		b -= 'a' - 'A'
	}
	return b
}

// ibanRemainder returns the remainder according to ISO 7064 MOD 97-10. The remainder of a valid IBAN is 1. For the
// calculation, the first four characters are moved to the end. The letter A has the value 10, the letter B has the
// value 11, and so on.
func ibanRemainder(b []byte) int {
	r := 0
	for i := range b {
		switch c := b[(i+4)%len(b)]; {
		case c <= '9':
			r = (10*r + int(c-'0')) % 97
		default:
			r = (100*r + int(c-'A') + 10) % 97
		}
	}
	return r
}

// This file finds telephone numbers in international form, and in national forms that cannot be
// confused with other numbers.

package personal

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// countryCodes contains the country codes (ITU E.164), each with the number of digits that follow.
const countryCodes = `1:10 7:10 20:8-10 27:9 30:10 31:9 32:8-9 33:9 34:9 36:8-9 39:8-11 40:9 41:9 43:8-13 44:9-10 45:8 46:7-10
47:8 48:9 49:7-11 51:8-9 52:10 53:8 54:10-11 55:10-11 56:9 57:10 58:10 60:8-10 61:9 62:8-12 63:8-10 64:8-10 65:8 66:8-9
81:9-10 82:8-10 84:9-10 86:10-11 90:10 91:10 92:9-10 93:9 94:9 95:7-10 98:10 211:9 212:9 213:8-9 216:8 218:9 220:7 221:9
222:8 223:8 224:8-9 225:10 226:8 227:8 228:8 229:8-10 230:7-8 231:7-9 232:8 233:9 234:8-10 235:8 236:8 237:8-9 238:7 239:7
240:9 241:7-8 242:9 243:9 244:9 245:7-9 248:7 249:9 250:9 251:9 252:7-9 253:8 254:9-10 255:9 256:9 257:8 258:8-9 260:9 261:9
262:9 263:8-10 264:8-9 265:7-9 266:8 267:7-8 268:8 269:7 291:7 297:7 298:6 299:6 350:8 351:9 352:6-9 353:7-9 354:7 355:8-9
356:8 357:8 358:6-11 359:8-9 370:8 371:8 372:7-8 373:8 374:8 375:9 376:6 377:8-9 378:6-10 380:9 381:8-10 382:8 383:8-9
385:8-9 386:8 387:8-9 389:8 420:9 421:9 423:7 501:7 502:8 503:8 504:8 505:8 506:8 507:7-8 509:8 590:9 591:8 592:7 593:8-9
594:9 595:9 596:9 597:6-7 598:8 670:7-8 673:7 675:7-8 676:7 677:7 679:7 852:8 853:8 855:8-9 856:8-10 880:8-10 886:8-9
960:7 961:7-8 962:8-9 963:8-9 964:8-10 965:8 966:8-9 967:7-9 968:8 970:8-9 971:8-9 972:8-9 973:8 974:8 975:7-8 976:8 977:8-10
992:9 993:8 994:9 995:9 996:9 998:9`

// digitRange is the minimum and maximum number of digits after a country code.
type digitRange struct{ min, max int }

var digitRanges = sync.OnceValue(func() map[string]digitRange {
	all := map[string]digitRange{}
	for f := range strings.FieldsSeq(countryCodes) {
		code, n, _ := strings.Cut(f, ":")
		least, most, ranges := strings.Cut(n, "-")
		var s digitRange
		s.min, _ = strconv.Atoi(least)
		s.max = s.min
		if ranges {
			s.max, _ = strconv.Atoi(most)
		}
		all[code] = s
	}
	return all
})

// matchPhone returns the start of the telephone number whose first digits are group k, and its number of
// groups. The number of groups is 0 if there is no telephone number.
func (c *chain) matchPhone(k int) (start, n int) {
	start = c.groups[k].start
	if p, ok := plusBefore(c.text, start); ok {
		return c.matchWithPlus(k, p)
	}
	if !c.mayStartWith(k) {
		return start, 0
	}
	hasParen := strings.HasSuffix(c.text[:start], "(")
	if hasParen {
		start--
	}
	if k == 0 && !mayStartAt(c.text, start) {
		return start, 0
	}
	n = c.matchNational(k, hasParen)
	if n == 0 && isAnnounced(c.text[:start]) {
		n = c.matchAnnounced(k)
	}
	if n == 0 || !c.mayEndWith(k+n-1) {
		return start, 0
	}
	if hasParen && !strings.Contains(c.text[start:c.groups[k+n-1].end], ")") {
		start++ // (212-876-8800)
	}
	return start, n
}

// matchWithPlus is like phone, for a number with a plus sign at position plus.
func (c *chain) matchWithPlus(k, plus int) (start, n int) {
	n = c.matchInternational(k, 0)
	if n == 0 || (n == 1 && c.groups[k].digitCount < minPlain) {
		return plus, 0
	}
	all := c.text[plus:c.groups[k+n-1].end]
	if strings.HasSuffix(c.text[:plus], "(") && strings.Count(all, ")") > strings.Count(all, "(") {
		plus-- // (+44) 20 …
	}
	return plus, n
}

// mayStartWith reports whether a number can begin with group k, because a suitable separator precedes
// the group.
func (c *chain) mayStartWith(k int) bool {
	g := c.groups[k]
	return k == 0 || g.sep == space || g.sep == paren || (g.sep == slash && strings.HasSuffix(c.text[:g.start], " "))
}

// mayEndWith reports whether a number can end with group k.
func (c *chain) mayEndWith(k int) bool {
	return k+1 < len(c.groups) || !c.isComplete || mayEndAt(c.text, c.groups[k].end)
}

// minPlain is the minimum number of digits of an international number without spaces. A shorter
// number may be an ordinary number with a sign.
const minPlain = 10

// plusBefore returns the position of the plus sign before position i. ok is false if there is no
// plus sign, or if it cannot begin a telephone number.
func plusBefore(text string, i int) (pos int, ok bool) {
	before := strings.TrimSuffix(text[:i], "(")
	for _, plus := range []string{"+", "＋", "%2B"} {
		if t, ok := strings.CutSuffix(before, plus); ok {
			return len(t), t == "" || (!isWord(t[len(t)-1]) && !strings.HasSuffix(t, "+"))
		}
	}
	return 0, false
}

// matchInternational returns the number of groups from group k that form an international number, or 0.
// The number begins with skip other digits, followed by the country code.
func (c *chain) matchInternational(k, skip int) int {
	gs := c.groups[k:]
	size, digits := countryCode(c.groupDigits(gs)[skip:])
	digitCount, groupCount := -size-skip, 0
	for i, g := range gs {
		if i > 0 && g.digitCount == 1 && c.digits[g.firstDigit] == '0' && g.sep == paren {
			continue // +49 (0)30
		}
		digitCount += g.digitCount
		if digitCount > digits.max || (i > 0 && c.isDate(k+i)) {
			break
		}
		if digitCount >= digits.min && c.mayEndWith(k+i) {
			groupCount = i + 1
		}
	}
	return groupCount
}

// countryCode returns the length of the country code at the start of the digits, and the number of
// digits that may follow. For an unknown code, both are zero.
func countryCode(digits []byte) (size int, s digitRange) {
	for size = 1; size <= 3 && size < len(digits); size++ {
		s, ok := digitRanges()[string(digits[:size])]
		if ok && (digits[0] != '1' || (len(digits) > 4 && digits[1] >= '2' && digits[4] >= '2')) {
			return size, s
		}
	}
	return 0, digitRange{}
}

// isDate reports whether group k is the year of a date, such as 2026-01-02.
func (c *chain) isDate(k int) bool {
	if k+2 >= len(c.groups) {
		return false
	}
	y := c.groups[k]
	m := c.groups[k+1]
	d := c.groups[k+2]
	return y.digitCount == 4 && m.digitCount == 2 && d.digitCount == 2 && m.sep == d.sep && m.sep != space
}

// americanSeps contains the allowed pairs of separators in a North American number.
var americanSeps = []string{"--", "..", ")-", ") ", ")."}

// separatorSigns contains the sign of each separator.
const separatorSigns = " -./)"

// matchNational returns the number of groups from group k that form a number for callers in the same
// country, or 0. hasParen reports whether the number begins with a parenthesis.
func (c *chain) matchNational(k int, hasParen bool) int {
	gs := c.groups[k:]
	d := c.groupDigits(gs)
	switch {
	case d[0] == '0' && d[1] != '0':
		return c.matchTrunk(k, hasParen)
	case d[0] == '0':
		if n := c.matchInternational(k, 2); n > 1 {
			return n
		}
		return 0
	case d[0] == '1' && gs[0].digitCount == 1 && len(gs) > 1: // 1-800-…
		if n := c.matchAmerican(k + 1); n > 0 {
			return 1 + n
		}
		return 0
	case d[0] == '1' && d[1] >= '3' && matchesShape(gs, []int{3, 4, 4}) && c.isFollowedBySpace(k, 3): // China
		return 3
	}
	return c.matchAmerican(k)
}

// matchAmerican returns the number of groups from group k that form a North American number (area,
// exchange and line), or 0.
func (c *chain) matchAmerican(k int) int {
	gs := c.groups[k:]
	if len(gs) < 3 || gs[0].digitCount != 3 || gs[1].digitCount != 3 || gs[2].digitCount != 4 ||
		!c.isFollowedBySpace(k, 3) {
		return 0
	}
	d := c.groupDigits(gs)
	seps := string([]byte{separatorSigns[gs[1].sep], separatorSigns[gs[2].sep]})
	if !slices.Contains(americanSeps, seps) || d[0] < '2' || d[3] < '2' ||
		(d[0] == d[1] && d[1] == d[2] && d[0] == d[3]) {
		return 0
	}
	return 3
}

// isFollowedBySpace reports whether a space, or nothing, follows n groups from group k.
func (c *chain) isFollowedBySpace(k, n int) bool {
	return k+n >= len(c.groups) || c.groups[k+n].sep == space
}

// Limits of the number of digits in the first group and in a whole number with the trunk prefix 0.
const (
	minArea, maxArea   = 2, 5
	minTrunk, maxTrunk = 9, 12
	maxTrunkGroups     = 5
)

// matchTrunk returns the number of groups from group k that form a number with the trunk prefix 0, or 0.
// The number must have several groups, so that other numbers with a leading zero are not found.
func (c *chain) matchTrunk(k int, hasParen bool) int {
	gs := c.groups[k:]
	if k > 0 && !hasParen && gs[0].sep == space && c.groups[k-1].digitCount == gs[0].digitCount {
		return 0 // this is a row of a table
	}
	if n := c.matchPairs(k); n > 0 {
		return n
	}
	if gs[0].digitCount >= minArea && gs[0].digitCount <= maxArea && len(gs) > 1 && gs[1].digitCount > 2 {
		return c.matchWithArea(k)
	}
	return 0
}

// matchWithArea is like trunk, for a number whose first group is an area code.
func (c *chain) matchWithArea(k int) int {
	gs := c.groups[k:]
	digitCount, isSeparate := gs[0].digitCount, false
	for i := 1; i < min(len(gs), maxTrunkGroups) && isGroupOfTrunk(gs[i], i); i++ {
		digitCount += gs[i].digitCount
		if digitCount > maxTrunk {
			return 0
		}
		// Without a group that differs from the first, the number may be a row of a table.
		isSeparate = isSeparate || gs[i].digitCount != gs[0].digitCount || gs[i].sep != space
		if digitCount >= minTrunk && isSeparate && c.isLast(k+i) {
			return i + 1
		}
	}
	return 0
}

// isGroupOfTrunk reports whether a group can be group i of a number with the trunk prefix 0.
func isGroupOfTrunk(g group, i int) bool {
	return g.digitCount >= 2 && g.sep != dot && (i == 1 || g.sep <= dash)
}

// isLast reports whether a number ends with group k, because no group follows or the next group
// begins another number.
func (c *chain) isLast(k int) bool {
	if k+1 == len(c.groups) {
		return true
	}
	next := c.groups[k+1]
	return next.sep <= slash && next.sep != dash && next.digitCount > 1 && c.digits[next.firstDigit] == '0'
}

// matchPairs returns 5 if the groups from group k are a number of five pairs, as in France, and
// otherwise 0.
func (c *chain) matchPairs(k int) int {
	gs := c.groups[k:]
	if len(gs) != 5 || (c.text[gs[4].end:] != "" && gs[1].sep == space && len(c.text) > gs[4].end+1 &&
		c.text[gs[4].end] == ' ' && isHex(c.text[gs[4].end+1:])) {
		return 0
	}
	for i, g := range gs {
		if g.digitCount != 2 || (i > 0 && (g.sep != gs[1].sep || g.sep > dot)) {
			return 0
		}
	}
	return 5
}

// isHex reports whether a text begins with exactly two hexadecimal digits, like a byte in a dump.
func isHex(text string) bool {
	if len(text) < 2 || (len(text) > 2 && isWord(text[2])) {
		return false
	}
	return strings.IndexByte("0123456789abcdefABCDEF", text[0]) >= 0 &&
		strings.IndexByte("0123456789abcdefABCDEF", text[1]) >= 0
}

// matchAnnounced returns the number of groups from group k that form a number after a word such as "Tel.",
// or 0.
func (c *chain) matchAnnounced(k int) int {
	digits := 0
	n := 0
	dots := 0
	for i, g := range c.groups[k:] {
		if digits+g.digitCount > 15 || c.isDate(k+i) || i == 6 {
			break
		}
		digits, n = digits+g.digitCount, i+1
		if i > 0 && g.sep == dot {
			dots++
		}
	}
	if digits < minDigits || dots == 3 {
		return 0
	}
	return n
}

// callWords are words before a telephone number. linkWords are words that may occur between such a
// word and the number.
var (
	callWords = []string{"tel", "telefon", "telefonnummer", "telephone", "téléphone", "teléfono", "telefono",
		"telefone", "phone", "mobile", "mobil", "mobilnummer",
		"cell", "cellphone", "handy", "handynummer", "fax", "fon", "whatsapp", "rufnummer", "电话", "電話", "手机", "携帯",
		"전화", "тел", "телефон"}
	linkWords = []string{"number", "no", "nr", "is", "at", "ist", "lautet", "unter", "num", "office", "work", "home"}
)

// isAnnounced reports whether a text ends with a word that announces a telephone number.
func isAnnounced(before string) bool {
	before = before[max(0, len(before)-40):]
	for range 3 {
		before = strings.TrimRight(before, " \t:.=-–(\"'`*_#|：")
		word := before[wordStart(before):]
		lowered := strings.ToLower(word)
		hasSuffix := func(w string) bool { return strings.HasSuffix(lowered, w) }
		if slices.Contains(callWords, lowered) || slices.ContainsFunc(callWords[len(callWords)-7:], hasSuffix) {
			return true
		}
		if !slices.Contains(linkWords, lowered) {
			return false
		}
		before = before[:len(before)-len(word)]
	}
	return false
}

// wordStart returns the start of the word at the end of a text.
func wordStart(text string) int {
	for i := len(text); i > 0; {
		c, n := utf8.DecodeLastRuneInString(text[:i])
		if !unicode.IsLetter(c) {
			return i
		}
		i -= n
	}
	return 0
}

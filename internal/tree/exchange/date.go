// This file parses dates in the formats of many programs.

package exchange

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// defaultUTCHour is the hour, in UTC, at which a date without a time is stored. At this hour, the day is the same in
// all time zones from -10:00 (Hawaii) to +13:45 (Chatham Islands in summer), so a filter finds the entry on its day in
// nearly all places. No hour is on the same day everywhere, because the time zones span 26 hours.
const defaultUTCHour = 10

// parseDate parses a date or a time and returns the time in UTC. If the string s contains a time but no time zone, the
// time zone is loc, or UTC if loc is nil. If s contains only a date, the time of day in the result is [defaultUTCHour].
// parseDate returns an error if s has none of the supported forms, or if the year is not from 1 to 9999.
func parseDate(s string, loc *time.Location) (time.Time, error) {
	if loc == nil {
		loc = time.UTC
	}
	text := strings.TrimSpace(s)
	if inner, ok := strings.CutPrefix(text, "[["); ok && strings.HasSuffix(inner, "]]") {
		text = inner[:len(inner)-2] // Remove the brackets of a link in Obsidian.
	}
	t, ok := parseUnixTime(text)
	if !ok {
		t, ok = parseRFC3339Time(text)
	}
	if !ok {
		t, ok = parseWrittenDate(text, loc)
	}
	t = t.UTC()
	isYear := 1 <= t.Year() && t.Year() <= 9999
	if !ok || !isYear {
		return time.Time{}, fmt.Errorf(
			"date %s is not one of 2026-04-18, 2026-04-18T09:30:00Z, 2026/04/18 09:30 or April 18, 2026",
			truncateAndQuote(s),
		)
	}
	return t, nil
}

// parseUnixTime parses a time that is a number of seconds (10 digits) or milliseconds (13 digits) since 1970.
func parseUnixTime(s string) (time.Time, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil || n <= 0 || s[0] == '+':
		return time.Time{}, false
	case len(s) == 10:
		return time.Unix(n, 0), true
	case len(s) == 13:
		return time.UnixMilli(n), true
	}
	return time.Time{}, false
}

// parseRFC3339Time parses a time in the form that most programs write, such as 2026-04-18T09:30:00Z or
// 2026-04-18T09:30:00.5+02:00. It returns false for any other form, even if parseWrittenDate accepts that form.
func parseRFC3339Time(s string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, s)
	return t, err == nil
}

// dateForms lists the forms that a date may have at the beginning of a text. Each element has a pattern, and a string
// with one letter for each group of the pattern. The letter y means that the group is the year, m means the month, and
// d means the day. A ? means that the group is a number that may be a day or a month.
var dateForms = sync.OnceValue(func() []dateForm {
	const month, day = `([A-Za-z]{3,9})`, `([0-9]{1,2})(?:st|nd|rd|th)?`
	return []dateForm{
		{regexp.MustCompile(`^([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})(?: \([A-Za-z]{3,9}\))?`), "ymd"},
		{regexp.MustCompile(`^([0-9]{4})([0-9]{2})([0-9]{2})`), "ymd"},
		{regexp.MustCompile(`^([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})`), "dmy"},
		{regexp.MustCompile(`^([0-9]{1,2})[-/]([0-9]{1,2})[-/]([0-9]{4})`), "??y"},
		{regexp.MustCompile(`^` + day + `[ -]` + month + `\.?,?[ -]([0-9]{4})`), "dmy"},
		{regexp.MustCompile(`^` + month + `\.? ` + day + `,? ([0-9]{4})`), "mdy"},
	}
})

type dateForm struct {
	pattern   *regexp.Regexp
	partOrder string
}

// weekdayPattern matches a weekday before a date. timePattern matches the time after a date, with groups for the hour,
// minute, second, fraction, am or pm, and time zone. compactTimePattern matches the time after a date without
// separators.
var (
	weekdayPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?i:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,? +`)
	})
	timePattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`^(?:[Tt]|,? +(?:at +)?)([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9})[0-9]*)?)?` +
				` ?([AaPp][Mm])? ?` + timeZoneExpr + `?(?: \([^()]*\))?$`,
		)
	})
	compactTimePattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[T ]?([0-9]{2})([0-9]{2})([0-9]{2})?()()` + timeZoneExpr + `?$`)
	})
)

// timeZoneExpr matches a time zone whose difference from UTC is known.
const timeZoneExpr = `([Zz]|(?:UTC|GMT)?[+-][0-9]{2}:?(?:[0-9]{2})?|UTC|GMT)`

// parseWrittenDate parses a date in one of the dateForms. A weekday before the date is ignored. A time may follow the
// date. It is in the time zone loc if it does not name a time zone. If no time follows, the result has the hour
// defaultUTCHour. parseWrittenDate returns false if s contains anything else, or if the time is invalid.
func parseWrittenDate(s string, loc *time.Location) (time.Time, bool) {
	s = s[len(weekdayPattern().FindString(s)):]
	for _, form := range dateForms() {
		m := form.pattern.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		day, ok := form.parseDay(m[1:])
		if !ok {
			continue
		}
		rest := s[len(m[0]):]
		if rest == "" {
			return day.Add(defaultUTCHour * time.Hour), true
		}
		clock := timePattern().FindStringSubmatch(rest)
		if clock == nil && len(m[0]) == len("20060102") {
			clock = compactTimePattern().FindStringSubmatch(rest)
		}
		if clock != nil {
			return withTimeOfDay(day, clock[1:], loc)
		}
	}
	return time.Time{}, false
}

// parseDay returns the day that the matched groups name, at midnight UTC. It returns false if that day does not exist,
// or if the order of the day and the month is ambiguous, as in 4/5/2026.
func (f *dateForm) parseDay(groups []string) (time.Time, bool) {
	var y, m, d int
	for i, g := range groups {
		switch f.partOrder[i] {
		case 'y':
			y = parseDigits(g)
		case 'm':
			m = parseMonth(g)
		case 'd':
			d = parseDigits(g)
		}
	}
	if f.partOrder == "??y" {
		// A date such as 4/5/2026 may be in April or in May. It is certain only if one number is above 12 or both are
		// equal.
		m, d = parseDigits(groups[0]), parseDigits(groups[1])
		if m > 12 {
			m, d = d, m
		} else if d <= 12 && m != d {
			return time.Time{}, false
		}
	}
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	return t, t.Year() == y && int(t.Month()) == m && t.Day() == d
}

// parseDigits returns the value of a number with at most nine digits, or 0 for "".
func parseDigits(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

// parseMonth returns the number of the month that s names. The text s is the month's English name, at least the name's
// first three letters, "sept", or a number. A number is returned unchanged, even if no month has this number. For any
// other text, parseMonth returns 0.
func parseMonth(s string) int {
	for m := time.January; m <= time.December; m++ {
		name := m.String()
		isBeginning := 3 <= len(s) && len(s) <= len(name)
		if isBeginning && strings.EqualFold(s, name[:len(s)]) {
			return int(m)
		}
	}
	if strings.EqualFold(s, "sept") {
		return int(time.September)
	}
	return parseDigits(s)
}

// withTimeOfDay returns the given day with the time of day in timeParts. The argument timeParts contains the texts that
// the groups of timePattern matched: hour, minute, second, fraction, am or pm, and time zone. loc is the time zone if
// timeParts contains none. The second result is false if the time of day or the time zone is invalid.
func withTimeOfDay(day time.Time, timeParts []string, loc *time.Location) (time.Time, bool) {
	hour, minute := parseDigits(timeParts[0]), parseDigits(timeParts[1])
	second := parseDigits(timeParts[2])
	nano := parseDigits((timeParts[3] + "000000000")[:9])
	half := strings.ToLower(timeParts[4])
	isHalfHour := 1 <= hour && hour <= 12
	if half != "" && !isHalfHour {
		return time.Time{}, false
	}
	switch half {
	case "am":
		hour %= 12
	case "pm":
		hour = hour%12 + 12
	}
	isTime := hour <= 23 && minute <= 59 && second <= 59
	if !isTime {
		return time.Time{}, false
	}
	loc, ok := parseTimeZone(timeParts[5], loc)
	if !ok {
		return time.Time{}, false
	}
	return time.Date(day.Year(), day.Month(), day.Day(), hour, minute, second, nano, loc), true
}

// parseTimeZone returns the time zone that the text s names, or loc if s is "". The text must have been matched by
// timeZoneExpr. The second result is false if the difference from UTC is invalid, such as +25:00.
func parseTimeZone(s string, loc *time.Location) (*time.Location, bool) {
	if s == "" {
		return loc, true
	}
	s = strings.TrimPrefix(strings.TrimPrefix(strings.ToUpper(s), "UTC"), "GMT")
	if s == "" || s == "Z" {
		return time.UTC, true
	}
	digits := strings.ReplaceAll(s[1:], ":", "")
	hours, minutes := parseDigits(digits[:2]), parseDigits(digits[2:])
	if hours > 23 || minutes > 59 {
		return nil, false
	}
	offset := (hours*60 + minutes) * 60
	if s[0] == '-' {
		offset = -offset
	}
	return time.FixedZone("", offset), true
}

var dateInNamePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^0-9])([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[^0-9]|$)`)
})

// dateInName returns the first date in a file name, such as 2026-04-18-standup.md. The second result is false if the
// name does not contain a date.
func dateInName(name string, loc *time.Location) (time.Time, bool) {
	m := dateInNamePattern().FindStringSubmatch(name)
	if m == nil {
		return time.Time{}, false
	}
	t, err := parseDate(m[1], loc)
	return t, err == nil
}

// This file parses date expressions such as "last week", "in May 2023" or "3 days ago":
//
//	day    = today | yesterday | tomorrow | [last | this | next] weekday
//	| month n [year] | n month [year] | 2026-04-18
//	span   = (last | this | next) (week | month | year) | weekend
//	| [in] month year | (in | last | this | next) month | in year
//	| last n (days | weeks | months | years) | 2026-04 | day..day
//	moment = n (days | weeks | months | years) ago | a (day | week | …) ago
//	since  = since span        the time from the start of the span on
//
// Weeks begin on Monday. All dates are in the time zone of now. A month without a year is
// the latest month of this name that has begun. "last" with a weekday is the latest such
// day before today. "ago" means the whole day or week. A number of four digits is a year
// only after "in" or a month. Other texts are not dates.

package query

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// maxDateExpressionWords is the number of words in the longest date expression.
const maxDateExpressionWords = 4

// findDates returns the date expressions in a list of words. They do not overlap. If several begin at the same word,
// the longest is returned.
func findDates(words []string, now time.Time) []oxbow.Span {
	var spans []oxbow.Span
	for i := 0; i < len(words); i++ {
		for n := min(maxDateExpressionWords, len(words)-i); n > 0; n-- {
			// Punctuation after the last word belongs to the sentence, so remove it.
			s := strings.TrimRight(strings.Join(words[i:i+n], " "), "?!.,;:)")
			if d, ok := resolveDate(s, now); ok {
				spans = append(spans, d)
				i += n - 1
				break
			}
		}
	}
	return spans
}

// resolveDate parses s, which must be a single date expression. The second result is false if s is not a date
// expression. The bounds of the result are zero or in the years 1 to 9999, and From is before To.
func resolveDate(s string, now time.Time) (oxbow.Span, bool) {
	if len(s) > 64 {
		return oxbow.Span{}, false
	}
	r := dateReader{now: now, loc: now.Location()}
	y, m, d := now.Date()
	r.todayStart = time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	from, to, ok := r.parseDate(strings.ToLower(strings.TrimSpace(s)))
	if !ok {
		return oxbow.Span{}, false
	}
	d2 := oxbow.Span{Text: s}
	for _, b := range []struct {
		day time.Time
		to  *time.Time
	}{{from, &d2.From}, {to, &d2.To}} {
		if b.day.IsZero() {
			continue
		}
		if b.day.Year() < 1 || b.day.Year() > 9998 {
			return oxbow.Span{}, false
		}
		*b.to = dayStart(b.day, r.loc).In(r.loc)
	}
	if !d2.To.IsZero() && !d2.From.Before(d2.To) {
		return oxbow.Span{}, false
	}
	return d2, true
}

// dateReader parses date expressions relative to a current time. Its methods represent a day by midnight UTC on the
// date, even if loc is another time zone.
type dateReader struct {
	now        time.Time
	todayStart time.Time
	loc        *time.Location
}

var weekdayNames = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

var monthNames = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september",
	"october", "november", "december"}

var numberWords = []string{"", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
	"eleven", "twelve"}

// parseMonth returns the month with this name or three-letter abbreviation, or 0 for any other text. The word "may" is
// usually a verb, so callers must also check the word next to it.
func parseMonth(word string) time.Month {
	if word == "sept" {
		return time.September
	}
	return time.Month(
		1 + slices.IndexFunc(monthNames, func(name string) bool { return word == name || word == name[:3] }),
	)
}

// parseNumber returns the number from 1 to 999 that a word means, such as "3", "three" or "a". It returns 0 for other
// words.
func parseNumber(word string) int {
	if word == "a" || word == "an" {
		return 1
	}
	if i := slices.Index(numberWords, word); i > 0 {
		return i
	}
	if n := parseDigits(word); n < 1000 {
		return n
	}
	return 0
}

// parseDigits returns the number that a word of digits means. It returns 0 if the word contains another character,
// such as a sign, or if the number is greater than 65,535.
func parseDigits(word string) int {
	n, err := strconv.ParseUint(word, 10, 16)
	if err != nil {
		return 0
	}
	return int(n)
}

func parseYear(word string) int {
	if y := parseDigits(word); len(word) == 4 && y >= 1000 {
		return y
	}
	return 0
}

// parseDayOfMonth returns the day of a month that a word such as "7", "7th" or "7," means, or 0 if it means none.
func parseDayOfMonth(word string) int {
	for _, suffix := range []string{",", "st", "nd", "rd", "th"} {
		word = strings.TrimSuffix(word, suffix)
	}
	if n := parseDigits(word); n <= 31 && len(word) <= 2 {
		return n
	}
	return 0
}

func dayRange(t time.Time) (from, to time.Time, ok bool) { return t, t.AddDate(0, 0, 1), true }

// dateRange returns the range of one day. The range begins at from, which is the beginning of the day, and ends before
// to, which is the beginning of the next day. ok is false if the date does not exist, such as February 30.
func dateRange(y int, m time.Month, d int) (from, to time.Time, ok bool) {
	t := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	if t.Day() != d {
		return from, to, false
	}
	return dayRange(t)
}

func monthRange(y int, m time.Month, monthCount int) (from, to time.Time, ok bool) {
	t := time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
	return t, t.AddDate(0, monthCount, 0), true
}

// parseDate parses a date expression. It returns the first day of the range and the day after the last. ok is false if
// s is not a date expression.
func (r *dateReader) parseDate(s string) (from, to time.Time, ok bool) {
	if a, b, cut := strings.Cut(s, ".."); cut {
		from, _, ok = r.parseISODate(a)
		_, to, ok2 := r.parseISODate(b)
		return from, to, ok && ok2 && from.Before(to)
	}
	from, to, ok = r.parseISODate(s)
	if ok {
		return from, to, ok
	}
	ws := strings.Fields(s)
	if len(ws) == 0 || len(ws) > maxDateExpressionWords {
		return from, to, false
	}
	switch rest := strings.Join(ws[1:], " "); {
	case ws[0] == "since":
		return r.parseSinceDate(rest)
	case ws[0] == "on" && len(ws) > 1 && ws[1] != "on":
		from, to, ok = r.parseDate(rest)
		return from, to, ok && to.Sub(from) == 24*time.Hour
	case len(ws) == 1:
		if i := slices.Index([]string{"yesterday", "today", "tomorrow"}, ws[0]); i >= 0 {
			return dayRange(r.todayStart.AddDate(0, 0, i-1))
		}
	case len(ws) == 2:
		return r.parseTwoWordDate(ws[0], ws[1])
	case len(ws) == 3:
		return r.parseThreeWordDate(ws[0], ws[1], ws[2])
	}
	return from, to, false
}

// parseSinceDate parses the expression after "since". The range begins where the expression's range begins, and never
// ends.
func (r *dateReader) parseSinceDate(s string) (from, to time.Time, ok bool) {
	if strings.HasPrefix(s, "since") {
		return from, to, false
	}
	from, _, ok = r.parseDate(s)
	if !ok {
		if y := parseYear(s); y > 0 {
			from, _, ok = monthRange(y, 1, 12)
		} else if m := parseMonth(s); m > 0 {
			from, _, ok = r.latestMonth(m)
		}
	}
	return from, time.Time{}, ok && !from.IsZero()
}

// parseISODate parses a day such as 2026-04-18, or a month such as 2026-04.
func (r *dateReader) parseISODate(s string) (from, to time.Time, ok bool) {
	switch len(s) { // Check the length first, because time.Parse is slow if it fails.
	case len("2006-01-02"):
		if t, err := time.Parse(time.DateOnly, s); err == nil {
			return dayRange(t)
		}
	case len("2006-01"):
		if t, err := time.Parse("2006-01", s); err == nil {
			return monthRange(t.Year(), t.Month(), 1)
		}
	}
	return from, to, false
}

// parseTwoWordDate parses a date expression that consists of two words.
func (r *dateReader) parseTwoWordDate(a, b string) (from, to time.Time, ok bool) {
	switch {
	case a == "in" && parseYear(b) > 0:
		return monthRange(parseYear(b), 1, 12)
	case a == "in" && parseMonth(b) > 0:
		return r.latestMonth(parseMonth(b))
	case parseMonth(a) > 0 && parseYear(b) > 0:
		return monthRange(parseYear(b), parseMonth(a), 1)
	case parseMonth(a) > 0 && parseDayOfMonth(b) > 0:
		return r.latestDay(parseMonth(a), parseDayOfMonth(b))
	case parseDayOfMonth(a) > 0 && parseMonth(b) > 0:
		return r.latestDay(parseMonth(b), parseDayOfMonth(a))
	}
	if nth := slices.Index([]string{"last", "this", "next"}, a); nth >= 0 {
		return r.relativeRange(nth-1, b)
	}
	return from, to, false
}

// relativeRange returns a period. If nth is -1, it returns the last period, if nth is 0 the present period, and if nth
// is 1 the next period. The argument periodName is the kind of period: a weekday, a named month, "week", "weekend",
// "month" or "year". The results from and to are the start and the end of the period. The result ok is false if
// periodName is none of these words.
func (r *dateReader) relativeRange(nth int, periodName string) (from, to time.Time, ok bool) {
	y, m, _ := r.todayStart.Date()
	if weekday := slices.Index(weekdayNames, periodName); weekday >= 0 {
		return r.weekdayRange(nth, weekday)
	}
	if month := parseMonth(periodName); month > 0 {
		switch {
		case nth == -1 && month >= m:
			y--
		case nth == 1 && month <= m:
			y++
		}
		return monthRange(y, month, 1)
	}
	switch periodName {
	case "week":
		t := r.mondayOfWeek().AddDate(0, 0, 7*nth)
		return t, t.AddDate(0, 0, 7), true
	case "weekend":
		t := r.mondayOfWeek().AddDate(0, 0, 7*nth+5)
		return t, t.AddDate(0, 0, 2), true
	case "month":
		return monthRange(y, m+time.Month(nth), 1)
	case "year":
		return monthRange(y+nth, 1, 12)
	}
	return from, to, false
}

// weekdayRange returns the start and the end of a day that a phrase such as "next Friday" names. nth is negative for
// the last such weekday before today, 0 for the weekday in this week, and 1 for the next such weekday after today. The
// weekday 0 is Sunday.
func (r *dateReader) weekdayRange(nth, weekday int) (from, to time.Time, ok bool) {
	since := (int(r.todayStart.Weekday()) - weekday + 7) % 7
	switch {
	case nth == 0:
		return dayRange(r.mondayOfWeek().AddDate(0, 0, (weekday+6)%7))
	case nth == 1:
		return dayRange(r.todayStart.AddDate(0, 0, 7-since))
	case since == 0:
		since = 7
	}
	return dayRange(r.todayStart.AddDate(0, 0, -since))
}

// parseThreeWordDate parses a date expression that consists of three words.
func (r *dateReader) parseThreeWordDate(firstWord, secondWord, thirdWord string) (from, to time.Time, ok bool) {
	switch {
	case thirdWord == "ago" && parseNumber(firstWord) > 0:
		return r.rangeUnitsAgo(parseNumber(firstWord), strings.TrimSuffix(secondWord, "s"))
	case (firstWord == "last" || firstWord == "past") && parseNumber(secondWord) > 0:
		return r.rangeOfLastUnits(parseNumber(secondWord), strings.TrimSuffix(thirdWord, "s"))
	case firstWord == "in" && parseMonth(secondWord) > 0 && parseYear(thirdWord) > 0:
		return monthRange(parseYear(thirdWord), parseMonth(secondWord), 1)
	case parseMonth(firstWord) > 0 && parseDayOfMonth(secondWord) > 0 && parseYear(thirdWord) > 0:
		return dateRange(parseYear(thirdWord), parseMonth(firstWord), parseDayOfMonth(secondWord))
	case parseDayOfMonth(firstWord) > 0 && parseMonth(secondWord) > 0 && parseYear(thirdWord) > 0:
		return dateRange(parseYear(thirdWord), parseMonth(secondWord), parseDayOfMonth(firstWord))
	}
	return from, to, false
}

// rangeUnitsAgo returns the whole day, week, month or year that was n units ago.
func (r *dateReader) rangeUnitsAgo(n int, unit string) (from, to time.Time, ok bool) {
	y, m, _ := r.todayStart.Date()
	switch unit {
	case "day":
		return dayRange(r.todayStart.AddDate(0, 0, -n))
	case "week":
		t := r.mondayOfWeek().AddDate(0, 0, -7*n)
		return t, t.AddDate(0, 0, 7), true
	case "month":
		return monthRange(y, m-time.Month(n), 1)
	case "year":
		return monthRange(y-n, 1, 12)
	}
	return from, to, false
}

// rangeOfLastUnits returns the range of the last n days, weeks, months or years, depending on unit. The range ends at
// the end of today.
func (r *dateReader) rangeOfLastUnits(n int, unit string) (from, to time.Time, ok bool) {
	end := r.todayStart.AddDate(0, 0, 1)
	switch unit {
	case "day":
		return end.AddDate(0, 0, -n), end, true
	case "week":
		return end.AddDate(0, 0, -7*n), end, true
	case "month":
		return end.AddDate(0, -n, 0), end, true
	case "year":
		return end.AddDate(-n, 0, 0), end, true
	}
	return from, to, false
}

// mondayOfWeek returns the Monday of the current week.
func (r *dateReader) mondayOfWeek() time.Time {
	return r.todayStart.AddDate(0, 0, -(int(r.todayStart.Weekday())+6)%7)
}

// latestMonth returns the range of the latest month m that has begun.
func (r *dateReader) latestMonth(m time.Month) (from, to time.Time, ok bool) {
	y := r.todayStart.Year()
	if m > r.todayStart.Month() {
		y--
	}
	return monthRange(y, m, 1)
}

// latestDay returns the range of the latest day with this month and day number that is not after today.
func (r *dateReader) latestDay(m time.Month, d int) (from, to time.Time, ok bool) {
	y := r.todayStart.Year()
	if r.isLaterInYear(m, d) {
		y--
	}
	return dateRange(y, m, d)
}

// isLaterInYear reports whether the month and day are after today in the same year.
func (r *dateReader) isLaterInYear(m time.Month, d int) bool {
	if m != r.todayStart.Month() {
		return m > r.todayStart.Month()
	}
	return d > r.todayStart.Day()
}

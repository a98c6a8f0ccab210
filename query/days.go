// This file parses dates for filters, and computes when a day begins and ends in a time zone.

package query

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/syntax"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// timeKeys lists the keys that [TimeFilter] accepts, without their synonyms.
var timeKeys = []string{"after", "before", "until", "on"}

func isTimeKey(key string) bool { return slices.Contains(timeKeys, key) }

// TimeFilter returns the filter for a date. The key says which side of the date is selected:
//
//   - after, since: from the beginning of the date
//   - before: up to the beginning of the date, without the date itself
//   - until: up to the end of the date
//   - on, date: from the beginning of the date up to its end
//
// A date is a day, a month, a year, a moment in RFC 3339, or an expression such as yesterday, last-week or "3 days
// ago". 7d, 2w, 6mo and 1y mean the whole day that was this many days ago, with 7 days a week, 30 a month and 365 a
// year. 36h and 90m mean the moment that was this long ago. A moment lasts a second. The argument now is the present
// time, and its time zone is the time zone of days.
//
// An error matches [oxbow.ErrInvalid] and has the key as its Field.
func TimeFilter(key, date string, now time.Time) (oxbow.Filter, error) {
	from, to, ok := parseDateRange(date, now)
	if !ok {
		return oxbow.Filter{}, invalidError(
			key,
			text.TruncateWithEllipsis(date, 40),
			`is not a date; write 2026-04-18, 2026-04, 2026, `+
				`2026-04-18T09:30:00Z, yesterday, last-week, 7d, 36h or "3 days ago"`,
		)
	}
	switch syntax.CanonicalKey(key) {
	case "after":
		return oxbow.Filter{After: from}, nil
	case "before":
		return oxbow.Filter{Before: from}, nil
	case "until":
		if to.IsZero() {
			reason := "has no end; write the last day, such as 2026-04-18"
			return oxbow.Filter{}, invalidError(key, text.TruncateWithEllipsis(date, 40), reason)
		}
		return oxbow.Filter{Before: to}, nil
	case "on":
		return oxbow.Filter{After: from, Before: to}, nil
	}
	return oxbow.Filter{}, invalidError(
		"filter key",
		text.TruncateWithEllipsis(key, 40),
		"is not one of "+strings.Join(timeKeys, ", "),
	)
}

// earliestTime and latestTime are the first and the last moment that a filter can contain. The first is not the zero
// time, because that means a range without a bound. The last has a four-digit year, because a five-digit year cannot
// be written.
var (
	earliestTime = time.Time{}.Add(1)
	latestTime   = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).Add(-1)
)

// parseDateRange parses a date and returns the range of time that the date describes. The first result is the beginning
// of the range. The second result is the end of the range, and is not part of the range. If the range has no end, as in
// "since march", the second result is the zero time. A time outside the years 1 to 9999 is replaced by the nearest time
// in these years. The result ok is false if s is not a date.
func parseDateRange(s string, now time.Time) (from, to time.Time, ok bool) {
	from, to, ok = parseNumericDate(s, now.Location())
	if !ok {
		from, to, ok = parseAge(s, now)
	}
	if !ok {
		d, isDate := resolveDate(s, now)
		if !isDate {
			d, isDate = resolveDate(strings.ReplaceAll(s, "-", " "), now)
		}
		from, to = d.From, d.To
		ok = isDate
	}
	if !ok {
		return time.Time{}, time.Time{}, false
	}
	if !to.IsZero() {
		to = clampToTimeLimits(to)
	}
	return clampToTimeLimits(from), to, true
}

// parseNumericDate parses a year, a month, a day or a time in RFC 3339. Years, months and days are in the time zone
// loc. The result from is the beginning of the period. The result to is its end, which does not belong to the period. A
// time in RFC 3339 is a period of one second. The result ok is false if s has none of these forms.
func parseNumericDate(s string, loc *time.Location) (from, to time.Time, ok bool) {
	for _, l := range []struct {
		layout    string
		y, m, day int
	}{
		{"2006-01-02", 0, 0, 1}, {"2006-01", 0, 1, 0}, {"2006", 1, 0, 0},
	} {
		if t, err := time.Parse(l.layout, s); err == nil {
			return dayStart(t, loc), dayStart(t.AddDate(l.y, l.m, l.day), loc), true
		}
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t, t.Add(time.Second), err == nil
}

// parseAge parses an age. 7d means the day that was 7 days ago, and 36h the moment that was 36 hours ago.
func parseAge(s string, now time.Time) (from, to time.Time, ok bool) {
	if !beginsWithDigit(s) {
		return from, to, false
	}
	for _, unit := range []struct {
		name string
		days int
	}{{"d", 1}, {"w", 7}, {"mo", 30}, {"y", 365}} {
		if digits, isUnit := strings.CutSuffix(s, unit.name); isUnit {
			n, err := strconv.ParseUint(digits, 10, 16)
			y, m, d := now.Date()
			day := time.Date(y, m, d-int(n)*unit.days, 0, 0, 0, 0, time.UTC)
			return dayStart(day, now.Location()), dayStart(day.AddDate(0, 0, 1), now.Location()), err == nil
		}
	}
	age, err := time.ParseDuration(s)
	from = now.Add(-age)
	return from, from.Add(time.Second), err == nil && strings.ContainsAny(s, "hms")
}

// clampToTimeLimits moves a time outside the limits to the nearest limit, and returns the time in UTC.
func clampToTimeLimits(t time.Time) time.Time { return text.ClampTime(t, earliestTime, latestTime) }

// beginsWithDigit reports whether the first byte of s is a decimal digit.
func beginsWithDigit(s string) bool {
	return s != "" && s[0] >= '0' && s[0] <= '9'
}

// dayStart returns the first moment of a day in the time zone loc. The argument day specifies the date: it is the
// midnight in UTC with which this date begins. The result is not always midnight in loc, because some time zones set
// their clocks forward at midnight. For such a day, time.Date would return a time on the day before.
func dayStart(day time.Time, loc *time.Location) time.Time {
	const around = 36 * time.Hour // no time zone differs from UTC by this much
	var first time.Time
	for _, t := range []time.Time{day.Add(-around), day.Add(around)} {
		_, offset := t.In(loc).Zone()
		t = day.Add(-time.Duration(offset) * time.Second).In(loc)
		if !hasSameClockTime(t, day) {
			continue
		}
		if first.IsZero() || t.Before(first) {
			first = t
		}
	}
	if first.IsZero() {
		// In this time zone, the day lacks a midnight. It begins at the moment when the clocks were set forward.
		_, first = day.Add(-around).In(loc).ZoneBounds()
	}
	return first
}

// hasSameClockTime reports whether clocks show the same date and time for a and b, each in its own time zone.
// Fractions of a second are ignored.
func hasSameClockTime(a, b time.Time) bool {
	const wall = "2006-01-02 15:04:05"
	return a.Format(wall) == b.Format(wall)
}

func invalidError(field, value, reason string) error {
	return &oxbow.InvalidError{Field: field, Value: value, Reason: reason}
}

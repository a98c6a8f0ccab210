// This file parses dates as the bounds of time ranges, and computes the limits of days in a time zone.

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

// timeKeys are the keys that [TimeFilter] accepts, apart from synonyms.
var timeKeys = []string{"after", "before", "until", "on"}

func isTimeKey(key string) bool { return slices.Contains(timeKeys, key) }

// TimeFilter returns the filter for a date. The key specifies which side of the date is
// selected:
//
//   - after, since: from the beginning of the date
//   - before: up to the beginning of the date, without the date itself
//   - until: up to the end of the date
//   - on, date: from the beginning of the date up to its end
//
// A date is a day, a month, a year, a moment in RFC 3339, or an expression such as
// yesterday, last-week or "3 days ago". 7d, 2w, 6mo and 1y mean the whole day that was this
// many days ago, with 7 days a week, 30 a month and 365 a year. 36h and 90m mean the moment
// that was this long ago. A moment lasts a second. Days are days in the time zone of now.
//
// An error matches [oxbow.ErrInvalid] and has the key as its Field.
func TimeFilter(key, date string, now time.Time) (oxbow.Filter, error) {
	from, to, ok := parseSpan(date, now)
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

// earliest and latest are the first and last moment that a filter can name. They are not
// the zero time, which means an open range, and not in a year with five digits, which
// cannot be written.
var (
	earliestTime = time.Time{}.Add(1)
	latestTime   = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).Add(-1)
)

// parseSpan parses a date, and returns its time range from from (inclusive) to to
// (exclusive). A date such as "since march" has no end. Times outside of the years 1 to 9999
// are moved to the nearest bound.
func parseSpan(s string, now time.Time) (from, to time.Time, ok bool) {
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
		to = clampTime(to)
	}
	return clampTime(from), to, true
}

// parseNumericDate parses a year, a month, a day or a moment.
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

// parseAge parses the age of a day, such as 7d, or of a moment, such as 36h.
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

// clampTime limits t to the range from earliest to latest, and returns it in UTC.
func clampTime(t time.Time) time.Time { return text.ClampTime(t, earliestTime, latestTime) }

// beginsWithDigit reports whether the first byte of s is a decimal digit.
func beginsWithDigit(s string) bool {
	return s != "" && s[0] >= '0' && s[0] <= '9'
}

// dayStart returns the first moment in loc with the date of day, which is given as midnight
// UTC. This is not always midnight in loc, because some time zones set their clocks forward
// at midnight. For such a day, time.Date would return a time on the day before.
func dayStart(day time.Time, loc *time.Location) time.Time {
	const around = 36 * time.Hour // no time zone differs more from UTC
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
		// midnight does not exist on this day, so it begins when the clocks were set
		// forward
		_, first = day.Add(-around).In(loc).ZoneBounds()
	}
	return first
}

// hasSameClockTime reports whether a and b, each in its own time zone, show the same date and time
// of day, in seconds.
func hasSameClockTime(a, b time.Time) bool {
	const wall = "2006-01-02 15:04:05"
	return a.Format(wall) == b.Format(wall)
}

func invalidError(field, value, reason string) error {
	return &oxbow.InvalidError{Field: field, Value: value, Reason: reason}
}

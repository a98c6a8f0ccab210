// This file parses numeric dates, and computes the limits of days in a time zone.

package query

import (
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// earliest and latest are the first and last moment that a filter can name. They are not
// the zero time, which means an open range, and not in a year with five digits, which
// cannot be written.
var (
	earliest = time.Time{}.Add(1)
	latest   = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).Add(-1)
)

// parseSpan parses a year, a month, a day or a time. It returns the time range in loc,
// from from (inclusive) to to (exclusive). A time of day covers a second. Times outside
// of the years 1 to 9999 are moved to the nearest bound.
func parseSpan(s string, loc *time.Location) (from, to time.Time, err error) {
	for _, l := range []struct {
		layout    string
		y, m, day int
	}{
		{"2006-01-02", 0, 0, 1}, {"2006-01", 0, 1, 0}, {"2006", 1, 0, 0},
	} {
		if t, err := time.Parse(l.layout, s); err == nil {
			return clamp(startOf(t, loc)), clamp(startOf(t.AddDate(l.y, l.m, l.day), loc)), nil
		}
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return clamp(t), clamp(t.Add(time.Second)), nil
	}
	return time.Time{}, time.Time{}, invalid("date", text.Clip(s, 40),
		`is not a date; write 2026-04-18, 2026-04, 2026, 2026-04-18T09:30:00Z, yesterday, last-week, 7d or "3 days ago"`)
}

// clamp limits t to the range from earliest to latest, and returns it in UTC.
func clamp(t time.Time) time.Time { return text.TimeWithin(t, earliest, latest) }

// startOf returns the first moment in loc with the date of day, which is given as midnight
// UTC. This is not always midnight in loc, because some time zones set their clocks forward
// at midnight. For such a day, time.Date would return a time on the day before.
func startOf(day time.Time, loc *time.Location) time.Time {
	const around = 36 * time.Hour // no time zone differs more from UTC
	var first time.Time
	for _, t := range []time.Time{day.Add(-around), day.Add(around)} {
		_, offset := t.In(loc).Zone()
		t = day.Add(-time.Duration(offset) * time.Second).In(loc)
		if sameWall(t, day) && (first.IsZero() || t.Before(first)) {
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

// sameWall reports whether a and b, each in its own time zone, show the same date and time
// of day, in seconds.
func sameWall(a, b time.Time) bool {
	const wall = "2006-01-02 15:04:05"
	return a.Format(wall) == b.Format(wall)
}

func invalid(field, value, reason string) error {
	return &oxbow.InvalidError{Field: field, Value: value, Reason: reason}
}

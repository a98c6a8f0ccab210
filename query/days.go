// Dates as digits, and days in a time zone.

package query

import (
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// earliest and latest bound the dates of a filter: the zero time means no
// bound, and years of five digits cannot be written.
var (
	earliest = time.Time{}.Add(1)
	latest   = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).Add(-1)
)

// parseSpan reads a date and returns the time it spans, half-open, in loc: a
// year, a month, a day, or a moment (spanning one second). What lies before
// the year 1 or after 9999 is moved there.
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

// clamp moves t between the bounds of dates, and to UTC.
func clamp(t time.Time) time.Time { return text.TimeWithin(t, earliest, latest) }

// startOf returns the first moment that has the date of day, a midnight UTC, in
// loc. That is not always midnight there: some places put their clocks forward
// at that hour, and time.Date then gives an hour of the day before.
func startOf(day time.Time, loc *time.Location) time.Time {
	const around = 36 * time.Hour // no clock is further from UTC
	var first time.Time
	for _, t := range []time.Time{day.Add(-around), day.Add(around)} {
		_, offset := t.In(loc).Zone()
		t = day.Add(-time.Duration(offset) * time.Second).In(loc)
		if sameWall(t, day) && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	if first.IsZero() {
		_, first = day.Add(-around).In(loc).ZoneBounds() // where the clocks were put forward
	}
	return first
}

// sameWall reports whether a and b, each in its own zone, have the same date and
// time of day, to the second.
func sameWall(a, b time.Time) bool {
	const wall = "2006-01-02 15:04:05"
	return a.Format(wall) == b.Format(wall)
}

func invalid(field, value, reason string) error {
	return &oxbow.InvalidError{Field: field, Value: value, Reason: reason}
}

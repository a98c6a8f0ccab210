// This file limits times to a range, such as the range that JSON can represent.

package text

import "time"

// First and last time that JSON can represent.
var (
	firstTime = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	lastTime  = time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
)

// NearestTime returns t in UTC, or the nearest time that JSON can represent.
func NearestTime(t time.Time) time.Time { return TimeWithin(t, firstTime, lastTime) }

// TimeWithin returns t in UTC, limited to the range from first to last.
func TimeWithin(t, first, last time.Time) time.Time {
	switch t = t.UTC(); {
	case t.Before(first):
		return first
	case t.After(last):
		return last
	}
	return t
}

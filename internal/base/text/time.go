// Times within bounds, such as those that JSON has a form for.

package text

import "time"

// The first and the last time that JSON has a form for.
var (
	firstTime = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	lastTime  = time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
)

// NearestTime returns the time, or the nearest one that JSON has a form for, in UTC.
func NearestTime(t time.Time) time.Time { return TimeWithin(t, firstTime, lastTime) }

// TimeWithin returns the time, or the nearest one from first to last, in UTC.
func TimeWithin(t, first, last time.Time) time.Time {
	switch t = t.UTC(); {
	case t.Before(first):
		return first
	case t.After(last):
		return last
	}
	return t
}

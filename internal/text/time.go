// Times that JSON has a form for.

package text

import "time"

// The first and the last of them.
var (
	firstTime = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	lastTime  = time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
)

// NearestTime returns the time, or the nearest one that JSON has a form for, in UTC.
func NearestTime(t time.Time) time.Time {
	switch t = t.UTC(); {
	case t.Before(firstTime):
		return firstTime
	case t.After(lastTime):
		return lastTime
	}
	return t
}

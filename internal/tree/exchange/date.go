// Dates as other programs write them.

package exchange

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

// layouts with a zone of their own come first; the others are read in the
// location of the options. The one with a slash is that of LongMemEval.
var layouts = []string{
	time.RFC3339Nano,
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05 Z07:00",
	"2006-01-02 15:04:05 -0700",
	"2006-01-02T15:04:05.999999999",
	"2006-01-02T15:04",
	"2006-01-02 15:04:05.999999999",
	"2006-01-02 15:04",
	"2006-01-02",
	"2006/01/02 (Mon) 15:04",
	"2006/01/02 15:04:05",
	"2006/01/02 15:04",
	"2006/01/02",
}

// parseDate reads a date or a time and returns it in UTC. One without a zone is
// taken to be in loc, nil meaning UTC.
func parseDate(s string, loc *time.Location) (time.Time, error) {
	if loc == nil {
		loc = time.UTC
	}
	s = strings.TrimSpace(s)
	for _, l := range layouts {
		if t, err := time.ParseInLocation(l, s, loc); err == nil {
			t = t.UTC()
			if y := t.Year(); y < 1 || y > 9999 {
				break
			}
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("date %s is not one of 2026-04-18, 2026-04-18T09:30:00Z or 2026/04/18 09:30", short(s))
}

var dateInName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^0-9])([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[^0-9]|$)`)
})

// nameDate returns the first date within a file name, such as
// 2026-04-18-standup.md, and whether there is one.
func nameDate(name string, loc *time.Location) (time.Time, bool) {
	m := dateInName().FindStringSubmatch(name)
	if m == nil {
		return time.Time{}, false
	}
	t, err := parseDate(m[1], loc)
	return t, err == nil
}

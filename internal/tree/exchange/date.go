// This file parses dates in the formats of other programs.

package exchange

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

// layouts lists first the layouts with a time zone. Layouts without a time zone are read in
// the options' location. The layout with slashes and a weekday is LongMemEval's.
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

// parseDate parses a date or a time and returns it in UTC. A date without a time zone is in loc.
// A nil loc means UTC.
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
	return time.Time{}, fmt.Errorf(
		"date %s is not one of 2026-04-18, 2026-04-18T09:30:00Z or 2026/04/18 09:30",
		quoteShort(s),
	)
}

var dateInName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^0-9])([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[^0-9]|$)`)
})

// nameDate returns the first date in a file name such as 2026-04-18-standup.md. ok is false if the
// name contains no date.
func nameDate(name string, loc *time.Location) (time.Time, bool) {
	m := dateInName().FindStringSubmatch(name)
	if m == nil {
		return time.Time{}, false
	}
	t, err := parseDate(m[1], loc)
	return t, err == nil
}

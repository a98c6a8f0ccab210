// The names of logs, and of their entries.

package coderhapsody

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// The files of a home.
const (
	soulFile   = "SOUL.md"   // who the agent is
	memoryFile = "MEMORY.md" // what it holds for lasting, curated by people and by itself

	logDir     = "memory"
	coveredDir = "memory/covered" // what a digest tells again
	undoneDir  = "memory/undone"  // digests that were taken back; nothing reads them
)

// bucketDirs hold what CodeRhapsody itself compresses sessions into.
var bucketDirs = []string{"memory/bucket-0", "memory/bucket-1"}

var (
	dayName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})(-[A-Za-z0-9]+)*$`)
	})
	weekName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^week-(\d{4})-W(\d{2})$`) })
	monthName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^month-(\d{4})-(\d{2})$`) })
	bucketName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})-(\d+)_(\d{4}-\d{2}-\d{2})-(\d+)$`)
	})
)

// file is what a log's path says of it.
type file struct {
	base     string     // of the names of its entries: the file's name without ending, of a bucket's with the bucket
	kind     oxbow.Kind // of entries that do not say
	from, to time.Time  // the days it is about, half-open
	span     string     // "day", "week", "month" or "bucket"
	covered  bool       // a digest tells it again
}

// fileOf reads the path of a log, and says false when it is none.
func fileOf(p string, zone *time.Location) (file, bool) {
	name, ok := strings.CutSuffix(path.Base(p), ".md")
	if !ok {
		return file{}, false
	}
	f := file{base: name, kind: oxbow.Archive}
	day := func(s string) (time.Time, bool) {
		t, err := time.ParseInLocation("2006-01-02", s, zone)
		return t, err == nil
	}
	switch dir := path.Dir(p); dir {
	case coveredDir:
		f.covered = true
	case logDir:
	default:
		g := bucketName().FindStringSubmatch(name)
		if g == nil {
			return file{}, false
		}
		var ok2 bool
		f.from, ok = day(g[1])
		f.to, ok2 = day(g[3])
		f.to = f.to.AddDate(0, 0, 1)
		f.base, f.span = path.Base(dir)+"/"+name, "bucket"
		return f, ok && ok2 && f.from.Before(f.to)
	}
	if g := dayName().FindStringSubmatch(name); g != nil {
		f.kind, f.span = oxbow.Journal, "day"
		f.from, ok = day(g[1])
		f.to = f.from.AddDate(0, 0, 1)
		return f, ok
	}
	for _, s := range spans {
		if period, ok := strings.CutPrefix(name, s.name+"-"); ok {
			f.from, f.to, ok = s.parse(period, zone)
			if ok {
				f.span = s.name
				return f, true
			}
		}
	}
	return file{}, false
}

// span is a length of time that days are compressed into.
type span struct {
	name string
	// of returns the period that a day is in, and the first days of it and of
	// the next.
	of func(day time.Time) (period string, from, to time.Time)
	// parse is its reverse.
	parse func(period string, zone *time.Location) (from, to time.Time, ok bool)
}

// spans are the spans there are, the shorter first.
var spans = []span{
	{"week", weekOf, func(period string, zone *time.Location) (from, to time.Time, ok bool) {
		g := weekName().FindStringSubmatch("week-" + period)
		if g == nil {
			return from, to, false
		}
		year, _ := strconv.Atoi(g[1])
		week, _ := strconv.Atoi(g[2])
		// January 4th is always in week 1 (ISO 8601).
		jan4 := time.Date(year, 1, 4, 0, 0, 0, 0, zone)
		got, from, to := weekOf(jan4.AddDate(0, 0, 7*(week-1)))
		return from, to, got == period
	}},
	{"month", monthOf, func(period string, zone *time.Location) (from, to time.Time, ok bool) {
		g := monthName().FindStringSubmatch("month-" + period)
		if g == nil {
			return from, to, false
		}
		from, err := time.ParseInLocation("2006-01", period, zone)
		return from, from.AddDate(0, 1, 0), err == nil
	}},
}

// weekOf returns the week of ISO 8601 that a day is in, such as 2026-W16.
func weekOf(day time.Time) (string, time.Time, time.Time) {
	year, week := day.ISOWeek()
	from := time.Date(day.Year(), day.Month(), day.Day()-(int(day.Weekday())+6)%7, 0, 0, 0, 0, day.Location())
	return fmt.Sprintf("%04d-W%02d", year, week), from, from.AddDate(0, 0, 7)
}

// monthOf returns the month that a day is in, such as 2026-04.
func monthOf(day time.Time) (string, time.Time, time.Time) {
	from := time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, day.Location())
	return fmt.Sprintf("%04d-%02d", day.Year(), day.Month()), from, from.AddDate(0, 1, 0)
}

// mid is the day that says which month a file belongs to: of a week, its
// Thursday, as its number goes by the year that has the Thursday.
func (f file) mid() time.Time {
	if f.span == "week" {
		return f.from.AddDate(0, 0, 3)
	}
	return f.from
}

// within reports whether a bucket was made of that session: by day and, where
// the session has one, by number.
func (f file) within(bucket file) bool {
	if f.span != "day" || f.from.Before(bucket.from) || !f.from.Before(bucket.to) {
		return false
	}
	g := bucketName().FindStringSubmatch(path.Base(bucket.base))
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			return 0 // a day's one log has none
		}
		return n
	}
	day := f.from.Format("2006-01-02")
	n := number(strings.TrimPrefix(strings.TrimPrefix(f.base, day), "-"))
	return !(day == g[1] && n != 0 && n < number(g[2])) && !(day == g[3] && n > number(g[4]))
}

// nameIn returns the name of an entry that bears none: the file's for what it
// begins with, unless that is one moment of the day, and else the file's and
// the first line of the content.
func nameIn(base string, first bool, m *matter, content string) string {
	if first && m.time.IsZero() {
		return base
	}
	return base + " " + text.NameOf(content)
}

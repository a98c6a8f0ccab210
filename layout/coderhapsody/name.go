// This file defines the names of logs and their entries.

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

// These are the files and directories of a home.
const (
	soulFile   = "SOUL.md"   // description of the agent: its character and its rules
	memoryFile = "MEMORY.md" // lasting knowledge, curated by people and the agent

	logDir            = "memory"
	summarizedLogsDir = "memory/covered" // logs that were compressed into a digest, a log for a longer period
	undoneDigestsDir  = "memory/undone"  // digests (compressed logs) whose compression was undone; they are never read
)

// sessionSummaryDirs are directories in which CodeRhapsody itself stores summaries of several sessions.
var sessionSummaryDirs = []string{"memory/bucket-0", "memory/bucket-1"}

var (
	dayNamePattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})(-[A-Za-z0-9]+)*$`)
	})
	weekNamePattern = sync.OnceValue(
		func() *regexp.Regexp { return regexp.MustCompile(`^week-(\d{4})-W(\d{2})$`) },
	)
	monthNamePattern = sync.OnceValue(
		func() *regexp.Regexp { return regexp.MustCompile(`^month-(\d{4})-(\d{2})$`) },
	)
	sessionSummaryNamePattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})-(\d+)_(\d{4}-\d{2}-\d{2})-(\d+)$`)
	})
)

// logFile describes a log by its path.
type logFile struct {
	// beginning of generated names for the file's entries. This is the file name without extension. For a file in
	// sessionSummaryDirs, the directory's name and a slash precede the file name.
	entryNamePrefix  string
	defaultKind      oxbow.Kind // kind of entries without a kind in their front matter
	firstDay, endDay time.Time  // days that the log covers (endDay is exclusive)
	// time span of the log: "day", "week", "month", or "bucket" for a file in sessionSummaryDirs
	spanName              string
	isInSummarizedLogsDir bool // the log is in the directory of logs that were compressed into a digest
}

// parseLogPath returns what the path of a log says about the log, such as its days. The second result is false if p is
// not the path of a log. Days begin at midnight in the given time zone.
func parseLogPath(p string, zone *time.Location) (logFile, bool) {
	name, ok := strings.CutSuffix(path.Base(p), ".md")
	if !ok {
		return logFile{}, false
	}
	f := logFile{entryNamePrefix: name, defaultKind: oxbow.Archive}
	day := func(s string) (time.Time, bool) {
		t, err := time.ParseInLocation("2006-01-02", s, zone)
		return t, err == nil
	}
	switch dir := path.Dir(p); dir {
	case summarizedLogsDir:
		f.isInSummarizedLogsDir = true
	case logDir:
	default:
		g := sessionSummaryNamePattern().FindStringSubmatch(name)
		if g == nil {
			return logFile{}, false
		}
		var ok2 bool
		f.firstDay, ok = day(g[1])
		f.endDay, ok2 = day(g[3])
		f.endDay = f.endDay.AddDate(0, 0, 1)
		f.entryNamePrefix, f.spanName = path.Base(dir)+"/"+name, "bucket"
		return f, ok && ok2 && f.firstDay.Before(f.endDay)
	}
	if g := dayNamePattern().FindStringSubmatch(name); g != nil {
		f.defaultKind, f.spanName = oxbow.Journal, "day"
		f.firstDay, ok = day(g[1])
		f.endDay = f.firstDay.AddDate(0, 0, 1)
		return f, ok
	}
	for _, s := range compressionPeriodKinds {
		if period, ok := strings.CutPrefix(name, s.periodKindName+"-"); ok {
			f.firstDay, f.endDay, ok = s.parsePeriodRange(period, zone)
			if ok {
				f.spanName = s.periodKindName
				return f, true
			}
		}
	}
	return logFile{}, false
}

// compressionPeriodKind is a kind of period, such as a week. Compression replaces the entries of all days in a period
// by a single shorter entry.
type compressionPeriodKind struct {
	periodKindName string
	// periodOfDay returns the period that contains a day, and the first days of this period and the next.
	periodOfDay func(day time.Time) (period string, from, to time.Time)
	// parsePeriodRange returns the first day of a period, such as 2026-W16, and the first day of the next period. It
	// returns false if the text is not in the form in which periodOfDay writes periods.
	parsePeriodRange func(period string, zone *time.Location) (from, to time.Time, ok bool)
}

// compressionPeriodKinds lists the kinds of periods whose logs can be compressed to a digest, the shorter first.
var compressionPeriodKinds = []compressionPeriodKind{
	{"week", isoWeek, func(period string, zone *time.Location) (from, to time.Time, ok bool) {
		g := weekNamePattern().FindStringSubmatch("week-" + period)
		if g == nil {
			return from, to, false
		}
		year, _ := strconv.Atoi(g[1])
		week, _ := strconv.Atoi(g[2])
		// January 4th is always in week 1 (ISO 8601).
		jan4 := time.Date(year, 1, 4, 0, 0, 0, 0, zone)
		got, from, to := isoWeek(jan4.AddDate(0, 0, 7*(week-1)))
		return from, to, got == period
	}},
	{"month", monthOfDay, func(period string, zone *time.Location) (from, to time.Time, ok bool) {
		g := monthNamePattern().FindStringSubmatch("month-" + period)
		if g == nil {
			return from, to, false
		}
		from, err := time.ParseInLocation("2006-01", period, zone)
		return from, from.AddDate(0, 1, 0), err == nil
	}},
}

// isoWeek returns three results for the ISO 8601 week that contains day. The first result is the name of the week, such
// as 2026-W16. The second result is the first day of the week. The third result is the first day of the next week.
func isoWeek(day time.Time) (string, time.Time, time.Time) {
	year, week := day.ISOWeek()
	from := time.Date(day.Year(), day.Month(), day.Day()-(int(day.Weekday())+6)%7, 0, 0, 0, 0, day.Location())
	return fmt.Sprintf("%04d-W%02d", year, week), from, from.AddDate(0, 0, 7)
}

// monthOfDay returns the month that contains a day, in the form 2026-04. It also returns the beginnings of this month
// and the next month.
func monthOfDay(day time.Time) (string, time.Time, time.Time) {
	from := time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, day.Location())
	return fmt.Sprintf("%04d-%02d", day.Year(), day.Month()), from, from.AddDate(0, 1, 0)
}

// representativeDay returns a day that determines to which month a log file belongs. For a week's log, this is the
// week's Thursday, because ISO 8601 assigns a week to the year of its Thursday. For other logs, it is the first day.
func (f logFile) representativeDay() time.Time {
	if f.spanName == "week" {
		return f.firstDay.AddDate(0, 0, 3)
	}
	return f.firstDay
}

// isSessionInBucket reports whether CodeRhapsody has summarized the session of the log f in the file bucket. A bucket
// is a file with summaries of the sessions in a range of days, and the sessions of a day are numbered. The bucket's
// name contains the first and the last day of the range, with the number of the first and the last session.
//
// The log f must cover a single day that is in the range. If the day is the first day of the range, the number of f
// must not be less than the bucket's first session number. A log without a number is accepted on this day. If the day
// is the last day of the range, the number of f must not be greater than the bucket's last session number.
func (f logFile) isSessionInBucket(bucket logFile) bool {
	isInRange := !f.firstDay.Before(bucket.firstDay) && f.firstDay.Before(bucket.endDay)
	if f.spanName != "day" || !isInRange {
		return false
	}
	g := sessionSummaryNamePattern().FindStringSubmatch(path.Base(bucket.entryNamePrefix))
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			return 0 // the name of a day's only log contains no number
		}
		return n
	}
	day := f.firstDay.Format("2006-01-02")
	n := number(strings.TrimPrefix(strings.TrimPrefix(f.entryNamePrefix, day), "-"))
	return !(day == g[1] && n != 0 && n < number(g[2])) && !(day == g[3] && n > number(g[4]))
}

// generateName returns a name for an entry without one. The first entry in a file gets the name of the file, unless
// the entry has a time. Other entries get the file's name and the first line of their content.
func generateName(fileStem string, isFirstEntry bool, m *frontMatterValues, content string) string {
	if isFirstEntry && m.time.IsZero() {
		return fileStem
	}
	return fileStem + " " + text.DeriveName(content)
}

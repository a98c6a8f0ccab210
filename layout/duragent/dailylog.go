// This file parses and writes the log of a day, which is a file such as
//
//	# 2026-02-18
//
//	## 15:46
//
//	What was learned, as it was given.
//
//	## 15:46
//
//	A second entry of the same minute.
//
// A line "## HH:MM" begins an entry. Other headings are part of their entry. The first line is the day's line and is
// written once. Some versions of duragent write the day's line before each entry. Such a line is not part of an entry
// if the heading of an entry follows it, or if the file ends after it. The text between the first line and the first
// entry is called the opening of the day.
//
// Content lines that look like a day's line or an entry's heading are escaped by a backslash, which Markdown does not
// show. A line that already begins with backslashes gets one more backslash. Parsing removes the added backslash.
// Therefore each content is read back unchanged and cannot begin another entry.

package duragent

import (
	"strconv"
	"strings"
	"time"
)

const (
	dayFormat    = "2006-01-02"
	minuteFormat = "15:04"
)

// byteOrderMark is a mark with which some editors begin a file. It does not belong to the content.
const byteOrderMark = "\ufeff"

// dayEntry is an entry in the log of one day.
type dayEntry struct {
	entryTime              string // entry time, such as "15:46" ("" for the opening of the day)
	content                string
	startOffset, endOffset int // byte range in the file
}

// textLine is a line without the line end, with its byte offset and the next line's byte offset.
type textLine struct {
	lineText         string
	start, nextStart int
}

func splitLines(text string) []textLine {
	var ls []textLine
	at := 0
	for s := range strings.Lines(text) {
		ls = append(ls, textLine{strings.TrimRight(s, "\r\n"), at, at + len(s)})
		at += len(s)
	}
	return ls
}

// parseMoment returns the time in a line such as "## 15:46". The second result is false for any other line.
func parseMoment(s string) (string, bool) {
	m, ok := strings.CutPrefix(strings.TrimRight(s, " \t"), "## ")
	if !ok || len(m) != len(minuteFormat) {
		return "", false
	}
	_, err := time.Parse(minuteFormat, m)
	return m, err == nil
}

// parseDate returns the date in a line such as "# 2026-02-18". The second result is false for any other line.
func parseDate(s string) (string, bool) {
	d, ok := strings.CutPrefix(strings.TrimRight(s, " \t"), "# ")
	return d, ok && isDate(d)
}

func isDate(s string) bool {
	if len(s) != len(dayFormat) {
		return false
	}
	_, err := time.Parse(dayFormat, s)
	return err == nil
}

// parseDay returns the entries in the text of a day's log, in file order. date is the day, such as "2026-02-18". Text
// before the first heading with a time, such as "## 15:46", is an entry without a time.
func parseDay(date, text string) []dayEntry {
	ls := splitLines(text)
	if len(ls) > 0 {
		ls[0].lineText = strings.TrimPrefix(ls[0].lineText, byteOrderMark)
	}
	var parts []dayEntry
	open := dayEntry{}      // entry that is being read
	first := true           // The entry is the first text of the file, which has no heading.
	body := 0               // byte offset of the entry's content
	flush := func(at int) { // flush adds the entry that is being read to parts. The entry ends before byte offset at.
		raw := text[body:at]
		if first {
			open.content = strings.TrimSpace(strings.TrimPrefix(raw, byteOrderMark))
			if open.content != "" {
				open.content, open.endOffset = unescapeLines(open.content), at
				parts = append(parts, open)
			}
			return
		}
		open.endOffset = at
		if at < len(text) && !beginsWithDateLine(date, text[at:]) {
			raw = cutTrailingNewline(raw) // The empty line before the next heading does not belong to the content.
		}
		open.content = unescapeLines(cutTrailingNewline(cutLeadingNewline(raw)))
		parts = append(parts, open)
	}
	for i := 0; i < len(ls); i++ {
		at, j := ls[i].start, i
		if d, ok := parseDate(ls[i].lineText); ok && d == date {
			if first && strings.TrimSpace(strings.TrimPrefix(text[body:at], byteOrderMark)) == "" {
				// This line, such as "# 2026-02-18", begins the file and is not part of an entry.
				body, open.startOffset = ls[i].nextStart, ls[i].nextStart
				continue
			}
			for j++; j < len(ls) && strings.TrimSpace(ls[j].lineText) == ""; j++ {
			}
		}
		if j == len(ls) {
			flush(at) // The file ends with a line such as "# 2026-02-18", which is not part of an entry.
			return parts
		}
		m, ok := parseMoment(ls[j].lineText)
		if !ok {
			continue
		}
		flush(at)
		open, first = dayEntry{entryTime: m, startOffset: ls[j].start}, false
		body, i = ls[j].nextStart, j
	}
	flush(len(text))
	return parts
}

// beginsWithDateLine reports whether a text begins with the heading of the day date, such as "# 2026-02-18".
func beginsWithDateLine(date, text string) bool {
	s, _, _ := strings.Cut(text, "\n")
	d, ok := parseDate(strings.TrimRight(s, "\r"))
	return ok && d == date
}

func cutLeadingNewline(s string) string {
	if r, ok := strings.CutPrefix(s, "\r\n"); ok {
		return r
	}
	return strings.TrimPrefix(s, "\n")
}

func cutTrailingNewline(s string) string {
	if r, ok := strings.CutSuffix(s, "\r\n"); ok {
		return r
	}
	return strings.TrimSuffix(s, "\n")
}

// newDayLog returns the text of a new log file for a day. The text consists of a heading with the date, and of content.
// The argument content is the text of the entry that comes before the day's first entry with a time.
func newDayLog(date, content string) string {
	return "# " + date + "\n\n" + escapeLines(content) + "\n"
}

// appendEntryToDay appends an entry to text, the text of a day's log file, and returns the result. timeOfDay is the
// entry's time, such as 15:46. The existing text does not change, and the new lines end like its lines.
func appendEntryToDay(date, text, timeOfDay, content string) string {
	nl := "\n"
	if strings.Contains(text, "\r\n") {
		nl = "\r\n"
	}
	begun := strings.TrimPrefix(text, byteOrderMark)
	if begun != "" && !strings.HasSuffix(text, "\n") {
		text += nl
	}
	if strings.TrimSpace(begun) == "" {
		text += "# " + date + nl
	}
	return text + nl + "## " + timeOfDay + nl + nl + escapeLines(content) + nl
}

// parseDayOrEntryHeading reports whether a line looks like the heading of a day ("# 2026-02-18") or of an entry ("##
// 15:46"), if backslashes at its start are ignored. It also returns the number of these backslashes.
func parseDayOrEntryHeading(s string) (backslashes int, isHeading bool) {
	rest := strings.TrimLeft(s, `\`)
	_, moment := parseMoment(rest)
	_, date := parseDate(rest)
	return len(s) - len(rest), moment || date
}

func escapeLines(content string) string {
	return mapLines(content, func(s string) string {
		if _, ok := parseDayOrEntryHeading(s); ok {
			return `\` + s
		}
		return s
	})
}

func unescapeLines(content string) string {
	return mapLines(content, func(s string) string {
		if n, ok := parseDayOrEntryHeading(s); ok && n > 0 {
			return s[1:]
		}
		return s
	})
}

func mapLines(text string, fn func(string) string) string {
	if !strings.Contains(text, "# ") {
		return text
	}
	var b strings.Builder
	for s := range strings.Lines(text) {
		core := strings.TrimRight(s, "\r\n")
		b.WriteString(fn(core))
		b.WriteString(s[len(core):])
	}
	return b.String()
}

const dayOpeningSuffix = " (opening)"

// dayEntryName returns the name of an entry in the log of a day. timeOfDay is the minute of the entry, and entryNumber
// is the number of the entry among the entries in this minute, from 1. If timeOfDay is "", the entry is the opening of
// the day, which has no time, and entryNumber is ignored.
func dayEntryName(date, timeOfDay string, entryNumber int) string {
	switch {
	case timeOfDay == "":
		return date + dayOpeningSuffix
	case entryNumber > 1:
		return date + " " + timeOfDay + " (" + strconv.Itoa(entryNumber) + ")"
	}
	return date + " " + timeOfDay
}

// parseDayEntryName splits a name that dayEntryName made into the date, the time and the number. For example,
// "2026-02-18 15:46 (2)" has the number 2. A name without a number has entryNumber 1. The text before the first time in
// a day's log is an entry too. The name of this entry has no time, so timeOfDay is "". If dayEntryName cannot have made
// the name, ok is false.
func parseDayEntryName(name string) (date, timeOfDay string, entryNumber int, ok bool) {
	if len(name) < len(dayFormat) || !isDate(name[:len(dayFormat)]) {
		return "", "", 0, false
	}
	date, rest := name[:len(dayFormat)], name[len(dayFormat):]
	if rest == dayOpeningSuffix {
		return date, "", 1, true
	}
	timeOfDay, count, many := strings.Cut(strings.TrimPrefix(rest, " "), " ")
	entryNumber = 1
	if many {
		var err error
		entryNumber, err = strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(count, "("), ")"))
		if err != nil {
			return "", "", 0, false
		}
	}
	_, isMoment := parseMoment("## " + timeOfDay)
	isPart := isMoment && entryNumber >= 1
	if !isPart || dayEntryName(date, timeOfDay, entryNumber) != name {
		return "", "", 0, false
	}
	return date, timeOfDay, entryNumber, true
}

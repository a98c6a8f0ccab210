// This file formats the answer of the tool "recall" as duragent does. The answer contains the facts that all agents
// share (the world), the agent's MEMORY.md and the agent's daily logs.

package duragent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// sectionSeparator is put between the sections of the text that the tool "recall" returns. It is also put between the
// days in the last section of this text.
const sectionSeparator = "\n\n---\n\n"

// dateSpan is a range of dates, including the first and the last. An empty date means that the range is open on this
// side.
type dateSpan struct{ firstDate, lastDate string }

func (s dateSpan) hasDate(date string) bool {
	return (s.firstDate == "" || date >= s.firstDate) && (s.lastDate == "" || date <= s.lastDate)
}

// maxPastDays is the maximum number of days to count back. It exceeds the number of days between any
// two dates with four-digit years.
const maxPastDays = 3_000_000

// lastDays returns the last n days, including today. For n = 0, the span contains no day.
func lastDays(now time.Time, n int) dateSpan {
	if n > maxPastDays {
		return dateSpan{"", now.Format(dayFormat)}
	}
	from := now.AddDate(0, 0, 1-n)
	if from.Year() < 1 {
		return dateSpan{"", now.Format(dayFormat)}
	}
	return dateSpan{from.Format(dayFormat), now.Format(dayFormat)}
}

// renderRecall formats the entries as the text that recall returns: first the facts, by file name, then the note
// MEMORY, then the logs of the days in the date range, newest first. A section without entries is left out. If there
// are no entries, the result is "".
func renderRecall(entries []oxbow.Entry, days dateSpan) string {
	var facts, journal []oxbow.Entry
	var sections []string
	memory := ""
	for _, e := range entries {
		switch {
		case e.Kind == oxbow.Journal:
			journal = append(journal, e)
		case e.Name == curatedNoteName:
			memory = e.Content
		default:
			facts = append(facts, e)
		}
	}
	file := func(e oxbow.Entry) string { return factFileStem(e.Name) + ".md" }
	slices.SortFunc(facts, func(a, b oxbow.Entry) int { return cmp.Compare(file(a), file(b)) })
	var blocks []string
	for _, e := range facts {
		blocks = append(blocks, "## "+factFileStem(e.Name)+"\n\n"+e.Content)
	}
	if len(blocks) > 0 {
		sections = append(sections, "# World Knowledge\n\n"+strings.Join(blocks, "\n\n"))
	}
	if memory != "" {
		sections = append(sections, "# Your Memory\n\n"+memory)
	}
	if logs := renderDays(journal, days); len(logs) > 0 {
		sections = append(sections, "# Recent Experiences\n\n"+strings.Join(logs, sectionSeparator))
	}
	return strings.Join(sections, sectionSeparator)
}

// renderDays formats the logs of the days in a date range, newest first. Each log looks like the text of the day's
// file.
func renderDays(journal []oxbow.Entry, days dateSpan) []string {
	byDay := map[string][]oxbow.Entry{}
	for _, e := range journal {
		if date, _, _, ok := parseDayEntryName(e.Name); ok && days.hasDate(date) {
			byDay[date] = append(byDay[date], e)
		}
	}
	var dates []string
	for d := range byDay {
		dates = append(dates, d)
	}
	slices.Sort(dates)
	slices.Reverse(dates)
	var logs []string
	for _, d := range dates {
		slices.SortStableFunc(byDay[d], func(a, b oxbow.Entry) int {
			_, am, an, _ := parseDayEntryName(a.Name)
			_, bm, bn, _ := parseDayEntryName(b.Name)
			return cmp.Or(cmp.Compare(am, bm), cmp.Compare(an, bn))
		})
		log := ""
		for _, e := range byDay[d] {
			if _, m, _, _ := parseDayEntryName(e.Name); m == "" {
				log = "# " + d + "\n\n" + escapeLines(e.Content) + "\n"
			} else {
				log = appendEntryToDay(d, log, m, e.Content)
			}
		}
		logs = append(logs, log)
	}
	return logs
}

// isShownWhole reports whether renderHits shows the entry's content without shortening it.
func isShownWhole(e oxbow.Entry) bool {
	return len(strings.TrimSpace(e.Content)) <= maxWholeContentBytes
}

// A content of at most maxWholeContentBytes bytes is shown as a whole.
const maxWholeContentBytes = 1200

// renderHits formats the results of a search, the best first. Each result contains the name, the part of the memory,
// the date and the content of an entry. Long contents are shortened to a part that contains words of the query. The
// content is written as a quotation, so that the agent treats it as data and not as instructions.
func renderHits(query string, hits []oxbow.Hit, zone *time.Location) string {
	if len(hits) == 0 {
		return "No memories found for: " + query
	}
	var b strings.Builder
	for i, h := range hits {
		if i > 0 {
			b.WriteString("\n\n")
		}
		when := h.Entry.Updated
		if h.Entry.Kind == oxbow.Journal {
			when = h.Entry.Created
		}
		fmt.Fprintf(
			&b,
			"%d. %s (%s, %s)\n",
			i+1,
			h.Entry.Name,
			describeMemoryPart(h.Entry),
			when.In(zone).Format(dayFormat),
		)
		content := strings.TrimSpace(h.Entry.Content)
		if !isShownWhole(h.Entry) {
			content = text.Snippet(content, strings.Fields(strings.ToLower(query)), maxWholeContentBytes/2)
		}
		for s := range strings.Lines(content) {
			b.WriteString("\n> " + strings.TrimRight(s, "\r\n"))
		}
	}
	return b.String()
}

// describeMemoryPart returns a text for the model that says in which part of the memory an entry is.
func describeMemoryPart(e oxbow.Entry) string {
	switch {
	case e.Kind == oxbow.Journal:
		return "daily log"
	case e.Name == curatedNoteName:
		return "your memory"
	}
	return "world knowledge"
}

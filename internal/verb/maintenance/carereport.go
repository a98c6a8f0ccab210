// This file describes the answers of the verbs that compact, recover and measure a memory.

package maintenance

import (
	"cmp"
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// countWords returns a number and its noun as a value of a report.
func countWords(n int, one, many string) report.Words { return report.Words(text.Count(n, one, many)) }

// size returns a number of bytes in the form for a report.
func size(bytes int64) report.Words { return report.Words(text.FormatBytes(bytes)) }

// DroppedCounts returns how many changes and entry versions a compaction drops.
func (o CompactOut) DroppedCounts() string {
	return text.Count(o.Changes, "change", "changes") + " and " + text.Count(o.Versions, "version", "versions")
}

// Report tells what was, or would be, dropped.
func (o CompactOut) Report() (r report.Report) {
	if o.Changes == 0 && o.Versions == 0 {
		r.Linef("there is no history from before %s to drop; nothing was changed", report.Moment(o.Before))
		return r
	}
	r.Linef("%s %s from before %s: %s, now %s", report.Did(o.DryRun, "dropped", "would drop"),
		report.Words(o.DroppedCounts()), report.Moment(o.Before), size(o.BytesBefore), size(o.BytesAfter))
	if o.DryRun {
		r.Notef("nothing was changed; what is dropped cannot be brought back by oxbow undo")
	} else {
		r.Notef("what was dropped cannot be brought back; oxbow undo reaches what was kept")
	}
	return r
}

// lostShown is the maximum number of ranges that are listed for lost changes.
const lostShown = 20

// Report tells which data was saved, which was lost, and how to continue.
func (o RecoverOut) Report() (r report.Report) {
	if o.Sound && o.From == "" {
		r.Linef("%s is sound: there is nothing to recover", o.Store)
		r.Notef("oxbow backup FILE makes a copy")
		return r
	}
	r.Linef(
		"saved %s, from %s, in %s",
		countWords(o.Entries, "entry", "entries"),
		countWords(o.Changes, "change", "changes"),
		o.Out,
	)
	o.reportLost(&r)
	if o.Out != o.Store {
		r.Notef("%s was not changed", o.Store)
		r.Notef("to look at what was saved: oxbow --home %s list", report.Words(text.ShellQuote(o.Out)))
		if o.From == "" {
			r.Notef("to go on with it: oxbow recover --replace")
		} else {
			r.Notef("to go on with it, give --replace in the place of --out")
		}
		return r
	}
	if o.Damaged != "" { // otherwise there was no archive
		was := report.Words("damaged file")
		if o.From != "" {
			was = "file that was there"
		}
		r.Linef("the %s is kept as %s", was, o.Damaged)
		r.Notef("to undo this, before anything new is remembered: mv %s %s", report.Words(text.ShellQuote(o.Damaged)),
			report.Words(text.ShellQuote(o.Store)))
	}
	r.Notef("restart the programs that had the memory open")
	return r
}

// reportLost adds the changes that could not be saved.
func (o RecoverOut) reportLost(r *report.Report) {
	switch {
	case o.Sound && len(o.Lost) > 0:
		r.Linef("not in the backup:")
	case o.Sound:
		r.Linef("the backup is sound")
	case len(o.Lost) > 0 || o.Base:
		r.Linef("lost:")
	case o.BadBytes > 0:
		r.Linef("no change is known to be lost")
	default:
		r.Linef("no change was lost")
	}
	for _, l := range o.Lost[:min(len(o.Lost), lostShown)] {
		if l[0] == l[1] {
			r.Linef("  change %d", l[0])
		} else {
			r.Linef("  changes %d to %d", l[0], l[1])
		}
	}
	if n := len(o.Lost) - lostShown; n > 0 {
		r.Linef("  and %d stretches more: --json lists them", n)
	}
	if o.Base {
		r.Linef("  entries that a compaction had kept, as they were before change %d", o.First)
	}
	if o.BadBytes > 0 {
		r.Linef("%s of the file could not be read", size(o.BadBytes))
	}
	if o.Header {
		r.Linef("the header was damaged; it was worked out from the rest")
	}
}

// Report tells which missing changes were given up, and that their numbers are used again.
func (o AcceptOut) Report() (r report.Report) {
	if !o.Accepted {
		r.Linef("%s did not go back: there is nothing to accept", o.Store)
		return r
	}
	r.Linef("%s goes on from change %d", o.Store, o.Last)
	first, last := o.Last+1, o.Last+o.GivenUp
	lost := report.Sentencef("changes %d to %d are given up, and their numbers are", first, last)
	if first == last {
		lost = report.Sentencef("change %d is given up, and its number is", first)
	}
	r.Notef("%s used again; restart the programs that had the memory open", lost)
	return r
}

// Report shows how much the memory contains.
func (o StatsOut) Report() (r report.Report) {
	fields := report.Fields{Cells: []report.Cell{
		{Name: "store", Value: o.Store},
		{Name: "entries", Value: report.Sentencef("%d, %s of text", o.Entries, size(o.Content))},
		{Name: "kinds", Value: mostFrequent(o.Kinds, 6)},
		{Name: "projects", Value: mostFrequent(o.Projects, 8)},
		{Name: "tags", Value: mostFrequent(o.Tags, 12)},
	}}
	add := func(name string, value any) {
		fields.Cells = append(fields.Cells, report.Cell{Name: name, Value: value})
	}
	if o.Entries > 0 {
		add("created", report.Sentencef("%s to %s", report.Moment(o.Oldest), report.Moment(o.Newest)))
	}
	if o.Waiting > 0 {
		add("inbox", countWords(o.Waiting, "proposal waits", "proposals wait")+"; oxbow inbox shows what")
	}
	switch {
	case !o.Own:
		add("size", size(o.Bytes))
	case o.Last == 0:
		add("changes", report.Words("none yet"))
	default:
		add("changes", report.Sentencef("%d to %d in the log", o.First, o.Last))
	}
	if o.Own {
		add("file", report.Sentencef("%s, %s of them used", size(o.Bytes), size(o.Used)))
	}
	r.Add(fields)
	return r
}

// mostFrequent returns the n words with the highest counts, and then the number of remaining words. It returns nil if
// counts is empty.
func mostFrequent(counts map[string]int, n int) any {
	all := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	var list any
	for i, word := range all {
		next := report.Sentencef("%s %d", report.Text(word), counts[word])
		if i == n {
			next = report.Sentencef("and %d more", len(all)-n)
		}
		if list == nil {
			list = next
		} else {
			list = report.Sentencef("%s, %s", list, next)
		}
		if i == n {
			break
		}
	}
	return list
}

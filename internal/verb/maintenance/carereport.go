// This file writes the reports of the verbs compact, recover and stats.

package maintenance

import (
	"cmp"
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// countWithNoun returns a number with its noun, for a report.
func countWithNoun(n int, singular, plural string) report.OxbowText {
	return report.OxbowText(text.FormatCount(n, singular, plural))
}

// sizeText returns a number of bytes as text for a report.
func sizeText(bytes int64) report.OxbowText { return report.OxbowText(text.FormatBytes(bytes)) }

// DescribeDroppedHistory returns a text that says how many changes and versions are dropped.
func (o CompactOut) DescribeDroppedHistory() string {
	return text.FormatCount(
		o.DroppedChangeCount,
		"change",
		"changes",
	) + " and " + text.FormatCount(
		o.DroppedVersionCount,
		"version",
		"versions",
	)
}

// Report describes the dropped data, or in a dry run the data that would be dropped.
func (o CompactOut) Report() (r report.Report) {
	if o.DroppedChangeCount == 0 && o.DroppedVersionCount == 0 {
		r.AddLinef(
			"there is no history from before %s to drop; nothing was changed",
			report.ParseTimeOrText(o.CutoffTime),
		)
		return r
	}
	r.AddLinef(
		"%s %s from before %s: %s, now %s",
		report.EffectVerb(o.DryRun, "dropped", "would drop"),
		report.OxbowText(
			o.DescribeDroppedHistory(),
		),
		report.ParseTimeOrText(o.CutoffTime),
		sizeText(o.BytesBefore),
		sizeText(o.BytesAfter),
	)
	if o.DryRun {
		r.AddNotef("nothing was changed; what is dropped cannot be brought back by oxbow undo")
	} else {
		r.AddNotef("what was dropped cannot be brought back; oxbow undo reaches what was kept")
	}
	return r
}

// maxListedChangeRanges is the maximum number of listed ranges with lost changes.
const maxListedChangeRanges = 20

// Report describes the saved data, the lost data, and the next steps.
func (o RecoverOut) Report() (r report.Report) {
	if o.IsStoreSound && o.SourceBackupPath == "" {
		r.AddLinef("%s is sound: there is nothing to recover", o.Store)
		r.AddNotef("oxbow backup FILE makes a copy")
		return r
	}
	r.AddLinef(
		"saved %s, from %s, in %s",
		countWithNoun(o.EntryCount, "entry", "entries"),
		countWithNoun(o.ReadChangeCount, "change", "changes"),
		o.OutputFile,
	)
	o.addLostChanges(&r)
	if o.OutputFile != o.Store {
		r.AddNotef("%s was not changed", o.Store)
		r.AddNotef("to look at what was saved: oxbow --home %s list", report.OxbowText(text.ShellQuote(o.OutputFile)))
		if o.SourceBackupPath == "" {
			r.AddNotef("to go on with it: oxbow recover --replace")
		} else {
			r.AddNotef("to go on with it, give --replace in the place of --out")
		}
		return r
	}
	// A file existed before and was kept under another name. Without a backup as the source, it is the damaged store.
	if o.DamagedFile != "" {
		was := report.OxbowText("damaged file")
		if o.SourceBackupPath != "" {
			was = "file that was there"
		}
		r.AddLinef("the %s is kept as %s", was, o.DamagedFile)
		r.AddNotef(
			"to undo this, before anything new is remembered: mv %s %s",
			report.OxbowText(text.ShellQuote(o.DamagedFile)),
			report.OxbowText(text.ShellQuote(o.Store)),
		)
	}
	r.AddNotef("restart the programs that had the memory open")
	return r
}

// addLostChanges adds to the report r what was lost. The report contains a verdict, the ranges of lost changes, the
// number of bytes that could not be read, and whether the header was damaged.
func (o RecoverOut) addLostChanges(r *report.Report) {
	switch {
	case o.IsStoreSound && len(o.LostChangeRanges) > 0:
		r.AddLinef("not in the backup:")
	case o.IsStoreSound:
		r.AddLinef("the backup is sound")
	case len(o.LostChangeRanges) > 0 || o.IsCompactedPartDamaged:
		r.AddLinef("lost:")
	case o.BadBytes > 0:
		r.AddLinef("no change is known to be lost")
	default:
		r.AddLinef("no change was lost")
	}
	for _, l := range o.LostChangeRanges[:min(len(o.LostChangeRanges), maxListedChangeRanges)] {
		if l[0] == l[1] {
			r.AddLinef("  change %d", l[0])
		} else {
			r.AddLinef("  changes %d to %d", l[0], l[1])
		}
	}
	if n := len(o.LostChangeRanges) - maxListedChangeRanges; n > 0 {
		r.AddLinef("  and %d stretches more: --json lists them", n)
	}
	if o.IsCompactedPartDamaged {
		r.AddLinef("  entries that a compaction had kept, as they were before change %d", o.FirstSeq)
	}
	if o.BadBytes > 0 {
		r.AddLinef("%s of the file could not be read", sizeText(o.BadBytes))
	}
	if o.HeaderDamaged {
		r.AddLinef("the header was damaged; it was worked out from the rest")
	}
}

// Report describes the result of accepting that a store has lost changes. If the loss was accepted, the report says
// which changes are given up, and that new changes will use their numbers. Otherwise it says that there is nothing to
// accept.
func (o AcceptRollbackOut) Report() (r report.Report) {
	if !o.Accepted {
		r.AddLinef("%s did not go back: there is nothing to accept", o.StoreFilePath)
		return r
	}
	r.AddLinef("%s goes on from change %d", o.StoreFilePath, o.LastChangeNumber)
	first, last := o.LastChangeNumber+1, o.LastChangeNumber+o.LostChanges
	lost := report.Sentencef("changes %d to %d are given up, and their numbers are", first, last)
	if first == last {
		lost = report.Sentencef("change %d is given up, and its number is", first)
	}
	r.AddNotef("%s used again; restart the programs that had the memory open", lost)
	return r
}

// Report describes the size and the content of the memory.
func (o StatsOut) Report() (r report.Report) {
	fields := report.Fields{Cells: []report.Cell{
		{Name: "store", Value: o.Store},
		{Name: "entries", Value: report.Sentencef("%d, %s of text", o.Entries, sizeText(o.ContentBytes))},
		{Name: "kinds", Value: mostFrequentWords(o.EntriesPerKind, 6)},
		{Name: "projects", Value: mostFrequentWords(o.Projects, 8)},
		{Name: "tags", Value: mostFrequentWords(o.Tags, 12)},
	}}
	add := func(name string, value any) {
		fields.Cells = append(fields.Cells, report.Cell{Name: name, Value: value})
	}
	if o.Entries > 0 {
		add(
			"created",
			report.Sentencef(
				"%s to %s",
				report.ParseTimeOrText(o.OldestEntryTime),
				report.ParseTimeOrText(o.NewestEntryTime),
			),
		)
	}
	if o.WaitingProposals > 0 {
		add("inbox", countWithNoun(o.WaitingProposals, "proposal waits", "proposals wait")+"; oxbow inbox shows what")
	}
	switch {
	case !o.HasOxbowLayout:
		add("size", sizeText(o.Bytes))
	case o.LastSeq == 0:
		add("changes", report.OxbowText("none yet"))
	default:
		add("changes", report.Sentencef("%d to %d in the log", o.FirstSeq, o.LastSeq))
	}
	if o.HasOxbowLayout {
		add("file", report.Sentencef("%s, %s of them used", sizeText(o.Bytes), sizeText(o.UsedBytes)))
	}
	r.Add(fields)
	return r
}

// mostFrequentWords returns the n words with the highest counts and the number of remaining words, as a report value.
// Without words, it returns nil.
func mostFrequentWords(counts map[string]int, n int) any {
	all := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	var list any
	for i, word := range all {
		next := report.Sentencef("%s %d", report.QuotedText(word), counts[word])
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

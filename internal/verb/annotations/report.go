// This file writes the reports about the annotations of a repository.

package annotations

import (
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// countWithNoun returns a number with its noun, for a report.
func countWithNoun(n int, singularNoun, pluralNoun string) report.OxbowText {
	return report.OxbowText(text.FormatCount(n, singularNoun, pluralNoun))
}

// addSkippedNotes adds a note for each file whose annotations were not changed.
func addSkippedNotes(r *report.Report, skipped []SkippedFile) {
	for _, s := range skipped {
		r.AddNotef("%s was left as it is: %s", s.File, s.Reason)
	}
}

// Report counts the annotations by placement and author.
func (o AnnotationStatsOut) Report() (r report.Report) {
	var cells []report.Cell
	add := func(name string, value any) { cells = append(cells, report.Cell{Name: name, Value: value}) }
	add("annotations", report.Sentencef("%d of %s, %s", o.AnnotationCount, countWithNoun(o.FileCount, "file", "files"),
		report.OxbowText(text.FormatBytes(o.Bytes))))
	for _, p := range allPlacingKinds {
		if n := o.CountByPlacing[string(p)]; n > 0 {
			add(string(p), n)
		}
	}
	if o.ArchivedCount > 0 {
		add("archived", o.ArchivedCount)
	}
	for _, by := range slices.Sorted(maps.Keys(o.CountByActor)) {
		if by != "unknown" {
			add("by "+by, o.CountByActor[by])
		}
	}
	if o.AnnotationCount > 0 {
		add("written", report.Sentencef("%s to %s, half of them by %s", report.ParseTimeOrText(o.OldestTime),
			report.ParseTimeOrText(o.NewestTime), report.ParseTimeOrText(o.MedianTime)))
	}
	r.Add(report.Fields{Cells: cells})
	if n := o.CountByPlacing[string(annotate.NotPlaced)]; n > 0 {
		r.AddNotef("%s nowhere in the working tree; oxbow annotate gc archives what HEAD lacks, too",
			countWithNoun(n, "stands", "stand"))
	}
	if o.DamagedLineCount > 0 {
		r.AddNotef(
			"%s of sidecars cannot be read; oxbow check says which",
			countWithNoun(o.DamagedLineCount, "line", "lines"),
		)
	}
	addSkippedNotes(&r, o.Skipped)
	return r
}

// This file describes the answers about the annotations of a repository.

package annotations

import (
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// countWords returns a number and its noun as a value of a report.
func countWords(n int, one, many string) report.Words { return report.Words(text.Count(n, one, many)) }

// noteSkipped adds notes about files whose annotations were not changed.
func noteSkipped(r *report.Report, skipped []SkippedFile) {
	for _, s := range skipped {
		r.Notef("%s was left as it is: %s", s.File, s.Why)
	}
}

// Report counts the annotations.
func (o AnnotationStatsOut) Report() (r report.Report) {
	var cells []report.Cell
	add := func(name string, value any) { cells = append(cells, report.Cell{Name: name, Value: value}) }
	add("annotations", report.Sentencef("%d of %s, %s", o.Annotations, countWords(o.Files, "file", "files"),
		report.Words(text.FormatBytes(o.Bytes))))
	for _, p := range placings {
		if n := o.Placed[string(p)]; n > 0 {
			add(string(p), n)
		}
	}
	if o.Archived > 0 {
		add("archived", o.Archived)
	}
	for _, by := range slices.Sorted(maps.Keys(o.By)) {
		if by != "unknown" {
			add("by "+by, o.By[by])
		}
	}
	if o.Annotations > 0 {
		add("written", report.Sentencef("%s to %s, half of them by %s", report.Moment(o.Oldest),
			report.Moment(o.Newest), report.Moment(o.Median)))
	}
	r.Add(report.Fields{Cells: cells})
	if n := o.Placed[string(annotate.Lost)]; n > 0 {
		r.Notef("%s nowhere in the working tree; oxbow annotate gc archives what HEAD lacks, too",
			countWords(n, "stands", "stand"))
	}
	if o.Damaged > 0 {
		r.Notef("%s of sidecars cannot be read; oxbow check says which", countWords(o.Damaged, "line", "lines"))
	}
	noteSkipped(&r, o.Skipped)
	return r
}

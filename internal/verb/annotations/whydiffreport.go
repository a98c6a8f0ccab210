// This file writes the reports about the annotations that a change touches.

package annotations

import "github.com/oxbow-memory/oxbow/internal/base/report"

// Report lists the annotations that the change touches and those that it adds.
func (o WhyDiffOut) Report() (r report.Report) {
	emptyLine := report.Line{}
	for _, touched := range o.TouchedAnnotations {
		r.AddLinef("%s  touched", report.EntryName(touched.FileBeforeChange+":"+touched.LinesBeforeChange))
		r.Add(touched.record(), emptyLine)
	}
	for _, n := range o.AddedAnnotations {
		r.AddLinef("added")
		r.Add(n.record(), emptyLine)
	}
	r.Append(o.buildWarningReport())
	return r
}

// MarkdownReport is like Report, but contains the annotations as Markdown for a review.
func (o WhyDiffOut) MarkdownReport() (r report.Report) {
	r.Add(report.TextForModel(o.Markdown()))
	r.Append(o.buildWarningReport())
	return r
}

// buildWarningReport returns a report with a warning for each skipped file, and the notes in o.Notes. If the change
// neither touches nor adds an annotation, and o.Notes is empty, the report contains a note that no annotation is
// touched.
func (o WhyDiffOut) buildWarningReport() (r report.Report) {
	for _, s := range o.Skipped {
		r.Warnf("passed over %s: %s", s.File, report.QuotedText(s.Reason))
	}
	if len(o.TouchedAnnotations)+len(o.AddedAnnotations) == 0 && len(o.Notes) == 0 {
		r.AddNotef("no annotation is touched in %s", countWithNoun(o.Files, "file", "files"))
	}
	report.AddNotes(&r, o.Notes)
	return r
}

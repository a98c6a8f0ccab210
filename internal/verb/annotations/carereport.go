// This file writes the reports of the verbs that annotate from transcripts, archive annotations, and repair annotation
// files.

package annotations

import (
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// Report counts the annotations that were added, or would be added by a dry run. It also counts the edits without an
// annotation.
func (o AnnotateTranscriptsOut) Report() (r report.Report) {
	if o.DryRun {
		for _, a := range o.Annotations {
			at := a.File
			if a.StartLine > 0 {
				at += ":" + annotate.LineSpan{First: a.StartLine, Last: a.EndLine}.String()
			}
			r.AddLinef("%s  %s", report.EntryName(at), report.QuotedText(a.Headline))
		}
	}
	r.AddDetailf(
		"%s %s of %s; %d were there already",
		report.EffectVerb(o.DryRun, "added", "would add"),
		countWithNoun(
			o.AddedAnnotations,
			"annotation",
			"annotations",
		),
		countWithNoun(o.Transcripts, "transcript", "transcripts"),
		o.KnownAnnotations,
	)
	s := o.Skipped
	for _, skipped := range []struct {
		n               int
		one, many, what string
	}{
		{s.RefusedEdits, "edit", "edits", "failed or refused"},
		{s.EditsWithoutResult, "edit", "edits", "without a result yet"},
		{s.EditsOutsideTree, "edit", "edits", "of files outside of this tree"},
		{s.EditsOfDeletedFiles, "file", "files", "deleted: no line is left"},
		{s.EditsWithoutLines, "edit", "edits", "whose lines are not shown"},
		{s.UnreadableLines, "line", "lines", "that cannot be read"},
		{s.NonTranscriptFiles, "file", "files", "without a transcript in it"},
	} {
		if skipped.n > 0 {
			r.AddNotef(
				"left out %s %s",
				countWithNoun(skipped.n, skipped.one, skipped.many),
				report.OxbowText(skipped.what),
			)
		}
	}
	if len(o.FilesOutsideTree) > 0 && o.AddedAnnotations+o.KnownAnnotations == 0 {
		r.AddNotef("such as %s; was the tree elsewhere? then say where with --moved-from DIR", o.FilesOutsideTree[0])
	}
	return r
}

// Report lists the annotations that were archived or restored, or would be by a dry run.
func (o GCAnnotationsOut) Report() (r report.Report) {
	if o.Undo && o.GCRunName == "" {
		r.AddNotef("there is no gc to take back")
		return r
	}
	addAnnotationLines(&r, report.EffectVerb(o.DryRun, "archived", "would be archived"), o.Archived)
	addAnnotationLines(&r, report.EffectVerb(o.DryRun, "returned", "would be returned"), o.ReturnedFromArchive)
	r.AddDetailf(
		"%s %d and %s %d of %s in %s",
		report.EffectVerb(o.DryRun, "archived", "would archive"),
		len(o.Archived),
		report.EffectVerb(o.DryRun, "returned", "return"),
		len(o.ReturnedFromArchive),
		countWithNoun(o.AnnotationCount, "annotation", "annotations"),
		countWithNoun(o.FileCount, "sidecar", "sidecars"),
	)
	addSkippedNotes(&r, o.Skipped)
	// Only a run that changed something can be undone. A dry run changes nothing, and there is no undo for an undo.
	isUndoable := o.GCRunName != "" && !o.DryRun && !o.Undo
	if isUndoable {
		r.AddNotef("to take this back: oxbow annotate gc --undo")
	}
	return r
}

// addAnnotationLines adds a line for each annotation. The line begins with outcomeText, such as "archived".
func addAnnotationLines(r *report.Report, outcomeText report.OxbowText, all []Annotation) {
	for _, a := range all {
		lines := a.FormerLines // Show where the annotated lines were if the file does not contain them any more.
		if a.StartLine > 0 {
			lines = annotate.LineSpan{First: a.StartLine, Last: a.EndLine}.String()
		}
		sentence := report.Sentencef(
			"%s  %s:%s  %s",
			outcomeText,
			a.File,
			report.OxbowText(lines),
			report.QuotedText(a.Headline),
		)
		r.Add(report.Line{Sentence: sentence, MayBeCut: true})
	}
}

// Report names the files in which the damaged lines were saved, or would be saved by a dry run.
func (o RecoverAnnotationsOut) Report() (r report.Report) {
	if len(o.Recovered) == 0 {
		r.AddNotef("no sidecar has a line that cannot be read")
	}
	for _, s := range o.Recovered {
		r.AddLinef(
			"%s: %s %s in %s, %d found in them",
			s.File,
			countWithNoun(s.UnreadableLines, "damaged line", "damaged lines"),
			report.EffectVerb(o.DryRun, "kept", "would be kept"),
			s.BackupFile,
			s.RestoredLines,
		)
	}
	return r
}

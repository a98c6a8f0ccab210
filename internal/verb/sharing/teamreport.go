// This file describes the answers about team files as reports.

package sharing

import (
	"path"
	"path/filepath"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Report says which files were written or, in a dry run, would be written. It also reports that git in this clone
// merges team files with oxbow, and that the team files are trusted. If files were written, it shows the next commands.
func (o TeamInitOut) Report() (r report.Report) {
	for _, f := range o.WrittenFiles {
		r.AddLinef("%s %s", report.EffectVerb(o.DryRun, "wrote", "would write"), f)
	}
	r.AddLinef(
		"%s this clone so that git merges team files with oxbow (merge.oxbow-entry.driver in git's configuration)",
		report.EffectVerb(o.DryRun, "set up", "would set up"),
	)
	r.AddLinef("%s the team files of %s", report.EffectVerb(o.DryRun, "trusts", "would trust"), o.TrustedRepository)
	if len(o.WrittenFiles) > 0 && !o.DryRun {
		paths := text.ShellQuote(o.Dir)
		if slices.ContainsFunc(o.WrittenFiles, func(f string) bool { return path.Base(f) == ".gitignore" }) {
			paths = text.ShellQuote(filepath.Join(filepath.Dir(o.Dir), ".gitignore")) + " " + paths
		}
		r.AddNotef("to commit these files: git add %s, then git commit", report.OxbowText(paths))
		r.AddNotef("to share an entry: oxbow team share NAME")
	}
	return r
}

// Report lists the team files, and then their problems.
func (o TeamStatusOut) Report() (r report.Report) {
	for _, f := range o.Files {
		standing := report.Sentencef("%s", report.OxbowText(f.ReviewState))
		if f.Commit != "" {
			standing = report.Sentencef("%s in %s", standing, report.OxbowText(f.Commit))
		}
		switch f.HomeEntryState {
		case "same":
			standing = report.Sentencef("%s, the home has it too", standing)
		case "other":
			standing = report.Sentencef("%s, the home has another text", standing)
		}
		r.AddLinef("%s  %s  %s", report.EntryName(f.EntryName), standing, f.File)
	}
	if len(o.Files) == 0 {
		r.AddNotef("the team has no entries yet; oxbow team share NAME moves one there")
	}
	addTeamProblems(&r, o.Problems)
	return r
}

// Report lists the problems.
func (o TeamCheckOut) Report() (r report.Report) {
	addTeamProblems(&r, o.Problems)
	if len(o.Problems) == 0 {
		r.AddLinef("%s, nothing wrong", report.OxbowText(text.FormatCount(o.EntryCount, "entry", "entries")))
	}
	return r
}

// addTeamProblems adds problems to a report, and what to do about each.
func addTeamProblems(r *report.Report, problems []TeamProblem) {
	for _, p := range problems {
		problem := report.Sentencef("%s", p.Description)
		if p.File != "" {
			problem = report.Sentencef("%s: %s", p.File, p.Description)
		}
		r.Add(report.Line{Sentence: problem})
		if p.Mend != "" {
			r.Add(report.Line{Sentence: report.Sentencef("%s", report.OxbowText(p.Mend)), Indent: 2})
		}
	}
}

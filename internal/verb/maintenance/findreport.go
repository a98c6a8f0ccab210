// This file describes the answers of the verbs that look for problems and secrets, and erase texts.

package maintenance

import (
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// FindingsReport lists findings.
func FindingsReport(findings []Finding) (r report.Report) {
	for _, f := range findings {
		r.Add(report.Finding{Level: report.Level(f.Level), About: report.Words(f.About), What: f.What,
			Remedy: report.Words(f.Mend)})
	}
	return r
}

// Report lists the findings, followed by a summary.
func (o DoctorOut) Report() report.Report {
	r := FindingsReport(o.Findings)
	counts := map[string]int{}
	for _, f := range o.Findings {
		counts[f.Level]++
	}
	problems := countWords(counts[problem], "problem", "problems")
	warnings := countWords(counts[warning], "warning", "warnings")
	switch {
	case counts[problem] > 0 && counts[warning] > 0:
		r.Detailf("%s, %s", problems, warnings)
	case counts[problem] > 0:
		r.Detailf("%s", problems)
	case counts[warning] > 0:
		r.Detailf("it works, with %s", warnings)
	case o.Full:
		r.Detailf("all is fine")
	default:
		r.Detailf(
			"%s",
			report.Words("nothing wrong was found; oxbow doctor --full also reads every byte of the memory"),
		)
	}
	return r
}

// notReached adds a note that lists the places that the call could not change.
func notReached(r *report.Report, places []string) {
	if len(places) > 0 {
		r.Notef("what it does not reach:%s", report.Lines(places))
	}
}

// Report tells how many versions were, or would be, erased.
func (o RedactOut) Report() (r report.Report) {
	r.Linef(
		"%s %s of %s",
		report.Did(o.DryRun, "erased", "would erase"),
		countWords(o.Versions, "version", "versions"),
		report.Name(o.Name),
	)
	notReached(&r, o.Left)
	return r
}

// Report lists the places of the secrets, and tells how many were, or would be, replaced.
func (o ScanOut) Report() (r report.Report) {
	for _, f := range o.Found {
		r.Linef("%s: %s (%s)", secretOwner(f), report.Words(f.Rule), secretPlace(f))
	}
	switch {
	case len(o.Found) == 0:
		r.Linef("no secrets were found")
	case o.Fixed > 0:
		r.Linef("replaced %s; erased %s of the history", countWords(o.Fixed, "secret", "secrets"),
			countWords(o.Versions, "version", "versions"))
	case o.Fix && o.DryRun:
		r.Linef("would replace %s", countWords(len(o.Found), "secret", "secrets"))
	case !o.Fix:
		r.Notef("oxbow scan --fix replaces them, in the history too; a key that was written down is best changed " +
			"where it is used")
	}
	if len(o.Steps) > 0 {
		r.Notef("to remove the rest, run:%s", report.Lines(o.Steps))
	}
	notReached(&r, o.Left)
	return r
}

// secretOwner names the version, the change or the file that contains a secret.
func secretOwner(f verb.FoundSecret) report.Sentence {
	switch f.Part {
	case "note", "source":
		return report.Sentencef("change %d", f.Version)
	case "profile":
		return report.Sentencef("profile %s", report.Name(f.Name))
	case "file":
		return report.Sentencef("%s", report.Name(f.Name))
	}
	return report.Sentencef("%s@%d", report.Name(f.Name), f.Version)
}

// secretPlace describes the place of a secret within its owner.
func secretPlace(f verb.FoundSecret) report.Sentence {
	place := report.Sentencef("%s", report.Words(f.Part))
	if f.Line > 0 {
		place = report.Sentencef("%s, line %d", place, f.Line)
	}
	if f.Archive {
		place = report.Sentencef("%s, archive of sessions", place)
	}
	if !f.Current {
		place = report.Sentencef("%s, history", place)
	}
	return place
}

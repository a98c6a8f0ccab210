// This file writes the reports of the verbs doctor, redact and scan.

package maintenance

import (
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// FindingsReport lists findings.
func FindingsReport(findings []Finding) (r report.Report) {
	for _, f := range findings {
		r.Add(
			report.Finding{
				Level:      report.FindingLevel(f.Level),
				Topic:      report.OxbowText(f.Subject),
				TopicState: f.Description,
				Remedy:     report.OxbowText(f.Mend),
			},
		)
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
	problems := countWithNoun(counts[findingLevelProblem], "problem", "problems")
	warnings := countWithNoun(counts[findingLevelWarning], "warning", "warnings")
	switch {
	case counts[findingLevelProblem] > 0 && counts[findingLevelWarning] > 0:
		r.AddDetailf("%s, %s", problems, warnings)
	case counts[findingLevelProblem] > 0:
		r.AddDetailf("%s", problems)
	case counts[findingLevelWarning] > 0:
		r.AddDetailf("it works, with %s", warnings)
	case o.WasWholeMemoryRead:
		r.AddDetailf("all is fine")
	default:
		r.AddDetailf(
			"%s",
			report.OxbowText("nothing wrong was found; oxbow doctor --full also reads every byte of the memory"),
		)
	}
	return r
}

// addPlacesWithErasedText adds a note to the report that lists the places which may still contain the erased or
// replaced text.
func addPlacesWithErasedText(r *report.Report, places []string) {
	if len(places) > 0 {
		r.AddNotef("what it does not reach:%s", report.QuotedLines(places))
	}
}

// Report says how many versions were erased, or would be by a dry run.
func (o RedactOut) Report() (r report.Report) {
	r.AddLinef(
		"%s %s of %s",
		report.EffectVerb(o.DryRun, "erased", "would erase"),
		countWithNoun(o.Versions, "version", "versions"),
		report.EntryName(o.Name),
	)
	addPlacesWithErasedText(&r, o.PlacesWithErasedText)
	return r
}

// Report lists where secrets were found, and says how many were replaced, or would be by a dry run.
func (o ScanOut) Report() (r report.Report) {
	for _, f := range o.FoundSecrets {
		r.AddLinef("%s: %s (%s)", secretLocationSentence(f), report.OxbowText(f.Rule), describeSecretPlace(f))
	}
	switch {
	case len(o.FoundSecrets) == 0:
		r.AddLinef("no secrets were found")
	case o.ReplacedSecretCount > 0:
		r.AddLinef("replaced %s; erased %s of the history", countWithNoun(o.ReplacedSecretCount, "secret", "secrets"),
			countWithNoun(o.ErasedVersionCount, "version", "versions"))
	case o.HasFixOption && o.DryRun:
		r.AddLinef("would replace %s", countWithNoun(len(o.FoundSecrets), "secret", "secrets"))
	case !o.HasFixOption:
		r.AddNotef("oxbow scan --fix replaces them, in the history too; a key that was written down is best changed " +
			"where it is used")
	}
	if len(o.RemainingSteps) > 0 {
		r.AddNotef("to remove the rest, run:%s", report.QuotedLines(o.RemainingSteps))
	}
	addPlacesWithErasedText(&r, o.PlacesNotFixed)
	return r
}

// secretLocationSentence names the version, the change or the file that contains a secret.
func secretLocationSentence(f verb.FoundSecret) report.Sentence {
	switch f.TextKind {
	case "note", "source":
		return report.Sentencef("change %d", f.Version)
	case "profile":
		return report.Sentencef("profile %s", report.EntryName(f.Name))
	case "file":
		return report.Sentencef("%s", report.EntryName(f.Name))
	}
	return report.Sentencef("%s@%d", report.EntryName(f.Name), f.Version)
}

// describeSecretPlace returns the kind of text that contains the secret and the number of the line. It also says if the
// text is in an archive of sessions, or only in the history. Example: "content, line 3, history".
func describeSecretPlace(f verb.FoundSecret) report.Sentence {
	place := report.Sentencef("%s", report.OxbowText(f.TextKind))
	if f.Line > 0 {
		place = report.Sentencef("%s, line %d", place, f.Line)
	}
	if f.IsInArchive {
		place = report.Sentencef("%s, archive of sessions", place)
	}
	if !f.IsInCurrentVersion {
		place = report.Sentencef("%s, history", place)
	}
	return place
}

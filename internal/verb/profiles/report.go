// This file describes the answers of the verbs for profiles.

package profiles

import (
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/profile"
)

// Report lists the profiles. Each profile is shown with its description or, if the profile has
// problems, with the first problem.
func (o ProfilesOut) Report() (r report.Report) {
	table := report.Table{WrapsLastColumn: true}
	for _, p := range o.Profiles {
		description := report.Sentencef("%s", p.Description)
		if p.Problem != "" {
			first, _, _ := strings.Cut(p.Problem, "\n")
			description = report.Sentencef("wrong: %s", first)
		}
		if p.IsHidden {
			description = report.Sentencef("(hidden by the one before) %s", description)
		}
		table.Rows = append(table.Rows, []any{report.QuotedText(p.Name), report.OxbowText(p.Origin), description})
	}
	if len(o.Profiles) == 0 {
		r.AddNotef("there are no profiles yet; oxbow profile new NAME makes one")
		return r
	}
	r.Add(table)
	return r
}

// Report shows the definition of a profile: its description, its file, the entries that it includes and excludes, its
// documents, the kinds of data that it redacts, its budget, and the project label of new entries.
func (o ProfileOut) Report() (r report.Report) {
	r.AddLinef("%s", report.EntryName(o.Name))
	fields := report.Fields{Cells: []report.Cell{
		{Name: "says", Value: o.Description},
		{
			Name:  "file",
			Value: report.Sentencef("%s, of the %s", report.QuotedText(o.File), report.OxbowText(o.Origin)),
		},
		{Name: "extends", Value: report.Names(o.Extends)},
	}}
	add := func(name string, value any) {
		fields.Cells = append(fields.Cells, report.Cell{Name: name, Value: value})
	}
	for _, filter := range o.Include {
		add("includes", report.QuotedText(filter))
	}
	for _, name := range o.IncludedEntryNames {
		add("includes", report.Sentencef("the entry %s", report.EntryName(name)))
	}
	if o.WithProcess {
		add("includes", report.OxbowText("process:true, to read only"))
	}
	for _, filter := range o.Exclude {
		add("excludes", report.QuotedText(filter))
	}
	add("always", report.Names(o.Documents))
	add("redacts", report.Names(o.RedactedKinds))
	add("budget", report.Sentencef("%d tokens", o.MaxTokens))
	if o.Project != "" {
		add("writes", report.Sentencef("project:%s on new entries that name no project", report.QuotedText(o.Project)))
	}
	r.Add(fields)
	return r
}

// Report shows how many tokens each part of a profile has.
func (o ProfileBudgetOut) Report() (r report.Report) {
	for _, d := range o.Documents {
		document := report.Sentencef("document %s", report.QuotedText(d.Path))
		if d.Wrong != "" {
			document = report.Sentencef("%s: %s", document, report.QuotedText(d.Wrong))
		}
		r.AddLinef("%8d  %s", d.Tokens, document)
	}
	r.AddLinef("%8d  always there: the documents and the head", o.Fixed)
	r.AddLinef(
		"%8d  all of %s that it includes",
		o.Tokens,
		report.OxbowText(text.FormatCount(o.Entries, "entry", "entries")),
	)
	r.AddLinef("%8d  room, by the same estimate, that max_tokens %d surely leaves", o.RemainingTokens, o.MaxTokens)
	if o.Fixed+o.Tokens > o.RemainingTokens {
		r.AddNotef("not all of it fits; oxbow profile select NAME --manifest shows what is cut")
	}
	return r
}

// Report lists the problems of the profiles.
func (o LintOut) Report() (r report.Report) {
	for _, l := range o.Profiles {
		for _, f := range l.Problems {
			r.AddLinef("%s", report.QuotedText(f))
		}
	}
	if !o.Failed() {
		r.AddNotef(
			"nothing is odd about %s",
			report.OxbowText(text.FormatCount(len(o.Profiles), "profile", "profiles")),
		)
	}
	return r
}

// Report tells which file was written.
func (o NewProfileOut) Report() (r report.Report) {
	r.AddLinef("Wrote %s", report.QuotedText(o.File))
	report.AddNotes(&r, o.Notes)
	r.AddNotef(
		"oxbow profile lint %s looks it over; oxbow profile select %s shows what it selects",
		report.QuotedText(o.Name),
		report.QuotedText(o.Name),
	)
	return r
}

// Report tells whether the file was changed. It also lists problems that do not make the profile unusable.
func (o ReplaceProfileOut) Report() (r report.Report) {
	r.AddLinef("%s is %s", report.QuotedText(o.File), report.OxbowText(o.FileOutcome))
	for _, f := range o.Problems {
		r.AddNotef("%s", report.QuotedText(f))
	}
	return r
}

// Report lists which entries and documents differ between the selections of two profiles.
func (o DiffProfilesOut) Report() (r report.Report) {
	r.AddLinef("--- %s (about %d tokens)", report.QuotedText(o.SideA.String()), o.TokensA)
	r.AddLinef("+++ %s (about %d tokens)", report.QuotedText(o.SideB.String()), o.TokensB)
	list := func(mark, kind report.OxbowText, all []profile.Chosen) {
		for _, c := range all {
			row := report.Sentencef("%s %7d  %s%s", mark, c.Tokens, kind, report.QuotedText(c.Name))
			if !c.In {
				row = report.Sentencef("%s  (over the budget)", row)
			}
			r.Add(report.Line{Sentence: row})
		}
	}
	const document report.OxbowText = "document "
	list("-", document, o.DocumentsA)
	list("+", document, o.DocumentsB)
	list("-", "", o.OnlyA)
	list("+", "", o.OnlyB)
	for _, c := range o.Changed {
		r.AddLinef("~ %7d  %s (was %d)", c.B, report.QuotedText(c.Name), c.A)
	}
	r.AddNotef("%s the same", report.OxbowText(text.FormatCount(o.Same, "entry is", "entries are")))
	return r
}

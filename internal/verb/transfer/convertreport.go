// This file describes the result of a conversion.

package transfer

import (
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Report tells how many entries were, or would be, written, and lists the data that the new layout cannot store.
func (o ConvertOut) Report() (r report.Report) {
	r.AddLinef(
		"%s %s to %s, laid out as %s.",
		report.EffectVerb(o.DryRun, "Wrote", "Would write"),
		report.OxbowText(
			text.FormatCount(o.Entries, "entry", "entries"),
		),
		report.QuotedText(o.NewHomePath),
		report.OxbowText(o.Layout),
	)
	again := o.NewHomePath
	if !o.DryRun {
		// The directory NewHomePath exists now, so the command below, which would convert again, must name another one.
		again += ".new"
	}
	list := report.List{ShowsItemsInShortReport: true,
		ListAllAdvice: report.OxbowText(AdaptedCopyCommand(again, o.Layout) + " --dry-run --json lists them all")}
	for _, a := range o.AdaptedEntries {
		list.Items = append(list.Items, report.Line{Indent: 2, Sentence: report.Sentencef("%s: without its %s",
			report.EntryName(a.Name), report.QuotedText(strings.Join(a.LostParts, ", ")))})
	}
	r.Add(list)
	if o.ClearedLeftovers != "" {
		r.AddNotef("removed %s, which an interrupted run had left", report.QuotedText(o.ClearedLeftovers))
	}
	if !o.DryRun {
		r.AddDetailf("The old home, %s, is as it was; its history stays there.", report.QuotedText(o.OldHomePath))
	}
	return r
}

// AdaptedCopyCommand returns the command that copies the memory to a new home in the directory dir with the given
// layout. The command leaves out data that the layout cannot store.
func AdaptedCopyCommand(dir, layout string) string {
	return "oxbow convert " + text.ShellQuote(dir) + " --to " + layout + " --adapt"
}

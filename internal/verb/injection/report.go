// An injection is a text from the memory that a hook showed to a model. This file prints the list of injections.

package injection

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// sessionIDWidth is how many characters of a session's identifier are printed. They suffice to tell sessions apart.
const sessionIDWidth = 13

// Report prints each injection with the entries that it showed, and then the totals.
func (o InjectedOut) Report() (r report.Report) {
	for i := range o.Injections {
		o.Injections[i].addToReport(&r)
	}
	for _, c := range o.Unused {
		r.AddLinef("%s  shown in %s, used in none", report.EntryName(c.Name),
			report.OxbowText(text.FormatCount(c.ShownTurns, "turn", "turns")))
	}
	if o.Total.Injections > 0 {
		r.Add(report.Line{Sentence: o.Total.totalSentence(), IsDetail: true, IsFaint: true})
	}
	report.AddEmptyResultReasons(&r, o.EmptyResultReasons, nil)
	report.AddNotes(&r, o.Notes)
	if o.HasMore {
		r.AddNotef("there are more; --limit shows them")
	}
	return r
}

// addToReport prints one injection.
func (it *InjectedItem) addToReport(r *report.Report) {
	r.AddLinef("%s  %s  %s", it.Time, report.EntryName(it.Client+"/"+text.TruncateBytes(it.Session, sessionIDWidth)),
		DescribeInjection(&it.Injection))
	for _, s := range it.ShownEntries {
		shown := report.Sentencef("%s", FormatShownEntry(s))
		if slices.Contains(it.EntriesUsedInTurn, s) {
			shown = report.Sentencef("%s (used)", FormatShownEntry(s))
		}
		r.Add(report.Line{Sentence: shown, Indent: 3, IsFaint: true})
	}
	if it.Text != "" {
		r.Add(report.Line{Sentence: report.Sentencef("%s", report.Quote(it.Text)), Indent: 3})
	}
}

// totalSentence returns a sentence with the number of injections, in total and for each hook event, the number of their
// tokens, and the number of injections whose entries were used.
func (t InjectionTotals) totalSentence() report.Sentence {
	var places []string
	for _, p := range slices.Sorted(maps.Keys(t.CountByHookEvent)) {
		places = append(places, fmt.Sprintf("%s %d", p, t.CountByHookEvent[p]))
	}
	return report.Sentencef(
		"%s (%s), %s, %d used",
		report.OxbowText(text.FormatCount(t.Injections, "injection", "injections")),
		report.QuotedText(strings.Join(places, ", ")),
		report.OxbowText(text.FormatCount(t.InjectedTokens, "token", "tokens")),
		t.UsedInjections,
	)
}

// DescribeInjection describes an injection in a few words: the hook event, the kind of answer if there is one, and the
// number of tokens. If it is known how strongly the entries matched, it also names this strength and the minimum that
// it exceeded.
func DescribeInjection(in *session.Injection) string {
	words := []string{in.HookEvent}
	if in.AnswerKind != "" {
		words = append(words, in.AnswerKind)
	}
	words = append(words, text.FormatCount(in.TokenCount, "token", "tokens"))
	if in.BestMatchStrength != 0 {
		words = append(words, fmt.Sprintf("strength %.2f above %.2f", in.BestMatchStrength, in.MinMatchStrength))
	}
	return strings.Join(words, ", ")
}

// FormatShownEntry returns the name and the version of a shown entry, such as "deploy rule@3".
func FormatShownEntry(s session.ShownEntry) string { return fmt.Sprintf("%s@%d", s.Name, s.Version) }

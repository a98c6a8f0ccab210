// This file describes the list of texts that hooks put before models.

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

// sessionWidth is the length to which identifiers of sessions are cut. It is enough to tell sessions apart.
const sessionWidth = 13

// Report lists the injections with the entries of each, followed by the totals.
func (o InjectedOut) Report() (r report.Report) {
	for i := range o.Injections {
		o.Injections[i].report(&r)
	}
	for _, c := range o.Unused {
		r.Linef("%s  shown in %s, used in none", report.Name(c.Name),
			report.Words(text.Count(c.Shown, "turn", "turns")))
	}
	if o.Total.Injections > 0 {
		r.Add(report.Line{Sentence: o.Total.sentence(), Detail: true, Faint: true})
	}
	report.AddReasons(&r, o.Why, nil)
	report.AddNotes(&r, o.Notes)
	if o.More {
		r.Notef("there are more; --limit shows them")
	}
	return r
}

// report adds an injection.
func (it *InjectedItem) report(r *report.Report) {
	r.Linef("%s  %s  %s", it.Time, report.Name(it.Client+"/"+text.CutPrefix(it.Session, sessionWidth)),
		Describe(&it.Injection))
	for _, s := range it.Shown {
		shown := report.Sentencef("%s", ShownText(s))
		if slices.Contains(it.Used, s) {
			shown = report.Sentencef("%s (used)", ShownText(s))
		}
		r.Add(report.Line{Sentence: shown, Indent: 3, Faint: true})
	}
	if it.Text != "" {
		r.Add(report.Line{Sentence: report.Sentencef("%s", report.Quote(it.Text)), Indent: 3})
	}
}

// sentence describes the totals.
func (t InjectedTotal) sentence() report.Sentence {
	var places []string
	for _, p := range slices.Sorted(maps.Keys(t.Places)) {
		places = append(places, fmt.Sprintf("%s %d", p, t.Places[p]))
	}
	return report.Sentencef("%s (%s), %s, %d used", report.Words(text.Count(t.Injections, "injection", "injections")),
		report.Text(strings.Join(places, ", ")), report.Words(text.Count(t.Tokens, "token", "tokens")), t.Used)
}

// Describe describes an injection in words: where the text was injected, why, and its size in
// tokens.
func Describe(in *session.Injection) string {
	words := []string{in.Place}
	if in.Answer != "" {
		words = append(words, in.Answer)
	}
	words = append(words, text.Count(in.Tokens, "token", "tokens"))
	if in.G != 0 {
		words = append(words, fmt.Sprintf("strength %.2f above %.2f", in.G, in.Floor))
	}
	return strings.Join(words, ", ")
}

// ShownText returns the name and the version of an entry that was shown.
func ShownText(s session.ShownEntry) string { return fmt.Sprintf("%s@%d", s.Name, s.Version) }

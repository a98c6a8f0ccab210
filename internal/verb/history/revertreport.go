// This file writes the report of a revert.

package history

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/history/revert"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// Report lists the entries that are reverted, later changes by others, entries that were derived from reverted
// entries, and reverted texts that models were shown.
func (o RevertOut) Report() (r report.Report) {
	if len(o.ChangeNumbers) == 0 {
		report.AddEmptyResultReasons(&r, o.EmptyResultReasons, nil)
		return r
	}
	if len(o.Steps) > 0 {
		r.AddLinef("%s %s in %s", report.EffectVerb(o.DryRun, "took back", "would take back"),
			report.OxbowText(text.FormatCount(o.RevertedChangeCount(), "change", "changes")),
			report.OxbowText(text.FormatCount(len(o.Steps), "entry", "entries")))
	}
	steps := report.List{ListAllAdvice: verb.AdviceForListingChanges(o.DryRun), ShowsItemsInShortReport: true}
	for _, s := range o.Steps {
		steps.Items = append(steps.Items, stepLine(s))
	}
	r.Add(steps)
	if n := o.IneffectiveChangeCount(); n > 0 && len(o.Steps) > 0 {
		r.AddLinef(
			"%s had no effect any more",
			report.OxbowText(text.FormatCount(n, "other selected change", "other selected changes")),
		)
	}
	all := report.EffectVerb(o.DryRun, "oxbow undo, then the same revert with --dry-run --json, lists them all",
		"--json lists them all")
	addTitledList(&r, "changed by others since:", all, o.Conflicts, func(c revert.Conflict) report.Sentence {
		return report.Sentencef("  %s  %s", report.EntryName(c.Name), conflictSentence(c))
	})
	addTitledList(&r, "derived:", all, o.DerivedVersions, func(d revert.CopiedVersion) report.Sentence {
		fate := report.OxbowText("stays")
		if d.IsReverted {
			fate = report.EffectVerb(o.DryRun, "taken back", "goes")
		}
		return report.Sentencef(
			"  %s  %s@%d from %s (%s)",
			fate,
			report.EntryName(d.Name),
			d.Seq,
			report.EntryName(d.SourceName),
			d.RecognitionMethod,
		)
	})
	addTitledList(&r, "put before models meanwhile:", all, o.ShownItems, func(s ShownItem) report.Sentence {
		used := report.OxbowText("")
		if s.IsUsedByAgent {
			used = " (used)"
		}
		return report.Sentencef(
			"  %s  %s  %s  %s@%d%s",
			s.Time,
			s.Client+"/"+text.TruncateBytes(s.Session, 13),
			s.HookEvent,
			report.EntryName(s.Name),
			s.Version,
			used,
		)
	})
	report.AddNotes(&r, o.Notes)
	return r
}

// RevertedChangeCount returns how many of the selected changes are reverted at least in part.
func (o RevertOut) RevertedChangeCount() int {
	taken := map[uint64]bool{}
	for _, s := range o.Steps {
		addSeqsToSet(taken, s.RevertedChangeNumbers)
	}
	return len(taken)
}

// IneffectiveChangeCount returns how many of the selected changes do not affect the present memory, because their
// entries were later forgotten or changed back. It does not count changes that cannot be reverted because of a
// conflict.
func (o RevertOut) IneffectiveChangeCount() int {
	named := map[uint64]bool{}
	for _, s := range o.Steps {
		addSeqsToSet(named, s.RevertedChangeNumbers)
	}
	for _, c := range o.Conflicts {
		addSeqsToSet(named, c.RevertedChanges)
	}
	n := 0
	for _, seq := range o.ChangeNumbers {
		if !named[seq] {
			n++
		}
	}
	return n
}

func addSeqsToSet(set map[uint64]bool, seqs []uint64) {
	for _, seq := range seqs {
		set[seq] = true
	}
}

// addTitledList adds the title title, followed by a list with one sentence for each item in items. The function
// describe returns the sentence. If showAllAdvice is not empty, a long list may be shortened, and showAllAdvice says
// how to list all items. If items is empty, addTitledList adds nothing.
func addTitledList[T any](
	r *report.Report,
	title, showAllAdvice report.OxbowText,
	items []T,
	describe func(T) report.Sentence,
) {
	if len(items) == 0 {
		return
	}
	r.AddDetailf("%s", title)
	list := report.List{ListAllAdvice: showAllAdvice}
	for _, item := range items {
		list.Items = append(list.Items, report.Line{Sentence: describe(item)})
	}
	r.Add(list)
}

func stepLine(s revert.RevertedEntry) report.Line {
	did, took := report.OxbowText(
		fmt.Sprintf("%-8s", s.EntryOutcome),
	), report.OxbowText(
		formatChangeNumbers(s.RevertedChangeNumbers),
	)
	if s.MatchingVersion == 0 {
		return report.Line{Sentence: report.Sentencef("  %s  %s  %s", did, report.EntryName(s.EntryName), took)}
	}
	return report.Line{
		Sentence: report.Sentencef(
			"  %s  %s to version %d  %s",
			did,
			report.EntryName(s.EntryName),
			s.MatchingVersion,
			took,
		),
	}
}

// conflictSentence returns a sentence about one entry that could not be reverted completely, because later changes have
// changed it too. The sentence names the parts of the later changes that the revert kept, or says that no part was
// kept. If c.Reason is set, the sentence says instead why the whole entry stays as it is.
func conflictSentence(c revert.Conflict) report.Sentence {
	later := report.OxbowText(formatChangeNumbers(c.LaterChanges))
	switch {
	case c.Reason != "":
		return report.Sentencef("kept as it is: %s", report.OxbowText(c.Reason))
	case len(c.KeptPartNames) == 0:
		return report.Sentencef(
			"nothing kept of %s by %s: there was nothing else to it",
			later,
			report.OxbowText(c.LastActor),
		)
	}
	return report.Sentencef(
		"kept %s of %s, the last by %s",
		report.OxbowText(strings.Join(c.KeptPartNames, ", ")),
		later,
		report.OxbowText(c.LastActor),
	)
}

// formatChangeNumbers returns the numbers of at most ten changes as a text.
func formatChangeNumbers(seqs []uint64) string {
	var words []string
	for _, s := range seqs[:min(len(seqs), 10)] {
		words = append(words, strconv.FormatUint(s, 10))
	}
	if len(seqs) > 10 {
		words = append(words, "…")
	}
	if len(seqs) == 1 {
		return "change " + words[0]
	}
	return "changes " + strings.Join(words, ", ")
}

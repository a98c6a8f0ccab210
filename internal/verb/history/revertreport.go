// This file describes the answer of revert.

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

// Report lists the entries that were, or would be, reverted, later changes by others, entries that were derived from
// the reverted entries, and reverted text that models were shown.
func (o RevertOut) Report() (r report.Report) {
	if len(o.Changes) == 0 {
		report.AddReasons(&r, o.Why, nil)
		return r
	}
	if len(o.Steps) > 0 {
		r.Linef("%s %s in %s", report.Did(o.DryRun, "took back", "would take back"),
			report.Words(text.Count(o.Taken(), "change", "changes")),
			report.Words(text.Count(len(o.Steps), "entry", "entries")))
	}
	steps := report.List{All: verb.AllTouched(o.DryRun), IsAnswer: true}
	for _, s := range o.Steps {
		steps.Items = append(steps.Items, stepLine(s))
	}
	r.Add(steps)
	if n := o.Ineffective(); n > 0 && len(o.Steps) > 0 {
		r.Linef(
			"%s had no effect any more",
			report.Words(text.Count(n, "other selected change", "other selected changes")),
		)
	}
	all := report.Did(o.DryRun, "oxbow undo, then the same revert with --dry-run --json, lists them all",
		"--json lists them all")
	addTitled(&r, "changed by others since:", all, o.Conflicts, func(c revert.Conflict) report.Sentence {
		return report.Sentencef("  %s  %s", report.Name(c.Name), conflictSentence(c))
	})
	addTitled(&r, "derived:", all, o.Derived, func(d revert.DerivedVersion) report.Sentence {
		fate := report.Words("stays")
		if d.Taken {
			fate = report.Did(o.DryRun, "taken back", "goes")
		}
		return report.Sentencef("  %s  %s@%d from %s (%s)", fate, report.Name(d.Name), d.Seq, report.Name(d.From),
			d.How)
	})
	addTitled(&r, "put before models meanwhile:", all, o.Shown, func(s ShownItem) report.Sentence {
		used := report.Words("")
		if s.Used {
			used = " (used)"
		}
		return report.Sentencef("  %s  %s  %s  %s@%d%s", s.Time, s.Client+"/"+text.CutPrefix(s.Session, 13), s.Place,
			report.Name(s.Name), s.Version, used)
	})
	report.AddNotes(&r, o.Notes)
	return r
}

// Taken returns the number of selected changes that were, or would be, taken back at least in part.
func (o RevertOut) Taken() int {
	taken := map[uint64]bool{}
	for _, s := range o.Steps {
		addAll(taken, s.Took)
	}
	return len(taken)
}

// Ineffective returns the number of selected changes without an effect on the present memory, because their
// entries were forgotten or changed back since. It does not count changes that are listed as conflicts.
func (o RevertOut) Ineffective() int {
	named := map[uint64]bool{}
	for _, s := range o.Steps {
		addAll(named, s.Took)
	}
	for _, c := range o.Conflicts {
		addAll(named, c.Took)
	}
	n := 0
	for _, seq := range o.Changes {
		if !named[seq] {
			n++
		}
	}
	return n
}

func addAll(set map[uint64]bool, seqs []uint64) {
	for _, seq := range seqs {
		set[seq] = true
	}
}

// addTitled adds a list of sentences below a title. It adds nothing if there are no items.
func addTitled[T any](
	r *report.Report,
	title, all report.Words,
	items []T,
	describe func(T) report.Sentence,
) {
	if len(items) == 0 {
		return
	}
	r.Detailf("%s", title)
	list := report.List{All: all}
	for _, item := range items {
		list.Items = append(list.Items, report.Line{Sentence: describe(item)})
	}
	r.Add(list)
}

func stepLine(s revert.Step) report.Line {
	did, took := report.Words(fmt.Sprintf("%-8s", s.Did)), report.Words(changeList(s.Took))
	if s.To == 0 {
		return report.Line{Sentence: report.Sentencef("  %s  %s  %s", did, report.Name(s.Name), took)}
	}
	return report.Line{
		Sentence: report.Sentencef("  %s  %s to version %d  %s", did, report.Name(s.Name), s.To, took),
	}
}

// conflictSentence describes the parts of later changes that were kept.
func conflictSentence(c revert.Conflict) report.Sentence {
	later := report.Words(changeList(c.Later))
	switch {
	case c.Reason != "":
		return report.Sentencef("kept as it is: %s", report.Words(c.Reason))
	case len(c.Kept) == 0:
		return report.Sentencef("nothing kept of %s by %s: there was nothing else to it", later, report.Words(c.By))
	}
	return report.Sentencef("kept %s of %s, the last by %s", report.Words(strings.Join(c.Kept, ", ")), later,
		report.Words(c.By))
}

// changeList lists changes by number, at most ten.
func changeList(seqs []uint64) string {
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

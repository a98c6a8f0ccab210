// This file formats the results of the verbs dump and load as texts for the reader.

package transfer

import (
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Report reports how many files were written, unchanged and removed. It also mentions entries that were left out and
// files whose edited versions were copied, and warns about entries with directives of mdbook.
func (o DumpOut) Report() (r report.Report) {
	r.AddLinef(
		"dumped %s to %s: %d written, %d unchanged, %d removed",
		report.OxbowText(
			text.FormatCount(o.Entries, "entry", "entries"),
		),
		o.Dir,
		o.WrittenFiles,
		o.UnchangedFiles,
		o.RemovedFiles,
	)
	addLeftOutEntriesNote(&r, o.LeftOutEntries)
	if o.HasCompletedEarlierDump {
		r.AddNotef("an earlier dump that was interrupted was finished first")
	}
	for _, kept := range o.EditedFileCopies {
		r.AddNotef("the file was edited since oxbow wrote it; a copy is kept as %s",
			filepath.Join(o.Dir, filepath.FromSlash(kept)))
	}
	if n := len(o.EntriesWithMdbookDirectives); n > 0 {
		r.Warnf(
			"mdbook would put local files into the pages of %s, such as %s, since your book.toml does not forbid "+
				"it: write use-default-preprocessors = false below [build] there",
			report.OxbowText(
				text.FormatCount(n, "entry", "entries"),
			),
			report.EntryName(o.EntriesWithMdbookDirectives[0]),
		)
	}
	return r
}

// Report tells how many entries were, or would be, changed, and how to revert the changes. For a dry run, it also lists
// the names of the entries.
func (o LoadOut) Report() (r report.Report) {
	for _, w := range o.Warnings {
		r.AddNotef("%s", report.QuotedText(w))
	}
	if o.DryRun {
		for _, l := range []struct {
			mark  report.OxbowText
			names []string
		}{{"+", o.AddedNames}, {"~", o.ChangedNames}, {"-", o.RemovedNames}, {"=", o.NamesChangedInMemory}} {
			for _, name := range l.names {
				r.AddLinef("%s %s", l.mark, report.EntryName(name))
			}
		}
	}
	r.AddLinef(
		"%s %s: %d added, %d changed, %d removed, %d the same",
		report.EffectVerb(o.DryRun, "loaded", "would load"),
		o.Dir,
		len(o.AddedNames),
		len(o.ChangedNames),
		len(o.RemovedNames),
		o.UnchangedEntries,
	)
	if n := len(o.NamesChangedInMemory); n > 0 {
		r.AddNotef("%s as in the memory, which alone changed or forgot that since the dump",
			report.OxbowText(text.FormatCount(n, "entry stays", "entries stay")))
	}
	for _, name := range o.MergedNames {
		r.AddNotef("%s was changed in its file and in the memory since the dump, and has both changes %s",
			report.EntryName(name), report.EffectVerb(o.DryRun, "now", "after the load"))
	}
	if changed := len(o.ChangedNames) + len(o.RemovedNames); !o.HasManifest && changed > 0 {
		r.AddNotef("%s is no dump of this memory, or is newer than it: where both differ, the files win", o.Dir)
	}
	switch {
	case o.DryRun:
		r.AddNotef("dry run: nothing was changed")
	case o.UndoSeq > 0:
		r.AddNotef("undo it with: oxbow undo --seq %d", o.UndoSeq)
	case o.BackupFile != "":
		r.AddNotef(
			"this layout keeps no history; what was replaced or forgotten is in %s: oxbow import --overwrite %s "+
				"brings it back",
			o.BackupFile,
			report.OxbowText(text.ShellQuote(o.BackupFile)),
		)
	case len(o.AddedNames) > 0:
		r.AddNotef("this layout keeps no history: oxbow forget NAME takes back what was added")
	}
	return r
}

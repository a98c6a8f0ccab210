// This file describes the answers of dump and load.

package transfer

import (
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Report tells how many files were written.
func (o DumpOut) Report() (r report.Report) {
	r.Linef("dumped %s to %s: %d written, %d unchanged, %d removed",
		report.Words(text.Count(o.Entries, "entry", "entries")), o.Dir, o.Written, o.Unchanged, o.Removed)
	noteWithheld(&r, o.Withheld)
	if o.Recovered {
		r.Notef("an earlier dump that was interrupted was finished first")
	}
	for _, kept := range o.Kept {
		r.Notef("the file was edited since oxbow wrote it; a copy is kept as %s",
			filepath.Join(o.Dir, filepath.FromSlash(kept)))
	}
	if n := len(o.Directives); n > 0 {
		r.Warnf("mdbook would put local files into the pages of %s, such as %s, since your book.toml does not forbid "+
			"it: write use-default-preprocessors = false below [build] there",
			report.Words(text.Count(n, "entry", "entries")), report.Name(o.Directives[0]))
	}
	return r
}

// Report tells how many entries were, or would be, changed, and how to revert the changes. For a dry run, it also lists
// the names of the entries.
func (o LoadOut) Report() (r report.Report) {
	for _, w := range o.Warnings {
		r.Notef("%s", report.Text(w))
	}
	if o.DryRun {
		for _, l := range []struct {
			mark  report.Words
			names []string
		}{{"+", o.Added}, {"~", o.Changed}, {"-", o.Removed}, {"=", o.Kept}} {
			for _, name := range l.names {
				r.Linef("%s %s", l.mark, report.Name(name))
			}
		}
	}
	r.Linef("%s %s: %d added, %d changed, %d removed, %d the same", report.Did(o.DryRun, "loaded", "would load"), o.Dir,
		len(o.Added), len(o.Changed), len(o.Removed), o.Same)
	if n := len(o.Kept); n > 0 {
		r.Notef("%s as in the memory, which alone changed or forgot that since the dump",
			report.Words(text.Count(n, "entry stays", "entries stay")))
	}
	for _, name := range o.Merged {
		r.Notef("%s was changed in its file and in the memory since the dump, and has both changes %s",
			report.Name(name), report.Did(o.DryRun, "now", "after the load"))
	}
	if changed := len(o.Changed) + len(o.Removed); !o.Base && changed > 0 {
		r.Notef("%s is no dump of this memory, or is newer than it: where both differ, the files win", o.Dir)
	}
	switch {
	case o.DryRun:
		r.Notef("dry run: nothing was changed")
	case o.Undo > 0:
		r.Notef("undo it with: oxbow undo --seq %d", o.Undo)
	case o.SavedIn != "":
		r.Notef("this layout keeps no history; what was replaced or forgotten is in %s: oxbow import --overwrite %s "+
			"brings it back", o.SavedIn, report.Words(text.ShellQuote(o.SavedIn)))
	case len(o.Added) > 0:
		r.Notef("this layout keeps no history: oxbow forget NAME takes back what was added")
	}
	return r
}

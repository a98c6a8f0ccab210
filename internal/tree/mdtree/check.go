// This file checks a store of files.

package mdtree

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// Check implements [oxbow.Checker]. It reads all files again and reports the following problems: damaged files, for
// which the store uses an earlier valid state, unreadable files, names that occur in several files, documents that were
// emptied, directories that cannot be listed, and conflict copies.
func (s *Store) Check(ctx context.Context) (oxbow.CheckReport, error) {
	if err := s.runScan(ctx, s.rereadAllFiles); err != nil {
		return oxbow.CheckReport{}, err
	}
	s.scanner.mu.Lock()
	defer s.scanner.mu.Unlock()
	s.mu.RLock()
	defer s.mu.RUnlock()
	rep := oxbow.CheckReport{Path: s.options.DirectoryName, Entries: len(s.state.entriesByID)}
	found := func(what, mend string) {
		rep.Problems = append(rep.Problems, oxbow.Problem{Offset: -1, What: what, Mend: mend})
	}
	for _, p := range s.state.paths {
		f := s.state.files[p]
		rep.Records += len(f.items)
		rep.Bytes += int64(len(f.lastValidText))
		s.state.reportFileProblems(f, found)
	}
	for _, p := range slices.Sorted(maps.Keys(s.servedEntries.documentsEmptiedOnDisk)) {
		found(p+" is empty; it is held as it was last good", "write it again, or remove it")
	}
	dirs := map[string]bool{}
	for _, d := range s.scanner.dirs {
		dirs[d.path] = true
		if d.listError != "" {
			found(d.path+" cannot be listed: "+d.listError, "give the program leave to read it")
		}
	}
	for p := range s.servedEntries.documentTexts {
		dirs[path.Dir(p)] = true
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		items, err := s.fs.ReadDir(dir)
		if err != nil {
			continue // Ignore the error. Either the directory does not exist, or its error is already in the report.
		}
		for _, it := range items {
			if p := path.Join(dir, it.Name()); IsConflictCopy(p) {
				found(
					p+" is what somebody wrote and could not be merged",
					"take from it what is wanted, then remove it",
				)
			} else if !it.IsDir() && s.isTextIgnoredByLayout(p) {
				rep.Unread = append(rep.Unread, p)
			}
		}
	}
	return rep, nil
}

// isTextIgnoredByLayout reports whether a file is a text that the layout does not read, although the file is in one of
// its directories (see [LayoutWithIgnoredTexts]).
func (s *Store) isTextIgnoredByLayout(p string) bool {
	o, ok := s.layout.(LayoutWithIgnoredTexts)
	return ok && !s.layout.Match(p) && o.IsIgnoredText(p)
}

// reportFileProblems reports the problems in a file.
func (st *treeState) reportFileProblems(f *treeFile, addProblem func(what, mend string)) {
	switch {
	case f.unusableDiskTextReason != "" && !f.wasNeverValid:
		addProblem(
			f.path+" "+f.unusableDiskTextReason+"; it is held as it was last good",
			"mend the file, or remove it if it is done with; writing one of its entries puts it back",
		)
	case f.unusableDiskTextReason != "":
		addProblem(f.path+" "+f.unusableDiskTextReason, "mend the file, or remove it")
	}
	if f.ignoredEntriesText != "" {
		addProblem(f.path+": "+f.ignoredEntriesText, "mend the file")
	}
	for i, it := range f.items {
		c := st.entriesByName[it.Entry.Name]
		if c == nil {
			continue
		}
		if c.file != f || c.itemIndex != i {
			addProblem(
				fmt.Sprintf("%s says %q, which %s says too and which counts", f.path, it.Entry.Name, c.file.path),
				"give one of them another name, or remove it",
			)
		}
	}
}

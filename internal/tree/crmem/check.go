// This file checks whether the file of a store is valid.

package crmem

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/oxbow-memory/oxbow"
)

// Check implements [oxbow.Checker]. It cannot detect a changed byte that is still valid, because the format lacks a
// checksum.
func (s *Store) Check(ctx context.Context) (oxbow.CheckReport, error) {
	rep := oxbow.CheckReport{Path: s.pathForMessages}
	// The state and the file cannot be compared if another process writes the file after the state was read. In this
	// case, Check tries again.
	for range maxFileReadAttempts {
		if err := s.Refresh(ctx); err != nil {
			var f *FormatError
			if errors.As(err, &f) {
				rep.Problems = append(rep.Problems, oxbow.Problem{Offset: f.Offset, What: f.Error(),
					Mend: "restore a backup, or bring what can be read into a new memory: `oxbow convert DIR`"})
				return rep, nil
			}
			return rep, err
		}
		s.mu.RLock()
		seen := s.lastFileState
		s.mu.RUnlock()
		if seen.file == nil {
			rep.Problems = append(rep.Problems, s.leftoverFileProblems()...)
			return rep, nil
		}
		img, data, err := s.readFileState()
		isExpected := errors.Is(err, errChangedDuringRead) || errors.Is(err, fs.ErrNotExist)
		if err != nil && !isExpected {
			return rep, fmt.Errorf("reading %s: %w", s.pathForMessages, err)
		}
		if err != nil {
			continue
		}
		img.close()
		if !seen.isUnchanged(img.info) {
			continue
		}
		rep.Bytes = int64(len(data))
		f, names, err := decodeMemoryFile(data)
		if err != nil {
			rep.Problems = append(rep.Problems, oxbow.Problem{Offset: -1, What: s.describeError(data, err).Error(),
				Mend: "restore a backup"})
			return rep, nil
		}
		rep.Records, rep.Entries = len(f.Entries), len(f.Entries)
		s.mu.RLock()
		current := s.lastFileState.isUnchanged(img.info)
		if current {
			rep.Problems = append(rep.Problems, compareStates(s.st, newState(f, names))...)
		}
		s.mu.RUnlock()
		if !current {
			continue
		}
		if d, err := decodeEntries(data, kindNumberArchive); err == nil && d.file.NextID < f.NextID {
			rep.Problems = append(rep.Problems, oxbow.Problem{Offset: headerSize,
				What: fmt.Sprintf(
					"the next id is %d, but entries up to %d are there: crabtalk would write over one of them",
					d.file.NextID,
					f.NextID-1,
				),
				Mend: "the next change puts it right"})
		}
		rep.Problems = append(rep.Problems, s.leftoverFileProblems()...)
		return rep, nil
	}
	return rep, fmt.Errorf("%w: others write faster than it can be checked", oxbow.ErrBusy)
}

// compareStates returns a problem if the state in memory differs from the state in the file.
func compareStates(memoryState, fileState *state) []oxbow.Problem {
	const mend = "this is a defect of oxbow: please report it; a restart reads the file anew"
	if len(memoryState.sortedRecords) != len(fileState.sortedRecords) ||
		len(memoryState.byName) != len(fileState.byName) {
		return []oxbow.Problem{
			{
				Offset: -1,
				What: fmt.Sprintf(
					"%d entries are answered from, %d are in the file",
					len(memoryState.sortedRecords),
					len(fileState.sortedRecords),
				),
				Mend: mend,
			},
		}
	}
	for i, r := range memoryState.sortedRecords {
		w := fileState.sortedRecords[i]
		isIndexed := memoryState.byName[r.Name] == r
		if !isIndexed || !r.equals(w) {
			return []oxbow.Problem{
				{Offset: -1, What: fmt.Sprintf("entry %q in memory is not the one in the file", r.Name), Mend: mend},
			}
		}
	}
	return nil
}

// leftoverFileProblems returns a problem for each file next to the store that an interrupted write has left.
func (s *Store) leftoverFileProblems() []oxbow.Problem {
	var ps []oxbow.Problem
	for _, name := range s.tempNames() {
		ps = append(ps, oxbow.Problem{Offset: -1, What: "a write was interrupted and left " + name,
			Mend: "nothing to do: the first change of the next program that opens the store removes it"})
	}
	if _, err := s.fs.Stat(s.fileName + ".tmp"); err == nil {
		ps = append(ps, oxbow.Problem{Offset: -1, What: "an interrupted crabtalk left " + s.pathForMessages + ".tmp",
			Mend: "when no crabtalk is running, remove it: nothing needs it"})
	}
	return ps
}

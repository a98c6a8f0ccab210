// This file writes the edits of a change. Before writing, it compares each file again with the
// text for which the edit was planned. It writes all files or none.

package mdtree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/journal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// maxChangeAttempts is the maximum number of attempts to make a change. An attempt fails if another program changes a
// file just before oxbow writes the file.
const maxChangeAttempts = 50

// makeChange calls the function plan to plan edits of files, and writes the planned edits durably. If another program
// changes a file in the meantime, makeChange starts again and calls plan again. After maxChangeAttempts attempts,
// makeChange fails with [oxbow.ErrBusy]. The result is the effects of the plan that was written.
func (s *Store) makeChange(
	ctx context.Context,
	plan func(v *treeWithPlannedEdits, now time.Time) (*opPlanEffects, error),
) (*opPlanEffects, error) {
	release, err := s.acquireWriteLock(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	for range maxChangeAttempts {
		var own *opPlanEffects
		own, err = s.attemptChange(ctx, plan)
		if !errors.Is(err, vfs.ErrChanged) {
			return own, err
		}
	}
	return nil, fmt.Errorf("%w: %v, over and over", oxbow.ErrBusy, err)
}

// fileChange is the change of a file.
type fileChange struct {
	path      string
	newText   string
	isRemoved bool
	exists    bool        // the file exists
	diskText  string      // present text of the file
	perm      fs.FileMode // mode of the file
}

// attemptChange plans a change and makes it. If another program changed a file in the meantime, nothing
// is written and the error matches vfs.ErrChanged.
func (s *Store) attemptChange(
	ctx context.Context,
	plan func(v *treeWithPlannedEdits, now time.Time) (*opPlanEffects, error),
) (*opPlanEffects, error) {
	s.scanner.mu.Lock()
	defer s.scanner.mu.Unlock()
	if err := s.scanForChanges(ctx); err != nil {
		return nil, err
	}
	v := newTreeWithPlannedEdits(s)
	own, err := plan(v, s.options.Clock())
	if err != nil {
		return nil, err
	}
	changes, err := s.prepareChanges(v, own)
	if err != nil {
		return nil, err
	}
	switch {
	case len(changes) > 1 && s.options.NoJournal:
		return nil, fmt.Errorf("%w: a change of several files in a directory without a journal", oxbow.ErrUnsupported)
	case len(changes) == 1 && changes[0].isRemoved:
		err = s.executeRemoval(changes[0])
	case len(changes) == 1:
		err = s.writeChange(changes[0])
	case len(changes) > 1:
		err = s.writeAll(ctx, changes)
	}
	if err != nil {
		for _, w := range changes {
			s.rereadAtNextScan(w.path)
		}
		return nil, s.convertFileSystemError(err)
	}
	for p, why := range own.conflictReasonByFile {
		s.warn("%s: %s; what they wrote is kept beside as a conflict copy", p, why)
	}
	r := &fileScan{store: s, changedFiles: map[string]*treeFile{}}
	for _, w := range changes {
		if s.mayHoldEntries(w.path) {
			r.readAndCompareWithState(w.path)
		} else if _, ok := s.servedEntries.documentTexts[w.path]; ok {
			s.servedEntries.documentTexts[w.path] = w.newText
			delete(s.servedEntries.documentsEmptiedOnDisk, w.path)
		}
	}
	s.updateStateFromFiles(r.changedFiles, own)
	s.setEntryIDsAndTimes(own.writtenVersions)
	return own, nil
}

// setEntryIDsAndTimes replaces the entries in writtenVersions by the stored entries, which have IDs and times, and sets
// their sources. If another program has changed an entry in the meantime, setEntryIDsAndTimes only sets the ID. Removed
// entries stay unchanged. The caller must have locked scanner.mu.
func (s *Store) setEntryIDsAndTimes(writtenVersions []oxbow.Version) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for i := range writtenVersions {
		v := &writtenVersions[i]
		c := s.state.entriesByName[v.Entry.Name]
		switch {
		case v.Verb == oxbow.VerbRemove || c == nil:
		case c.entry.Version == v.Entry.Version:
			v.Entry, v.Source = *c.entry, c.entry.Source
		default:
			v.Entry.ID = c.entry.ID
		}
	}
}

// prepareChanges compares the present text of each file with its planned text. It returns the file changes that are
// still needed to get the planned texts. If another program has changed a file and its change could not be merged, the
// result also contains a new file with the present text, so that this text is preserved.
func (s *Store) prepareChanges(v *treeWithPlannedEdits, outcome *opPlanEffects) ([]fileChange, error) {
	var changes []fileChange
	taken := map[string]bool{}
	for _, p := range slices.Sorted(maps.Keys(v.plannedFileByPath)) {
		e := v.plannedFileByPath[p]
		if !e.isChanged {
			continue
		}
		w := fileChange{path: p, newText: e.newText, isRemoved: e.isRemoved, perm: 0o644}
		if err := s.readCurrentFile(&w, e, outcome); err != nil {
			return nil, err
		}
		if w.exists && outcome.conflictReasonByFile[p] != "" {
			name, err := conflictCopyName(s.fs, p, taken)
			if err != nil {
				return nil, err
			}
			taken[name] = true
			changes = append(changes, fileChange{path: name, newText: w.diskText, perm: w.perm})
		}
		isWritten := w.exists && w.diskText == w.newText
		isDone := (w.isRemoved && !w.exists) || (!w.isRemoved && isWritten)
		if !isDone {
			changes = append(changes, w)
		}
	}
	return changes, nil
}

// readCurrentFile reads the present text of the file w.path into w, before the file is changed. If the text has changed
// since the change was planned, the error matches vfs.ErrChanged.
//
// The text on disk may be unusable, for example because it is not a valid entry. The store then still uses the last
// valid text, and the change was planned for this text. Unless the unusable text is empty, readCurrentFile adds the
// file to effects.conflictReasonByFile, so that the unusable text is preserved in a conflict copy.
func (s *Store) readCurrentFile(w *fileChange, e *plannedFile, effects *opPlanEffects) error {
	text, info, err := s.readText(w.path, maxEntryFileBytes)
	switch {
	case err == nil:
		w.exists = true
		w.diskText = text
		w.perm = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("reading %s before it is written: %w", w.path, err)
	}
	there, before := e.exists, e.baseText
	f := s.state.files[w.path]
	held := e.mayHoldEntries && f != nil && f.unusableDiskTextReason != ""
	if held {
		there, before = true, f.unusableDiskText
	}
	if w.exists != there || w.diskText != before {
		s.rereadAtNextScan(w.path)
		return fmt.Errorf("%s: %w", w.path, vfs.ErrChanged)
	}
	if held && strings.TrimPrefix(w.diskText, byteOrderMark) != "" {
		effects.conflictReasonByFile[w.path] = "it " + f.unusableDiskTextReason
	}
	return nil
}

// contentBefore returns the file's content from when the change was prepared, or nil if the file
// did not exist.
func (w *fileChange) contentBefore() []byte {
	if !w.exists {
		return nil
	}
	return append([]byte{}, w.diskText...)
}

func (s *Store) writeChange(w fileChange) error {
	if err := s.createAndSyncDir(path.Dir(w.path)); err != nil {
		return err
	}
	err := vfs.ReplaceUnchanged(s.fs, w.path, w.contentBefore(), []byte(w.newText), w.perm)
	if err == nil || errors.Is(err, vfs.ErrChanged) {
		return err
	}
	if text, _, rerr := s.readText(w.path, maxEntryFileBytes); rerr != nil || text == w.newText {
		// It is unknown whether the write was made if the file cannot be read, or if the file already has the new text
		// but was perhaps not synced.
		return fmt.Errorf("%w: %w", oxbow.ErrUnknownOutcome, err)
	}
	return err
}

func (s *Store) executeRemoval(w fileChange) error {
	err := vfs.RemoveUnchanged(s.fs, w.path, w.contentBefore())
	if err == nil || errors.Is(err, vfs.ErrChanged) {
		return err
	}
	if _, _, rerr := s.readText(w.path, maxEntryFileBytes); errors.Is(rerr, fs.ErrNotExist) {
		// The file is gone, but the removal may be lost in a power failure.
		return fmt.Errorf("%w: %w", oxbow.ErrUnknownOutcome, err)
	}
	return err
}

// writeAll changes several files. It changes either all or none.
func (s *Store) writeAll(ctx context.Context, changes []fileChange) error {
	if err := s.stagingArea.RemoveUncommittedFiles(); err != nil {
		return err
	}
	j := &journal.Journal{Version: journal.FormatVersion}
	var staged []fileChange
	for _, w := range changes {
		was := ""
		if w.exists {
			was = journal.HexSum([]byte(w.diskText))
		}
		if w.isRemoved {
			j.Removals = append(j.Removals, journal.StagedRemoval{Path: w.path, OldFileHash: was})
			continue
		}
		staged = append(staged, w)
		j.Writes = append(
			j.Writes,
			journal.StagedWrite{Path: w.path, OldFileHash: was, NewFileHash: journal.HexSum([]byte(w.newText))},
		)
	}
	err := s.stageFiles(ctx, len(staged), func(i int, _ *[]byte) (stagedFile, error) {
		return stagedFile{
			name: s.stagingArea.StagedFile(i),
			data: []byte(staged[i].newText),
			perm: staged[i].perm,
		}, nil
	})
	for i := 0; err == nil && i < len(changes); i++ {
		err = vfs.CheckUnchanged(s.fs, changes[i].path, changes[i].contentBefore())
	}
	if err == nil {
		err = s.stagingArea.Commit(j)
	}
	if err != nil && !s.hasJournal() {
		// Nothing has been committed. Ignore the error, because leftover staged files are harmless.
		_ = s.stagingArea.RemoveUncommittedFiles()
		return err
	}
	if err == nil {
		err = s.finishChange(j)
	}
	if err != nil {
		return fmt.Errorf(
			"%w: it is recorded, and the next call will try to finish it: %w",
			oxbow.ErrUnknownOutcome,
			err,
		)
	}
	return nil
}

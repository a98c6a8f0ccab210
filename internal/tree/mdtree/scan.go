// This file finds files that other programs changed. If the operating system's events are reliable,
// it uses the events. Otherwise it lists the directories.

package mdtree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	// minFileAgeWhenRead is the minimum age of a file's last change when the file is read. If the last change was more
	// recent, a further change may get the same modification time and stay unnoticed, because some file systems record
	// times with a precision of only 2 s.
	minFileAgeWhenRead = 2 * time.Second

	// minFilesToWatchDir is the minimum number of files in a watched directory. For smaller
	// directories, listing costs less than processing an event for each write of this store.
	minFilesToWatchDir = 64
)

// rereadAtNextScan makes the next scan read the files even if their modification times are unchanged. A failed
// write may have changed the files.
func (s *Store) rereadAtNextScan(paths ...string) {
	for _, p := range paths {
		s.scanner.dirtyFiles[p] = true
	}
}

// scanForChanges updates the state from the files. The caller must have locked scanner.mu.
func (s *Store) scanForChanges(ctx context.Context) error {
	return s.scanFiles(ctx, &fileScan{store: s})
}

// rereadAllFiles is like scanForChanges, but reads all files again, even if their modification times are unchanged.
func (s *Store) rereadAllFiles(ctx context.Context) error {
	return s.scanFiles(ctx, &fileScan{store: s, readsAllFiles: true})
}

// scanFiles updates the state of the store from the files on disk. It reads the files that may have changed since the
// last scan, or all files if r.readsAllFiles is set. The changed files are collected in r.changedFiles. The caller must
// have locked scanner.mu.
func (s *Store) scanFiles(ctx context.Context, r *fileScan) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.changedFiles = map[string]*treeFile{}
	changed, lost := s.watchEvents()
	for _, d := range s.scanner.dirs {
		if err := s.scanDir(ctx, d, r, changed, lost); err != nil {
			return err
		}
	}
	for p := range s.scanner.dirtyFiles {
		if _, done := r.changedFiles[p]; !done && s.mayHoldEntries(p) {
			r.readAndCompareWithState(p)
		}
	}
	clear(s.scanner.dirtyFiles)
	if s.options.NewFilePriorityTest != nil {
		s.mu.Lock()
		s.state.isPreferredFile = s.options.NewFilePriorityTest(ctx)
		s.mu.Unlock()
	}
	s.updateStateFromFiles(r.changedFiles, nil)
	return nil
}

// updateStateFromFiles updates the state of the store after files were read again, and reports the changed entries to
// the watchers. The map newFileByPath contains the new state of each such file, by its path. If this store wrote the
// files, effects describes the change. If another program wrote them, effects is nil.
func (s *Store) updateStateFromFiles(newFileByPath map[string]*treeFile, effects *opPlanEffects) {
	touched := s.state.namesWithNewPreferredFile()
	if len(newFileByPath)+len(touched) == 0 {
		return
	}
	s.mu.Lock()
	old := map[string]*oxbow.Entry{}
	paths := make([]string, 0, len(newFileByPath))
	for p := range newFileByPath {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	var deltas []oxbow.Delta
	if len(s.state.files) == 0 && effects == nil {
		deltas = s.state.addAllFiles(paths, newFileByPath)
	} else {
		for _, p := range paths {
			s.state.setFile(p, newFileByPath[p], touched)
		}
		for name := range touched {
			if c := s.state.entriesByName[name]; c != nil {
				old[name] = c.entry
			}
		}
		var reborn map[string]bool
		if effects != nil {
			reborn = effects.removedNames
		}
		deltas = s.state.updateEntries(touched, reborn)
	}
	for name, e := range old {
		now := s.state.entriesByName[name]
		switch {
		case effects != nil:
			delete(s.servedEntries.receivedEntryByName, name)
		case now == nil || now.entry.Version != e.Version:
			if _, ok := s.servedEntries.receivedEntryByName[name]; !ok {
				s.servedEntries.receivedEntryByName[name] = e
			}
		}
	}
	s.mu.Unlock()
	if len(deltas) > 0 {
		s.watchers.Send(oxbow.Event{Changes: deltas})
	}
}

// watchEvents returns the events since the last call: the files to read, by directory, and the
// directories that are not watched any more.
func (s *Store) watchEvents() (changedFilesByDir map[string][]string, unwatchedDirs map[string]bool) {
	if s.scanner.fileWatch == nil {
		return nil, nil
	}
	files, gone, err := s.scanner.fileWatch.Changed()
	changedFilesByDir, unwatchedDirs = map[string][]string{}, map[string]bool{}
	for _, d := range s.scanner.dirs {
		unwatchedDirs[d.path] = err != nil || slices.Contains(gone, d.path)
	}
	for _, p := range files {
		changedFilesByDir[path.Dir(p)] = append(changedFilesByDir[path.Dir(p)], p)
	}
	return changedFilesByDir, unwatchedDirs
}

// scanDir reads the files in the directory d that were changed since the last scan. If d is watched, these are the
// files in changedFilesByDir, which the watch has reported. If d is not watched, or is in unwatchedDirs because its
// watch has ended, scanDir lists the directory and compares the files' metadata.
func (s *Store) scanDir(
	ctx context.Context,
	d *layoutDirectory,
	r *fileScan,
	changedFilesByDir map[string][]string,
	unwatchedDirs map[string]bool,
) error {
	isWatched := d.watchedDirInfo != nil && !unwatchedDirs[d.path]
	if isWatched && !r.readsAllFiles {
		// Use the watcher's results only if the path still leads to the watched directory, because the directory may
		// have been replaced.
		if now, err := s.fs.Stat(d.path); err == nil && vfs.SameFile(now, d.watchedDirInfo) {
			s.scanWatchedDir(d, r, changedFilesByDir[d.path])
			return nil
		}
	}
	d.watchedDirInfo = nil
	if s.scanner.hasReadFiles && d.fileCount >= minFilesToWatchDir {
		s.watchDir(d)
	}
	return s.listDir(ctx, d, r)
}

// scanWatchedDir reads the files that have changed according to the file system's watch on a directory. A watch does
// not report changes to the targets of links, so it also checks the files that are links.
func (s *Store) scanWatchedDir(d *layoutDirectory, r *fileScan, changedFiles []string) {
	for _, p := range changedFiles {
		if s.mayHoldEntries(p) {
			r.readAndCompareWithState(p)
		}
	}
	for _, p := range d.linkFiles {
		now, err := s.fs.Stat(p)
		if err != nil && s.state.files[p] == nil {
			continue
		}
		if err == nil && s.isFileStateCurrent(p, now) {
			continue
		}
		r.readAndCompareWithState(p)
	}
}

// isFileStateCurrent reports whether the file p has not changed since the store read it. info is the present metadata
// of the file. isFileStateCurrent returns false if the store has not read the file. It also returns false if the file
// had been changed so shortly before it was read that a further change might not show in its modification time.
func (s *Store) isFileStateCurrent(p string, info fs.FileInfo) bool {
	f := s.state.files[p]
	return f != nil && !f.isRecentlyChanged && f.info != nil && isSameUnchangedFile(info, f.info)
}

// watchDir starts to watch a directory. It must be called before the directory is listed, so that no change is missed.
// If the directory cannot be watched, each scan lists it.
func (s *Store) watchDir(d *layoutDirectory) {
	if s.scanner.fileWatch == nil {
		w, ok := s.fs.(vfs.Watcher)
		if !ok || s.scanner.isWatchUnsupported {
			return
		}
		notes, err := w.NewWatch()
		if err != nil {
			s.scanner.isWatchUnsupported = true
			return
		}
		s.scanner.fileWatch = notes
	}
	info, err := s.scanner.fileWatch.Add(d.path)
	if err != nil {
		s.scanner.isWatchUnsupported = s.scanner.isWatchUnsupported || errors.Is(err, vfs.ErrUnsupported)
		return
	}
	d.watchedDirInfo = info
}

// listDir lists a directory and reads the changed files in it.
func (s *Store) listDir(ctx context.Context, d *layoutDirectory, r *fileScan) error {
	entries, err := s.fs.ReadDir(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		entries = nil
	case err != nil && !s.scanner.hasReadFiles:
		return fmt.Errorf("listing %s: %w", d.path, err)
	case err != nil:
		// keep the files, because a directory that cannot be listed does not mean that its files
		// were removed
		if why := err.Error(); d.listError != why {
			d.listError = why
			s.warn("%s cannot be listed, its files stay as they were: %s", d.path, why)
		}
		return nil
	}
	d.listError = ""
	d.fileCount = 0
	d.linkFiles = nil
	todo, err := s.filesToRead(ctx, d, entries, r.readsAllFiles)
	if err != nil {
		return err
	}
	return r.readFiles(ctx, todo)
}

// filesToRead chooses files in the directory d. It returns the paths of the files that the caller must read, because
// the files were changed or removed since the last scan. If readAll is set, the result also contains all unchanged
// files. The parameter entries is the present content of the directory. filesToRead also counts the files in
// d.fileCount and adds the paths of symbolic links to d.linkFiles.
func (s *Store) filesToRead(
	ctx context.Context,
	d *layoutDirectory,
	entries []fs.DirEntry,
	readAll bool,
) ([]string, error) {
	listed := make(map[string]bool, len(entries))
	var todo []string
	for i, e := range entries {
		if i%256 == 255 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p := path.Join(d.path, e.Name())
		if e.IsDir() || !s.mayHoldEntries(p) {
			continue
		}
		listed[p] = true
		d.fileCount++
		if e.Type()&fs.ModeSymlink != 0 {
			d.linkFiles = append(d.linkFiles, p)
		}
		mustRead := readAll || s.scanner.dirtyFiles[p]
		if mustRead || !s.isUnchanged(p, e) {
			todo = append(todo, p)
		}
	}
	for p := range s.state.files {
		if path.Dir(p) == d.path && !listed[p] {
			todo = append(todo, p)
		}
	}
	return todo, nil
}

// isUnchanged reports whether a file, which a directory listing contains, has not changed since this store last read
// it.
func (s *Store) isUnchanged(p string, e fs.DirEntry) bool {
	f := s.state.files[p]
	isExamined := f != nil && !f.isRecentlyChanged && f.info != nil
	if !isExamined {
		return false
	}
	now, err := s.statFile(p, e)
	return err == nil && s.isFileStateCurrent(p, now)
}

// statFile returns the metadata of the file filePath. The argument e is the file's entry in the directory listing. For
// a regular file, statFile returns the metadata in e. Otherwise, for example for a link, it returns the metadata of the
// target.
func (s *Store) statFile(filePath string, e fs.DirEntry) (fs.FileInfo, error) {
	if e.Type().IsRegular() {
		return e.Info()
	}
	return s.fs.Stat(filePath)
}

// isSameUnchangedFile reports whether a and b describe the same unchanged file.
func isSameUnchangedFile(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && vfs.SameFile(a, b)
}

// fileScan reads files during a scan.
type fileScan struct {
	store         *Store
	readsAllFiles bool
	changedFiles  map[string]*treeFile // files that differ from what this store read before (nil for a removed file)
}

// readResult is the result of reading a file, before it is compared with the state.
type readResult struct {
	file               *treeFile
	err                error  // error from reading the file
	unusableTextReason string // reason why the file's text cannot be used, such as invalid UTF-8 ("" if it can be used)
}

// readAndCompareWithState reads a file and compares the text with the state.
func (r *fileScan) readAndCompareWithState(filePath string) {
	l := r.store.readFile(filePath)
	r.compareWithState(filePath, &l)
}

// filesPerBatch is the number of files that a goroutine reads at a time.
const filesPerBatch = 64

// readFiles reads files. Many files are read in parallel, because parsing takes about as long as
// reading.
func (r *fileScan) readFiles(ctx context.Context, paths []string) error {
	if len(paths) <= 2*filesPerBatch {
		for _, p := range paths {
			r.readAndCompareWithState(p)
		}
		return nil
	}
	all := make([]readResult, len(paths))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 8) {
		wg.Go(func() {
			for ctx.Err() == nil {
				from := int(next.Add(filesPerBatch)) - filesPerBatch
				if from >= len(paths) {
					return
				}
				for i := from; i < min(from+filesPerBatch, len(paths)); i++ {
					all[i] = r.store.readFile(paths[i])
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, p := range paths {
		r.compareWithState(p, &all[i])
	}
	return nil
}

// readFile reads and parses a file. It does not change the state. The caller must have locked scanner.mu.
func (s *Store) readFile(p string) (l readResult) {
	old := s.state.files[p]
	text, info, err := s.readText(p, s.options.MaxFileBytes)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotFile) {
		l.err = fs.ErrNotExist
		return l
	}
	f := &treeFile{path: p, info: info, lastValidText: text}
	l.file = f
	// if it is unknown when the file was changed, let the next scan read the file again
	f.isRecentlyChanged = info == nil || info.ModTime().After(s.options.Clock().Add(-minFileAgeWhenRead))
	switch {
	case err != nil:
		l.err, l.unusableTextReason = err, "cannot be read: "+err.Error()
		return l
	case strings.TrimPrefix(text, "\ufeff") == "":
		l.unusableTextReason = "is empty"
		return l
	}
	l.unusableTextReason = InvalidTextReason(text)
	if l.unusableTextReason != "" {
		return l
	}
	if old != nil && old.hasSameText(f) {
		return l
	}
	items, err := s.layout.Parse(p, text)
	if err != nil {
		l.unusableTextReason = "cannot be understood: " + err.Error()
	}
	var wrong []string
	f.items, wrong = setItemMetadata(items, info.ModTime())
	if len(wrong) > 0 {
		f.ignoredEntriesText = strings.Join(wrong, "; ")
	}
	return l
}

// hasSameText reports whether a file is unchanged since the state f was recorded. The argument newFile is the file's
// new state, which was just read. The file is unchanged if its text and its modification time are equal in both states.
// hasSameText returns false if the text in the state f was not valid.
func (f *treeFile) hasSameText(newFile *treeFile) bool {
	return f.unusableDiskTextReason == "" && !f.wasNeverValid && f.info != nil &&
		f.lastValidText == newFile.lastValidText &&
		f.info.ModTime().Equal(newFile.info.ModTime())
}

// compareWithState compares the text of a file, which was just read, with the text that this store read before. If the
// text has changed, it adds the file to r.changedFiles. It adds nil for a file that no longer exists. If the new text
// is unusable, for example because it is not UTF-8, it adds the file with its last valid text and logs a warning.
func (r *fileScan) compareWithState(filePath string, result *readResult) {
	s := r.store
	old := r.store.state.files[filePath]
	f := result.file
	if f == nil {
		if old != nil {
			r.changedFiles[filePath] = nil
		}
		return
	}
	if result.unusableTextReason == "" {
		if old != nil && old.hasSameText(f) {
			old.info, old.isRecentlyChanged = f.info, f.isRecentlyChanged
			return
		}
		isNew := old == nil || old.ignoredEntriesText != f.ignoredEntriesText
		if isNew && f.ignoredEntriesText != "" {
			s.warn("%s: %s", filePath, f.ignoredEntriesText)
		}
		r.changedFiles[filePath] = f
		return
	}
	f.unusableDiskTextReason = result.unusableTextReason
	if result.err == nil {
		f.unusableDiskText = f.lastValidText
	}
	said := "no entry is taken from it"
	if old != nil && !old.wasNeverValid {
		f.lastValidText, f.items = old.lastValidText, old.items
		said = "it is held as it was last good"
	} else {
		f.wasNeverValid = true
		if len(f.items) > 0 {
			said = "only a part of it is taken"
		}
	}
	if old == nil || old.unusableDiskTextReason != f.unusableDiskTextReason {
		s.warn("%s %s; %s", filePath, result.unusableTextReason, said)
	}
	r.changedFiles[filePath] = f
}

// InvalidTextReason returns the reason why the bytes cannot be a valid text, or "" if they are valid.
func InvalidTextReason(text string) string {
	switch {
	case !utf8.ValidString(text):
		return "is not UTF-8 text"
	case strings.IndexByte(text, 0) >= 0:
		return "holds a NUL: it is damaged, or not text"
	}
	return ""
}

// This file implements Dump: it writes a store as a tree.

package mdtree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/journal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// DumpOptions configure [Dump]. Nil and zero fields mean the default.
type DumpOptions struct {
	// Force allows a dump to a directory that is not empty and was not written by a dump. With
	// Force, a dump also replaces or removes entry files that the user changed or added, even if
	// the user has not loaded these files. Copies of such files are kept (see [DumpReport.EditedFileCopies]).
	Force bool

	Filter oxbow.Filter // selects the entries that are dumped

	// DumpedStoreIdentity contains the name under which the manifest (the list of the dumped files) refers to the
	// store. If the existing manifest names a different store, the manifest is ignored, and all existing files count as
	// edited.
	DumpedStoreIdentity StoreIdentity

	DirNameInErrors string // name of the directory in errors (its path by default)

	// Progress is called once with done = 0, and after each entry.
	Progress func(done, total int)

	clockResolution time.Duration // resolution of the file system's clock (0 means that it is determined)

	maxNewFileBytesInMemory int // maximum size of new files that are kept in memory, in bytes (0 means the default)

	// minimum number of files for which the whole file system is synced at once (0 means the default)
	minFilesForBulkSync int
}

// DumpReport describes a dump's changes to the tree's files, except the manifest.
type DumpReport struct {
	EntryCount           int  // number of entries in the store
	WrittenFileCount     int  // number of files created or replaced
	UnchangedFileCount   int  // number of files that were up to date
	RemovedFileCount     int  // number of files removed because their entries do not exist any more
	CompletedEarlierDump bool // the dump first completed an earlier dump that was interrupted

	// EditedFileCopies lists copies of files that were edited after the last dump. This dump replaced or removed the
	// files although their edits were not loaded into the store. The edited files can be the table of contents and, if
	// Force is set, files of entries.
	EditedFileCopies []string

	// EntriesWithDirectives lists the entries with mdbook directives, such as {{#include FILE}}, if a
	// book.toml that the user wrote allows mdbook to execute them.
	EntriesWithDirectives []string
}

// Dump writes all entries in a store as a file tree into the directory dir, and creates the directory if necessary.
// Files that are up to date are not written. Files that the dump did not create are not touched (see the package
// comment). New files and directories are accessible only to their owner (0600, 0700), like the memory. A replaced file
// keeps its mode.
//
// For [ReadTree] and for the next Dump, the dump is always atomic: both functions read either the old tree or the new
// tree. After a crash, other programs may see a mixture of new and old files until the next Dump.
//
// If the directory contains other files, Dump returns an error that matches [ErrNotDumpDir]. Files whose names start
// with a dot are ignored. If somebody has changed files of entries since the last dump, and the store lacks a text from
// these files, Dump returns a [*FilesError] that matches [ErrFilesEdited]. If another process is dumping to the
// directory, the error matches [oxbow.ErrBusy]. See [DumpOptions] for the option Force.
func Dump(ctx context.Context, s oxbow.Store, fsys vfs.FS, dir string, o *DumpOptions) (DumpReport, error) {
	if o == nil {
		o = &DumpOptions{}
	}
	d := &dumper{
		dumpTree: newDumpTree(fsys, dir),
		store:    s,
		isForced: o.Force,
		origin:   o.DumpedStoreIdentity,
		progress: o.Progress,
		history: newStoreHistory(
			ctx,
			s,
		),
		maxTextBytesInMemory: cmp.Or(o.maxNewFileBytesInMemory, defaultMaxTextBytesInMemory),
	}
	d.filter = o.Filter
	d.clockResolution = o.clockResolution
	if o.minFilesForBulkSync > 0 {
		d.minFilesForBulkSync = o.minFilesForBulkSync
	}
	if d.progress == nil {
		d.progress = func(int, int) {}
	}
	if err := d.dumpWithRetries(ctx); err != nil {
		return DumpReport{}, fmt.Errorf("dumping to %s: %w", cmp.Or(o.DirNameInErrors, d.dir), err)
	}
	return d.report, nil
}

type dumper struct {
	dumpTree
	store    oxbow.Store
	filter   oxbow.Filter
	isForced bool
	origin   StoreIdentity
	history  *storeHistory
	progress func(done, total int)
	report   DumpReport

	outputs       outputTable
	tempTextStore textTempStore
	// If keepsAllTexts is set, the spool (a temporary buffer) stores the new text of each entry until the entry's file
	// is written. If it is not set, the spool does not store a text that the entry's file probably contains already.
	keepsAllTexts      bool
	reportedEntryCount atomic.Int64 // number of entries that were reported as progress
	// files in the directories for entries that belong to no entry in the dump, sorted by path
	filesWithoutEntry []entryDirFile
	// the spelling of each path on disk, by its Unicode normal form C (only for paths that are not ASCII)
	diskPathByNormalForm map[string]string
	lastDump             lastDump

	newManifestDigest sha256Digest // hash of the manifest after the dump
	newSummaryDigest  sha256Digest // hash that the file with the table of contents has after the dump
	memoryName        string       // name of the store in the manifest after the dump

	hashListHeader      knownHashListHeader
	knownFileCount      int // how many rows the list of known files has
	unchangedKnownFiles int // number of rows in the list of known files that were read and are still valid
	stabilityTest       fileStabilityTest
	// a file was read that can be added to the list of files that later dumps need not read again
	hasNewFileForHashList bool

	outputsToWrite []int32 // indexes in outputs of the entries whose files are written
	// hash, in hex, of the old content of each file that the dump replaces; the key is the index in outputs of the
	// file's entry
	replacedFileHashByOutput map[int32]string
	// files other than the entries' files that the dump writes, such as the manifest
	nonEntryFilesToWrite []nonEntryFile
	removals             []journal.StagedRemoval
	editedFiles          []string
	editedFilesToCopy    []string // edited files that are copied because the dump replaces or removes them

	maxTextBytesInMemory    int
	reportsMdBookDirectives bool // see DumpReport.EntriesWithDirectives
}

// nonEntryFile is a file that a dump writes besides the files of the entries, such as the manifest.
type nonEntryFile struct {
	journal.StagedWrite
	writeContent func(w io.Writer) error
}

func (d *dumper) dumpWithRetries(ctx context.Context) error {
	if err := d.checkNoUndumpedFiles(); err != nil {
		return err
	}
	if err := d.fs.MkdirAll(d.dir, d.dirPerm); err != nil {
		return err
	}
	unlock, err := d.lockDumps()
	if err != nil {
		return err
	}
	defer unlock()
	if err := d.recoverDump(); err != nil {
		return fmt.Errorf("finishing an interrupted dump: %w", err)
	}
	err = d.dumpOnce(ctx)
	if errors.Is(err, errEntryChanged) {
		recovered := d.report.CompletedEarlierDump
		d.discardPlan()
		d.report.CompletedEarlierDump = recovered
		d.keepsAllTexts = true
		err = d.dumpOnce(ctx)
	}
	return err
}

// discardPlan discards the plan of the last attempt.
func (d *dumper) discardPlan() {
	d.report = DumpReport{}
	d.outputs = outputTable{}
	d.filesWithoutEntry = nil
	d.outputsToWrite = nil
	d.replacedFileHashByOutput = nil
	d.nonEntryFilesToWrite = nil
	d.removals = nil
	d.editedFiles = nil
	d.editedFilesToCopy = nil
	d.knownFileCount = 0
	d.unchangedKnownFiles = 0
	d.hasNewFileForHashList = false
	d.reportedEntryCount.Store(0)
}

// dumpOnce makes a dump. To save memory, it does not store the text of an entry whose file probably has this text
// already. If the file has another text after all, dumpOnce reads the entry from the store again. If the entry was
// changed in the meantime, dumpOnce changes nothing, and the error matches errEntryChanged.
func (d *dumper) dumpOnce(ctx context.Context) error {
	if err := d.readLastDumpState(); err != nil {
		return err
	}
	d.tempTextStore = textTempStore{tempFileTree: &d.fileTree, maxMemoryBytes: d.maxTextBytesInMemory}
	err := d.planFiles(ctx)
	written := &fileStabilityTest{isCutoffUnknown: true}
	if err != nil || len(d.outputsToWrite)+len(d.nonEntryFilesToWrite)+len(d.removals) == 0 {
		err = errors.Join(err, d.deleteUnusedTempTexts())
	} else {
		written, err = d.stageAndMoveFiles(ctx)
	}
	if err == nil {
		d.saveKnownHashList(written)
	}
	return err
}

// planFiles determines what to write and remove.
func (d *dumper) planFiles(ctx context.Context) error {
	if err := d.collectEntries(ctx); err != nil {
		return err
	}
	if err := d.matchFilesToOutputs(); err != nil {
		return err
	}
	err := d.planChanges(ctx)
	if err == nil && len(d.editedFiles) > 0 {
		slices.Sort(d.editedFiles)
		err = &FilesError{Dir: d.dir, Err: ErrFilesEdited, Files: d.editedFiles,
			Hint: "load the tree first, or force the dump, which keeps a copy of each of them"}
	}
	return err
}

// deleteUnusedTempTexts is called if the dump writes no files. It deletes the temporary file with the texts of entries
// (the spool), and the staged files. It does nothing if there is no spool.
func (d *dumper) deleteUnusedTempTexts() error {
	if d.tempTextStore.spoolFile == nil {
		return nil
	}
	return errors.Join(d.tempTextStore.deleteSpoolFile(), d.stagingArea.RemoveUncommittedFiles())
}

// checkNoUndumpedFiles returns an error if the directory seems to contain files that no dump wrote. The directory is
// accepted if one of these conditions is met:
//   - The user forced the dump.
//   - The directory does not exist, or contains only hidden files.
//   - It contains the manifest or the staging directory of a dump.
//   - It contains the settings file of an mdBook, and a table of contents that a dump wrote.
func (d *dumper) checkNoUndumpedFiles() error {
	if d.isForced {
		return nil
	}
	items, err := d.fs.ReadDir(d.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var visible []string
	book := false
	for _, it := range items {
		switch name := it.Name(); {
		case name == manifestFile, name == dumpStageDir:
			return nil
		case name[0] != '.':
			visible = append(visible, name)
			book = book || name == mdBookSettingsFile
		}
	}
	if len(visible) == 0 {
		return nil
	}
	if book {
		text, err := d.readText(summaryFile, maxEntryListBytes)
		if err == nil && isSummary(text) {
			return nil
		}
	}
	return fmt.Errorf("%w: it has %s; choose another directory, or force the dump", ErrNotDumpDir, visible[0])
}

// lockDumps prevents concurrent dumps. It does nothing on a file system without locks.
func (d *dumper) lockDumps() (unlock func(), err error) {
	l, err := d.fs.OpenLock(d.fullPath(dumpLockFile))
	if errors.Is(err, vfs.ErrUnsupported) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	got, err := l.TryLock()
	if err == nil && !got {
		err = fmt.Errorf("%w: another dump is at work there", oxbow.ErrBusy)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return func() { l.Close() }, nil
}

// recoverDump completes a dump that was committed, or deletes the staged files of a dump that was not
// committed.
func (d *dumper) recoverDump() error {
	j, err := d.readJournal()
	if err != nil {
		return err
	}
	if j == nil {
		return d.stagingArea.RemoveUncommittedFiles()
	}
	d.report.CompletedEarlierDump = true
	return d.resumeChange(j)
}

// readLastDumpState reads the last dump's manifest into d.lastDump. It also determines whether mdBook would execute
// directives in the entries (see detectDirectiveExecution).
func (d *dumper) readLastDumpState() error {
	if err := d.checkTopDirectory(); err != nil {
		return err
	}
	d.stabilityTest = fileStabilityTest{}
	last, err := d.readLastDump(d.origin)
	if err != nil {
		return err
	}
	d.lastDump = last
	return d.detectDirectiveExecution()
}

// matchFilesToOutputs compares the files in the directory with the files that the dump will write. It notes which
// files exist, and which files are unchanged since an earlier dump recorded their hash.
func (d *dumper) matchFilesToOutputs() error {
	outs := &d.outputs
	d.hashListHeader, _ = d.loadKnownFiles(func(f fileWithKnownHash) {
		d.knownFileCount++
		if i, ok := outs.findPath(f.path); ok && outs.outputFiles[i].fileDigest == f.contentDigest {
			outs.outputFiles[i].stamp = d.hashFileStamp(f.fileStamp)
		}
	})
	d.diskPathByNormalForm = make(map[string]string)
	err := d.eachEntry(func(e dirEntry) error {
		isEntry := !e.isKindDir() && isEntryFile(path.Base(e.path))
		if !e.isKindDir() && !isEntry {
			return nil
		}
		if e.isKindDir() || e.mode != 0 {
			return fmt.Errorf("%s is %s, which a dump does not touch; move it away", e.path, describeMode(e.mode))
		}
		i, ok := outs.findPath(e.path)
		if !ok {
			d.filesWithoutEntry = append(d.filesWithoutEntry, entryDirFile{e.path, e.kindDir})
			if !isASCII(e.path) {
				d.diskPathByNormalForm[normalizeNFC(e.path)] = e.path
			}
			return nil
		}
		out := &outs.outputFiles[i]
		out.state = outputFileToRead
		if out.stamp != 0 && out.stamp == d.hashEntryStamp(e) {
			out.state = outputFileUnchanged
			d.unchangedKnownFiles++
		}
		return nil
	})
	slices.SortFunc(d.filesWithoutEntry, func(a, b entryDirFile) int { return strings.Compare(a.path, b.path) })
	return err
}

// checkTopDirectory returns an error if a file that the dump writes has the name of a link or directory. If an earlier
// dump crashed, it deletes the temporary files for the list of known files.
func (d *dumper) checkTopDirectory() error {
	top, err := d.fs.ReadDir(d.dir)
	if err != nil {
		return err
	}
	for _, e := range top {
		if of, ok := vfs.TempOf(e.Name()); ok && of == knownHashListFile {
			// Ignore the error, because a leftover temporary file does no harm.
			_ = d.fs.Remove(d.fullPath(e.Name()))
			continue
		}
		isDumped := e.Name() == summaryFile || e.Name() == mdBookSettingsFile || e.Name() == manifestFile
		if isDumped && !e.Type().IsRegular() {
			return fmt.Errorf("%s is %s, which a dump does not touch; move it away", e.Name(), describeMode(e.Type()))
		}
	}
	return nil
}

// stageAndMoveFiles writes the new files to a temporary directory, commits the dump, and moves the files to their
// places. It returns a fileStabilityTest, which decides for each new file whether later dumps must read the file again.
//
// This test is necessary because a dump notices a change of a file only by the file's modification time. If a file is
// changed twice within the same tick of the clock, the second change does not alter the modification time. Therefore
// later dumps can skip a file only if the file's last change is old enough. If an error occurs before the files are
// written, the returned test does not know which changes are old enough.
func (d *dumper) stageAndMoveFiles(ctx context.Context) (*fileStabilityTest, error) {
	written := &fileStabilityTest{isCutoffUnknown: true}
	j, staged, err := d.makeJournal()
	if err == nil {
		err = d.stageFiles(ctx, len(staged), func(i int, buf *[]byte) (stagedFile, error) {
			return d.fileToStage(ctx, i, staged[i], buf)
		})
	}
	if err == nil {
		err = d.copyEditedFiles()
	}
	err = errors.Join(err, d.tempTextStore.deleteSpoolFile())
	if err != nil {
		// The dump has not changed the tree yet. If a temporary file cannot be deleted now, the next dump deletes it.
		return written, errors.Join(err, d.stagingArea.RemoveUncommittedFiles())
	}
	if d.supportsFileStamps() {
		settled, ok := d.measureStabilityCutoff()
		written = &fileStabilityTest{stabilityCutoffNanos: settled, isCutoffUnknown: !ok}
	}
	if err := d.stagingArea.Commit(j); err != nil {
		return written, fmt.Errorf("committing: %w", err)
	}
	if err := d.finishChange(j); err != nil {
		return written, fmt.Errorf("putting files in place (the next dump goes on with it): %w", err)
	}
	return written, nil
}

// fileToStage returns the fileIndex-th file to be staged. The entries' files come before other files. journalIndex is
// the file's index in the journal, or -1. buf is reused for the texts of entries.
func (d *dumper) fileToStage(ctx context.Context, fileIndex int, journalIndex int32, buf *[]byte) (stagedFile, error) {
	p, was := d.pathAndOldHash(fileIndex)
	f := stagedFile{name: d.stagingArea.StagedPath(p), perm: 0o600}
	if journalIndex >= 0 {
		f.name = d.stagingArea.StagedFile(int(journalIndex))
	}
	if was != "" {
		if info, err := d.fs.Stat(d.fullPath(p)); err == nil {
			f.perm = info.Mode().Perm()
		}
	}
	if fileIndex >= len(d.outputsToWrite) {
		f.writeContent = d.nonEntryFilesToWrite[fileIndex-len(d.outputsToWrite)].writeContent
		return f, nil
	}
	var err error
	*buf, err = d.appendText(ctx, (*buf)[:0], d.outputsToWrite[fileIndex])
	f.data = *buf
	if err == nil {
		d.reportProgress()
	}
	return f, err
}

// pathAndOldHash returns the path to which the i-th file is written (in the order of fileToStage), and the hash, in
// hex, of the file that it replaces. The hash is "" if it replaces no file.
func (d *dumper) pathAndOldHash(i int) (p, oldHash string) {
	if i >= len(d.outputsToWrite) {
		l := d.nonEntryFilesToWrite[i-len(d.outputsToWrite)]
		return l.Path, l.OldFileHash
	}
	return d.outputs.pathOfRow(d.outputsToWrite[i]), d.replacedFileHashByOutput[d.outputsToWrite[i]]
}

// describeStagedWrite returns, for the dump's journal, the description of the fileIndex-th file that the dump writes.
func (d *dumper) describeStagedWrite(fileIndex int) journal.StagedWrite {
	if fileIndex >= len(d.outputsToWrite) {
		return d.nonEntryFilesToWrite[fileIndex-len(d.outputsToWrite)].StagedWrite
	}
	p, was := d.pathAndOldHash(fileIndex)
	return journal.StagedWrite{
		Path:        p,
		OldFileHash: was,
		NewFileHash: d.outputs.outputFiles[d.outputsToWrite[fileIndex]].fileDigest.hexText(),
	}
}

// makeJournal returns a journal with the changes that this dump makes to files. It also returns a list with an index
// for each new file. The index is the position of the file in j.Writes. If the directory of a file does not exist yet,
// makeJournal creates the directory in the staging area and adds it to j.NewDirs. The dump later moves the whole
// directory to its place, so the file is not in j.Writes, and its index is -1.
func (d *dumper) makeJournal() (*journal.Journal, []int32, error) {
	j := &journal.Journal{Version: journal.FormatVersion, Removals: d.removals}
	staged := make([]int32, len(d.outputsToWrite)+len(d.nonEntryFilesToWrite))
	missing := map[string]bool{".": false}
	for i := range staged {
		p, _ := d.pathAndOldHash(i)
		dir := path.Dir(p)
		whole, known := missing[dir]
		if !known {
			there, err := d.nameExists(d.fullPath(dir))
			whole = !there
			if err == nil && whole {
				j.NewDirs = append(j.NewDirs, dir)
				err = d.fs.MkdirAll(d.stagingArea.StagedPath(dir), d.dirPerm)
			}
			if err != nil {
				return nil, nil, err
			}
			missing[dir] = whole
		}
		if whole {
			staged[i] = -1
			continue
		}
		staged[i] = int32(len(j.Writes))
		j.Writes = append(j.Writes, d.describeStagedWrite(i))
	}
	return j, staged, nil
}

// reportProgress reports that one more entry is done.
func (d *dumper) reportProgress() {
	d.progress(int(d.reportedEntryCount.Add(1)), len(d.outputs.outputFiles))
}

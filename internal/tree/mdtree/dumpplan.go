// This file plans a dump: it reads the entries, assigns a file to each, and determines which files are
// written, removed, or left unchanged.

package mdtree

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/tree/journal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// errEntryChanged reports that an entry was changed while it was dumped.
var errEntryChanged = fmt.Errorf("%w: an entry was changed meanwhile", oxbow.ErrBusy)

// collectEntries reads the entries from the store and assigns a file to each.
func (d *dumper) collectEntries(ctx context.Context) error {
	if c := oxbow.CapabilitiesOf(d.store).Counter; c != nil {
		if stats, err := c.Stats(ctx); err == nil {
			d.outputs.outputFiles = make([]outputFile, 0, stats.Entries)
		}
	}
	var buf []byte
	for e, err := range d.store.Entries(ctx, d.filter) {
		if err != nil {
			return err
		}
		for _, text := range append([]string{e.Name, e.Content}, e.Aliases...) {
			if !utf8.ValidString(text) {
				return &oxbow.NameError{
					Name: e.Name,
					Err:  fmt.Errorf("entry %w: its text is not UTF-8", oxbow.ErrInvalid),
				}
			}
		}
		e.Labels = withoutLocalLabels(e.Labels)
		if d.reportsMdBookDirectives && hasMdBookDirective(&e) {
			d.report.EntriesWithDirectives = append(d.report.EntriesWithDirectives, strings.Clone(e.Name))
		}
		out, text, err := d.renderEntry(&e, buf)
		if err != nil {
			return err
		}
		buf = text
		d.outputs.outputFiles = append(d.outputs.outputFiles, out)
	}
	d.lastDump.fileHashPrefixes = nil
	slices.Sort(d.report.EntriesWithDirectives)
	d.report.EntryCount = len(d.outputs.outputFiles)
	return d.assignFilePaths(ctx)
}

// hasMdBookDirective reports whether mdbook would execute a directive in the name or the content of the entry.
func hasMdBookDirective(e *oxbow.Entry) bool {
	return fileDirectivePattern().MatchString(e.Content) || fileDirectivePattern().MatchString(e.Name)
}

// renderEntry returns a description of the file that the dump writes for an entry. It also stores the text of the file
// in d.tempTextStore, which is a buffer that may move to a temporary file. If keepsAllTexts is false and the last dump
// probably wrote a file with the same hash, the text is not stored. renderEntry builds the text in the slice buf. The
// second result is this slice, which the caller can pass to the next call.
func (d *dumper) renderEntry(e *oxbow.Entry, buf []byte) (outputFile, []byte, error) {
	// Copy the name, because it may share the memory of the whole entry.
	out := outputFile{
		kind:                e.Kind,
		name:                d.outputs.nameBlocks.copyNameIntoBlock(e.Name),
		tempStoreTextNumber: noTempTextNumber,
	}
	text, nameAt := entryText{Entry: e}.appendTextWithoutName(buf[:0])
	out.fileDigest = sha256.Sum256(text)
	if !d.keepsAllTexts && d.lastDump.mayHaveFileHash(out.fileDigest) {
		return out, text, nil
	}
	var err error
	out.tempStoreTextNumber, err = d.tempTextStore.addText(text, nameAt)
	return out, text, err
}

// assignFilePaths assigns a path to the file of each entry. If the name of an entry cannot be recovered from the file
// name, the file's text must contain the name. Therefore assignFilePaths computes the hash of each such file again.
func (d *dumper) assignFilePaths(ctx context.Context) error {
	if err := d.outputs.sortEntriesAndAssignPaths(); err != nil {
		return err
	}
	var buf []byte
	for row := range d.outputs.lossyFileStemByRow {
		out := &d.outputs.outputFiles[row]
		out.fileDigest = sha256Digest{}
		text, err := d.appendText(ctx, buf[:0], row)
		if err != nil {
			return err
		}
		out.fileDigest = sha256.Sum256(text)
		buf = text
	}
	return nil
}

// appendText appends a text to b and returns the extended slice. The text is the future content of the file that
// d.outputs.outputFiles[outputIndex] describes. If the text must be read from the store and has changed there, the
// error is errEntryChanged.
func (d *dumper) appendText(ctx context.Context, b []byte, outputIndex int32) ([]byte, error) {
	out := &d.outputs.outputFiles[outputIndex]
	switch {
	case out.tempStoreTextNumber == noTempTextNumber:
		return d.appendTextFromStore(ctx, b, out)
	case out.includesName:
		return d.tempTextStore.appendStoredText(b, out.tempStoreTextNumber, appendName(nil, out.name))
	}
	return d.tempTextStore.appendStoredText(b, out.tempStoreTextNumber, nil)
}

func (d *dumper) appendTextFromStore(ctx context.Context, b []byte, out *outputFile) ([]byte, error) {
	e, err := d.store.Get(ctx, out.name)
	if errors.Is(err, oxbow.ErrNotFound) {
		return b, errEntryChanged
	}
	if err != nil {
		return b, err
	}
	e.Labels = withoutLocalLabels(e.Labels)
	start := len(b)
	b = entryText{Entry: &e, includesName: out.includesName}.appendFileText(b)
	hasSum := !out.fileDigest.isSet() || sha256Digest(sha256.Sum256(b[start:])) == out.fileDigest
	if e.Kind != out.kind || !hasSum {
		return b, errEntryChanged
	}
	return b, nil
}

// outdatedEntryFile is an entry's file that differs from the text that the dump would write.
type outdatedEntryFile struct {
	path string
	// index of the entry in the dump's output list (-1 if the store does not have the entry to which the file belongs)
	outputIndex int32
}

// planChanges determines the files to write and remove.
func (d *dumper) planChanges(ctx context.Context) error {
	outs := &d.outputs
	d.replacedFileHashByOutput = map[int32]string{}
	// If the file system changes the spelling of names, like HFS+, a file with a different spelling
	// may be the same file.
	sameFile := make(map[string]bool)
	var differing []outdatedEntryFile
	d.progress(0, len(outs.outputFiles))
	for i := range outs.outputFiles {
		if err := ctx.Err(); err != nil {
			return err
		}
		out, row := &outs.outputFiles[i], int32(i)
		if out.state == outputFileMissing {
			if err := d.findOtherSpellingOnDisk(row, sameFile); err != nil {
				return err
			}
		}
		if out.state == outputFileToRead {
			if err := d.examineFile(row); err != nil {
				return err
			}
		}
		switch {
		case out.state == outputFileMissing:
			d.planFileWrite(row)
		case out.state == outputFileToRead:
			differing = append(differing, outdatedEntryFile{outs.pathOfRow(row), row})
		default:
			d.report.UnchangedFileCount++
			d.reportProgress()
		}
	}
	for _, it := range d.filesWithoutEntry {
		if !sameFile[it.path] {
			differing = append(differing, outdatedEntryFile{it.path, -1})
		}
	}
	if err := d.planOutdatedFiles(ctx, differing); err != nil {
		return err
	}
	d.report.RemovedFileCount = len(d.removals)
	return d.planNonEntryFiles()
}

// findOtherSpellingOnDisk is called for an output file whose path was not found in the lists of the directories. If a
// listed path differs from the output file's path only in its Unicode normal form, the file system may treat both paths
// as the same file. In this case, findOtherSpellingOnDisk marks the output file as a file to read. It also adds the
// listed path to the map diskPathsOfOutputs, so that the dump does not remove this file.
func (d *dumper) findOtherSpellingOnDisk(outputIndex int32, diskPathsOfOutputs map[string]bool) error {
	if len(d.diskPathByNormalForm) == 0 {
		return nil
	}
	p := d.outputs.pathOfRow(outputIndex)
	spelled, like := d.diskPathByNormalForm[normalizeNFC(p)]
	if !like {
		return nil
	}
	found, err := d.nameExists(d.fullPath(p))
	if err == nil && found {
		d.outputs.outputFiles[outputIndex].state = outputFileToRead
		diskPathsOfOutputs[spelled] = true
	}
	return err
}

func (d *dumper) planFileWrite(outputRow int32) {
	d.outputs.outputFiles[outputRow].state = outputFileToWrite
	d.outputsToWrite = append(d.outputsToWrite, outputRow)
	d.report.WrittenFileCount++
}

// planOutdatedFiles plans how to treat the files in outdatedFiles, which differ from the text that the dump would
// write. It plans to replace a file of an entry, and to remove a file without an entry. Files that somebody has edited
// are skipped, unless the dump is forced.
func (d *dumper) planOutdatedFiles(ctx context.Context, outdatedFiles []outdatedEntryFile) error {
	if len(outdatedFiles) == 0 {
		return nil
	}
	paths := make(map[string]bool, len(outdatedFiles))
	for _, f := range outdatedFiles {
		paths[f.path] = true
	}
	dumped, err := d.lastDump.itemsAt(&d.dumpTree, paths)
	if err != nil {
		return err
	}
	for _, f := range outdatedFiles {
		sum, may, err := d.mayReplace(ctx, f.path, dumped[f.path])
		if err != nil {
			return err
		}
		switch {
		case !may && f.outputIndex >= 0:
			d.reportProgress()
		case !may:
		case f.outputIndex >= 0:
			d.replacedFileHashByOutput[f.outputIndex] = sum.hexText()
			d.planFileWrite(f.outputIndex)
		default:
			d.removals = append(d.removals, journal.StagedRemoval{Path: f.path, OldFileHash: sum.hexText()})
		}
	}
	return nil
}

// planNonEntryFiles determines which files without entries must be written: the manifest, the table of contents and the
// settings of mdBook.
func (d *dumper) planNonEntryFiles() error {
	d.memoryName = d.origin.Name
	hasMemory := d.lastDump.hasManifest && d.lastDump.DumpedStoreName != ""
	if hasMemory && len(d.outputsToWrite)+len(d.removals) == 0 {
		// Keep the old name of the memory. With a new name, the manifest would be written although no entry has
		// changed.
		d.memoryName = d.lastDump.DumpedStoreName
	}
	var err error
	d.newManifestDigest, _, err = d.planNonEntryFile(manifestFile, func(w io.Writer) error {
		return writeManifest(w, d.memoryName, len(d.outputs.outputFiles), d.outputs.manifestItems())
	})
	if err != nil {
		return err
	}
	writeLinks := func(w io.Writer) error { return writeSummary(w, d.outputs.summaryLinks) }
	var was string
	d.newSummaryDigest, was, err = d.planNonEntryFile(summaryFile, writeLinks)
	if err != nil {
		return err
	}
	if d.newSummaryDigest.hexText() != was {
		if err := d.keepEditedSummary(was); err != nil {
			return err
		}
	}
	d.countNonEntryFile(d.newSummaryDigest.hexText() != was)
	return d.planMdBookSettings()
}

// planNonEntryFile adds a file to the files to write if its content changes. It returns the new content's hash, and the
// hash of the present content in hex.
func (d *dumper) planNonEntryFile(
	filePath string,
	content func(w io.Writer) error,
) (newDigest sha256Digest, oldDigestHex string, err error) {
	oldDigestHex, err = d.hashFile(filePath)
	if err != nil {
		return newDigest, oldDigestHex, err
	}
	h := sha256.New()
	w := bufio.NewWriterSize(h, 1<<16)
	if err := errors.Join(content(w), w.Flush()); err != nil {
		return newDigest, oldDigestHex, err
	}
	newDigest = sha256Digest(h.Sum(nil))
	if newDigest.hexText() != oldDigestHex {
		d.nonEntryFilesToWrite = append(
			d.nonEntryFilesToWrite,
			nonEntryFile{
				journal.StagedWrite{Path: filePath, OldFileHash: oldDigestHex, NewFileHash: newDigest.hexText()},
				content,
			},
		)
	}
	return newDigest, oldDigestHex, nil
}

func (d *dumper) countNonEntryFile(isWritten bool) {
	if isWritten {
		d.report.WrittenFileCount++
	} else {
		d.report.UnchangedFileCount++
	}
}

// readBookSettings returns the book's settings. isReplaceable reports whether a dump may replace the settings. This is
// so if the settings do not exist, or if an earlier version of oxbow wrote them.
func (d *dumper) readBookSettings() (settings string, isReplaceable bool, err error) {
	exists, err := d.nameExists(d.fullPath(mdBookSettingsFile))
	if err != nil || !exists {
		return "", true, err
	}
	settings, err = d.readText(mdBookSettingsFile, maxEntryFileBytes)
	if err != nil {
		return "", false, nil // leave the file unchanged, because it is not a text file
	}
	return settings, settings == oldBookSettings, nil
}

// detectDirectiveExecution sets d.reportsMdBookDirectives to true if the user wrote the book's settings, and these
// settings let mdbook replace directives such as {{#include}} by the content of other files. The report of the dump
// then lists the entries that contain such directives.
func (d *dumper) detectDirectiveExecution() error {
	settings, isOurs, err := d.readBookSettings()
	d.reportsMdBookDirectives = !isOurs && mdBookIncludesFiles(settings)
	return err
}

// planMdBookSettings plans to write the settings file for mdBook, unless the user has changed that file.
func (d *dumper) planMdBookSettings() error {
	_, isOurs, err := d.readBookSettings()
	if err != nil {
		return err
	}
	if !isOurs {
		d.report.UnchangedFileCount++
		return nil
	}
	sum, was, err := d.planNonEntryFile(mdBookSettingsFile, func(w io.Writer) error {
		_, err := io.WriteString(w, newBookSettings)
		return err
	})
	if err == nil {
		d.countNonEntryFile(sum.hexText() != was)
	}
	return err
}

// examineFile reads the present file of an entry. If the file already contains the text that the dump would write,
// examineFile records this in the entry's row of outputs, so that the file is not written.
func (d *dumper) examineFile(outputRow int32) error {
	out := &d.outputs.outputFiles[outputRow]
	text, stamp, err := d.readTextAndStamp(d.outputs.pathOfRow(outputRow))
	if err != nil {
		return err
	}
	if sha256Digest(sha256.Sum256([]byte(text))) != out.fileDigest {
		return nil
	}
	out.state = outputFileReadNotStable
	if stamp != 0 {
		out.state, out.stamp = outputFileReadAndStable, stamp
		d.hasNewFileForHashList = true
	}
	return nil
}

// readTextAndStamp returns the text in the file filePath, and a hash of the file's size, inode and times (the stamp).
// If a later dump computes the same stamp, it knows that the file is unchanged. A file that was changed very recently
// could change again without a change of its times. Therefore stamp is 0 for such a file. The result stamp is also 0 if
// the time resolution or the file's properties are unknown.
func (d *dumper) readTextAndStamp(filePath string) (text string, stamp fileStampHash, err error) {
	if d.stabilityTest.stabilityCutoffNanos == 0 && !d.stabilityTest.isCutoffUnknown {
		d.determineStabilityCutoff()
	}
	text, info, err := d.fileTree.readText(filePath, maxEntryFileBytes)
	if err != nil {
		return "", 0, fmt.Errorf("reading %s: %w", d.fullPath(filePath), err)
	}
	if d.stabilityTest.isCutoffUnknown || info == nil {
		return text, 0, nil
	}
	if s, ok := sysinfo.ReadFileStamp(info); ok && d.stabilityTest.isFileStable(s) {
		stamp = d.hashFileStamp(s)
	}
	return text, stamp, nil
}

// determineStabilityCutoff determines how old a file's last change must be so that the file can be added to the list of
// known files. Later dumps do not read the files in this list again.
func (d *dumper) determineStabilityCutoff() {
	ok := d.supportsFileStamps()
	if ok {
		d.stabilityTest.stabilityCutoffNanos, ok = d.measureStabilityCutoff()
	}
	d.stabilityTest.isCutoffUnknown = !ok
}

// saveKnownHashList writes the list of known files, if the list has changed. The next dump or load need not read the
// files in this list, because the list contains their hashes. A file that was changed very recently is left out,
// because it could change again without a change of its times. The argument stabilityTest recognizes such files. Errors
// are ignored, because without the list, the next dump and load only take longer.
func (d *dumper) saveKnownHashList(stabilityTest *fileStabilityTest) {
	head := knownHashListHeader{d.newManifestDigest, d.newSummaryDigest}
	hasNewFiles := d.hasNewFileForHashList || len(d.outputsToWrite) > 0
	hasSameFiles := !hasNewFiles && d.unchangedKnownFiles == d.knownFileCount
	if hasSameFiles && d.hashListHeader == head {
		return
	}
	draft, err := vfs.NewDraft(d.fs, d.fullPath(knownHashListFile), 0o600)
	if err != nil {
		return
	}
	w := newKnownHashListWriter(draft, head)
	err = d.eachEntry(func(e dirEntry) error {
		row, ok := d.outputs.findPath(e.path)
		if !ok || e.DirEntry == nil {
			return nil
		}
		if s, ok := d.stableFileStamp(row, e, stabilityTest); ok {
			w.addFile(fileWithKnownHash{e.path, s, d.outputs.outputFiles[row].fileDigest})
		}
		return nil
	})
	if errors.Join(err, w.finishKnownHashList()) == nil {
		_ = draft.Commit(nil)
	}
	_ = draft.Discard() // does nothing after a commit
}

// stableFileStamp returns the size, the inode and the times of an entry's file. Later dumps compare these values with
// the file's present values. If the values are equal, the file is unchanged, and the dump need not read the file.
//
// The result ok is true only if this comparison is reliable. This requires two facts: the file is the file that this
// dump read or wrote, and each later change of the file also changes at least one of the values. If ok is false, later
// dumps must read the file.
func (d *dumper) stableFileStamp(
	outputIndex int32,
	e dirEntry,
	stabilityTest *fileStabilityTest,
) (s sysinfo.FileStamp, ok bool) {
	switch out := &d.outputs.outputFiles[outputIndex]; out.state {
	case outputFileUnchanged, outputFileReadAndStable:
		s, ok = fileStampOfDirEntry(e)
		return s, ok && d.hashFileStamp(s) == out.stamp
	case outputFileToWrite:
		// Use these values only if this dump created the whole directory. In an older directory, the user may have
		// replaced the file just before this dump moved its own file there.
		isOurs := d.movedDirs[e.kindDir.dir] && !stabilityTest.isCutoffUnknown
		if s, ok := fileStampOfDirEntry(e); ok && isOurs {
			return s, stabilityTest.isFileStable(s)
		}
	}
	return s, false
}

// mayReplace returns the hash of the file filePath, and reports whether the dump may replace or remove the file. The
// argument lastItem describes the file as the last dump wrote it. The result canReplace is true if the file is
// unchanged since the last dump, or if the store's history contains its text. In all other cases, somebody has edited
// the file. If the dump is forced, mayReplace then adds the file to d.editedFilesToCopy, and canReplace is true. If the
// dump is not forced, mayReplace adds the file to d.editedFiles, and canReplace is false.
func (d *dumper) mayReplace(
	ctx context.Context,
	filePath string,
	lastItem manifestItem,
) (sum sha256Digest, canReplace bool, err error) {
	text, _, err := d.readTextAndStamp(filePath)
	if err != nil {
		return sum, false, err
	}
	sum = sha256.Sum256([]byte(text))
	if lastItem.Sum == sum {
		return sum, true, nil
	}
	isSaved, err := d.isTextInStoreHistory(ctx, filePath, text)
	switch {
	case err != nil || isSaved:
		return sum, true, err
	case d.isForced:
		d.editedFilesToCopy = append(d.editedFilesToCopy, filePath)
		return sum, true, nil
	}
	d.editedFiles = append(d.editedFiles, filePath)
	return sum, false, nil
}

// isTextInStoreHistory reports whether the file can be replaced without losing text, because the store contains the
// text or contained it before.
func (d *dumper) isTextInStoreHistory(ctx context.Context, filePath, text string) (bool, error) {
	i := slices.IndexFunc(entryKindDirs[:], func(s entryKindDir) bool { return s.dir == path.Dir(filePath) })
	if d.lastDump.hasManifest && d.lastDump.EntryCount > 0 {
		text = convertCRLFToLF(text)
	}
	e, f, err := parseEntryFile(&entryKindDirs[i], filePath, text)
	if err != nil || len(f.warnings) > 0 {
		return false, nil
	}
	have, err := d.store.Get(ctx, e.Name)
	switch {
	case err == nil:
		have.Labels = withoutLocalLabels(have.Labels)
		if isSameAsStored(&e, &have) {
			return true, nil
		}
	case !errors.Is(err, oxbow.ErrNotFound):
		return false, err
	}
	last, err := d.lastDump.itemByName(&d.dumpTree, e.Name)
	if err != nil {
		return false, err
	}
	return d.history.hadEntry(&e, last)
}

// keepEditedSummary adds the table of contents to d.editedFilesToCopy if somebody has edited the table since the last
// dump. Without this copy, the dump would overwrite the edits. The argument oldHash is the hash, in hex, of the table
// that is now in the directory. It is "" if no table exists.
func (d *dumper) keepEditedSummary(oldHash string) error {
	if oldHash == "" || oldHash == d.hashListHeader.summaryDigest.hexText() {
		return nil
	}
	text, err := d.readText(summaryFile, maxEntryListBytes)
	if err != nil {
		return err
	}
	links, err := d.readLastDumpSummaryLinks()
	if err != nil {
		return err
	}
	var want bytes.Buffer
	if err := writeSummary(&want, links); err != nil {
		return err
	}
	if strings.ReplaceAll(text, "\r\n", "\n") != want.String() {
		d.editedFilesToCopy = append(d.editedFilesToCopy, summaryFile)
	}
	return nil
}

// copyEditedFiles makes a copy of each file that this dump replaces or removes although somebody has edited the file.
func (d *dumper) copyEditedFiles() error {
	for _, p := range d.editedFilesToCopy {
		kept, err := vfs.KeepCopy(d.fs, d.fullPath(p))
		if err != nil {
			return err
		}
		d.report.EditedFileCopies = append(d.report.EditedFileCopies, path.Join(path.Dir(p), path.Base(kept)))
	}
	return nil
}

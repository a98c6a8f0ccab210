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
			d.outputs.rows = make([]outputFile, 0, stats.Entries)
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
		e.Labels = withoutLocal(e.Labels)
		if d.findDirectives && hasDirective(&e) {
			d.report.Directives = append(d.report.Directives, strings.Clone(e.Name))
		}
		out, text, err := d.renderEntry(&e, buf)
		if err != nil {
			return err
		}
		buf = text
		d.outputs.rows = append(d.outputs.rows, out)
	}
	d.last.sums = nil
	slices.Sort(d.report.Directives)
	d.report.Entries = len(d.outputs.rows)
	return d.assignFiles(ctx)
}

// hasDirective reports whether mdbook would execute a directive in the name or the content of the entry.
func hasDirective(e *oxbow.Entry) bool {
	return directives().MatchString(e.Content) || directives().MatchString(e.Name)
}

// renderEntry returns the output for an entry. It adds the text to the spool, unless the last dump probably wrote the
// same text. It uses the memory of buf for the text, and returns the memory for the next call.
func (d *dumper) renderEntry(e *oxbow.Entry, buf []byte) (outputFile, []byte, error) {
	// Copy the name, because it may share the memory of the whole entry.
	out := outputFile{kind: e.Kind, name: d.outputs.names.add(e.Name), text: noText}
	text, nameAt := entryText{Entry: e}.appendWithoutName(buf[:0])
	out.sum = sha256.Sum256(text)
	if !d.keepsAllTexts && d.last.mayHave(out.sum) {
		return out, text, nil
	}
	var err error
	out.text, err = d.spool.addText(text, nameAt)
	return out, text, err
}

// assignFiles assigns a path to each output, and determines the hash of its file.
func (d *dumper) assignFiles(ctx context.Context) error {
	if err := d.outputs.assignFiles(); err != nil {
		return err
	}
	var buf []byte
	for row := range d.outputs.stems {
		out := &d.outputs.rows[row]
		out.sum = digest{}
		text, err := d.appendText(ctx, buf[:0], row)
		if err != nil {
			return err
		}
		out.sum = sha256.Sum256(text)
		buf = text
	}
	return nil
}

// appendText appends the text of an output's file to b. If the text must be read from the store and
// has changed there, the error is errEntryChanged.
func (d *dumper) appendText(ctx context.Context, b []byte, row int32) ([]byte, error) {
	out := &d.outputs.rows[row]
	switch {
	case out.text == noText:
		return d.appendFromStore(ctx, b, out)
	case out.showName:
		return d.spool.appendTo(b, out.text, appendName(nil, out.name))
	}
	return d.spool.appendTo(b, out.text, nil)
}

func (d *dumper) appendFromStore(ctx context.Context, b []byte, out *outputFile) ([]byte, error) {
	e, err := d.store.Get(ctx, out.name)
	if errors.Is(err, oxbow.ErrNotFound) {
		return b, errEntryChanged
	}
	if err != nil {
		return b, err
	}
	e.Labels = withoutLocal(e.Labels)
	start := len(b)
	b = entryText{Entry: &e, showName: out.showName}.appendTo(b)
	hasSum := !out.sum.isKnown() || digest(sha256.Sum256(b[start:])) == out.sum
	if e.Kind != out.kind || !hasSum {
		return b, errEntryChanged
	}
	return b, nil
}

// differingFile is an entry's file that differs from what the dump would write.
type differingFile struct {
	path string
	row  int32 // row of the output that has the file, or -1 if the file belongs to no entry
}

// planChanges determines the files to write and remove.
func (d *dumper) planChanges(ctx context.Context) error {
	outs := &d.outputs
	d.was = map[int32]string{}
	// If the file system changes the spelling of names, like HFS+, a file with a different spelling
	// may be the same file.
	sameFile := make(map[string]bool)
	var differing []differingFile
	d.progress(0, len(outs.rows))
	for i := range outs.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		out, row := &outs.rows[i], int32(i)
		if out.state == fileMissing {
			if err := d.findSpelling(row, sameFile); err != nil {
				return err
			}
		}
		if out.state == fileUnread {
			if err := d.examine(row); err != nil {
				return err
			}
		}
		switch {
		case out.state == fileMissing:
			d.planWrite(row)
		case out.state == fileUnread:
			differing = append(differing, differingFile{outs.path(row), row})
		default:
			d.report.Unchanged++
			d.reportProgress()
		}
	}
	for _, it := range d.extra {
		if !sameFile[it.path] {
			differing = append(differing, differingFile{it.path, -1})
		}
	}
	if err := d.replaceFiles(ctx, differing); err != nil {
		return err
	}
	d.report.Removed = len(d.removals)
	return d.compareLists()
}

// findSpelling finds a file whose path differs from the output's path only in its Unicode form. It adds the path to
// sameFile.
func (d *dumper) findSpelling(row int32, sameFile map[string]bool) error {
	if len(d.pathByNFC) == 0 {
		return nil
	}
	p := d.outputs.path(row)
	spelled, like := d.pathByNFC[normalizeNFC(p)]
	if !like {
		return nil
	}
	found, err := d.nameExists(d.fullPath(p))
	if err == nil && found {
		d.outputs.rows[row].state = fileUnread
		sameFile[spelled] = true
	}
	return err
}

func (d *dumper) planWrite(row int32) {
	d.outputs.rows[row].state = fileWritten
	d.writes = append(d.writes, row)
	d.report.Written++
}

// replaceFiles plans to replace or remove the differing files.
func (d *dumper) replaceFiles(ctx context.Context, differing []differingFile) error {
	if len(differing) == 0 {
		return nil
	}
	paths := make(map[string]bool, len(differing))
	for _, f := range differing {
		paths[f.path] = true
	}
	dumped, err := d.last.itemsAt(&d.dumpTree, paths)
	if err != nil {
		return err
	}
	for _, f := range differing {
		sum, may, err := d.mayReplace(ctx, f.path, dumped[f.path])
		if err != nil {
			return err
		}
		switch {
		case !may && f.row >= 0:
			d.reportProgress()
		case !may:
		case f.row >= 0:
			d.was[f.row] = sum.hex()
			d.planWrite(f.row)
		default:
			d.removals = append(d.removals, journal.Deletion{Path: f.path, OldSum: sum.hex()})
		}
	}
	return nil
}

// compareLists is like planChanges, for the files that contain no entries.
func (d *dumper) compareLists() error {
	d.memory = d.origin.Name
	hasMemory := d.last.exists && d.last.Memory != ""
	if hasMemory && len(d.writes)+len(d.removals) == 0 {
		d.memory = d.last.Memory // keep the old name of the memory, because nothing else in the manifest changed
	}
	var err error
	d.manifestSum, _, err = d.compareList(manifestFile, func(w io.Writer) error {
		return writeManifest(w, d.memory, len(d.outputs.rows), d.outputs.manifestItems())
	})
	if err != nil {
		return err
	}
	writeLinks := func(w io.Writer) error { return writeSummary(w, d.outputs.links) }
	var was string
	d.summarySum, was, err = d.compareList(summaryFile, writeLinks)
	if err != nil {
		return err
	}
	if d.summarySum.hex() != was {
		if err := d.addSummaryToKeep(was); err != nil {
			return err
		}
	}
	d.countList(d.summarySum.hex() != was)
	return d.planBook()
}

// compareList adds a file to the files to write if its content changes. It returns the hash of the new content, and
// the hash of the present content in hex.
func (d *dumper) compareList(p string, content func(w io.Writer) error) (sum digest, was string, err error) {
	was, err = d.hashFile(p)
	if err != nil {
		return sum, was, err
	}
	h := sha256.New()
	w := bufio.NewWriterSize(h, 1<<16)
	if err := errors.Join(content(w), w.Flush()); err != nil {
		return sum, was, err
	}
	sum = digest(h.Sum(nil))
	if sum.hex() != was {
		d.lists = append(d.lists, listFile{journal.Change{Path: p, OldSum: was, NewSum: sum.hex()}, content})
	}
	return sum, was, nil
}

func (d *dumper) countList(isWritten bool) {
	if isWritten {
		d.report.Written++
	} else {
		d.report.Unchanged++
	}
}

// bookSettings returns the settings of the book. isOurs reports whether a dump may replace the settings: they do
// not exist, or an earlier version of oxbow wrote them.
func (d *dumper) bookSettings() (settings string, isOurs bool, err error) {
	exists, err := d.nameExists(d.fullPath(bookFile))
	if err != nil || !exists {
		return "", true, err
	}
	settings, err = d.readText(bookFile, maxFile)
	if err != nil {
		return "", false, nil // leave the file unchanged, because it is not a text file
	}
	return settings, settings == oldBookSettings, nil
}

// scanBook determines whether mdbook would execute directives, so that the report lists the entries with directives.
func (d *dumper) scanBook() error {
	settings, isOurs, err := d.bookSettings()
	d.findDirectives = !isOurs && readsFiles(settings)
	return err
}

// planBook adds the settings of the book to the files to write, unless the user has changed
// them.
func (d *dumper) planBook() error {
	_, isOurs, err := d.bookSettings()
	if err != nil {
		return err
	}
	if !isOurs {
		d.report.Unchanged++
		return nil
	}
	sum, was, err := d.compareList(bookFile, func(w io.Writer) error {
		_, err := io.WriteString(w, newBookSettings)
		return err
	})
	if err == nil {
		d.countList(sum.hex() != was)
	}
	return err
}

// examine reads the file of an output. If the file has the hash of the output, examine changes the output's state.
func (d *dumper) examine(row int32) error {
	out := &d.outputs.rows[row]
	text, stamp, err := d.readAndList(d.outputs.path(row))
	if err != nil {
		return err
	}
	if digest(sha256.Sum256([]byte(text))) != out.sum {
		return nil
	}
	out.state = fileCompared
	if stamp != 0 {
		out.state, out.stamp = fileExamined, stamp
		d.hasExamined = true
	}
	return nil
}

// readAndList returns the text of an entry's file. stamp is 0 if the file must not enter the list of known files.
func (d *dumper) readAndList(p string) (text string, stamp stampHash, err error) {
	if d.examination.settledTime == 0 && !d.examination.isTimeUnknown {
		d.prepareExamination()
	}
	text, info, err := d.tree.readText(p, maxFile)
	if err != nil {
		return "", 0, fmt.Errorf("reading %s: %w", d.fullPath(p), err)
	}
	if d.examination.isTimeUnknown || info == nil {
		return text, 0, nil
	}
	if s, ok := sysinfo.ReadStamp(info); ok && d.examination.isSettled(s) {
		stamp = d.hashStamp(s)
	}
	return text, stamp, nil
}

// prepareExamination determines the time before which a file must have been changed to enter the list of known files.
func (d *dumper) prepareExamination() {
	ok := d.hasStamps()
	if ok {
		d.examination.settledTime, ok = d.settledTime()
	}
	d.examination.isTimeUnknown = !ok
}

// saveKnownFiles writes the list of known files if it has changed. written decides which of the files that this dump
// wrote enter the list. Errors are ignored, because without the list, only the next dump and load take longer.
func (d *dumper) saveKnownFiles(written *examination) {
	head := knownHead{d.manifestSum, d.summarySum}
	hasNewFiles := d.hasExamined || len(d.writes) > 0
	hasSameFiles := !hasNewFiles && d.knownHits == d.knownRows
	if hasSameFiles && d.knownFiles == head {
		return
	}
	draft, err := vfs.NewDraft(d.fs, d.fullPath(knownFilesFile), 0o600)
	if err != nil {
		return
	}
	w := newKnownWriter(draft, head)
	err = d.eachEntry(func(e dirEntry) error {
		row, ok := d.outputs.find(e.path)
		if !ok || e.DirEntry == nil {
			return nil
		}
		if s, ok := d.knownStamp(row, e, written); ok {
			w.add(knownFile{e.path, s, d.outputs.rows[row].sum})
		}
		return nil
	})
	if errors.Join(err, w.end()) == nil {
		_ = draft.Commit(nil)
	}
	_ = draft.Discard() // does nothing after a commit
}

// knownStamp returns the stamp of an output's file. ok is false if the file must not enter the list of known files.
func (d *dumper) knownStamp(row int32, e dirEntry, written *examination) (s sysinfo.Stamp, ok bool) {
	switch out := &d.outputs.rows[row]; out.state {
	case fileKnown, fileExamined:
		s, ok = stampFromEntry(e)
		return s, ok && d.hashStamp(s) == out.stamp
	case fileWritten:
		// In a directory that existed before, the user may have created or edited the file just before this dump
		// would have put its own file there.
		isOurs := d.movedDirs[e.kind.dir] && !written.isTimeUnknown
		if s, ok := stampFromEntry(e); ok && isOurs {
			return s, written.isSettled(s)
		}
	}
	return s, false
}

// mayReplace returns the hash of a file, and reports whether the dump may replace or remove the file. last is the
// file's item in the last dump. If the file was edited, it is added to d.editedFiles or, with Force, to
// d.copiesToKeep.
func (d *dumper) mayReplace(ctx context.Context, p string, last manifestItem) (sum digest, may bool, err error) {
	text, _, err := d.readAndList(p)
	if err != nil {
		return sum, false, err
	}
	sum = sha256.Sum256([]byte(text))
	if last.Sum == sum {
		return sum, true, nil
	}
	isSaved, err := d.losesNothing(ctx, p, text)
	switch {
	case err != nil || isSaved:
		return sum, true, err
	case d.isForced:
		d.copiesToKeep = append(d.copiesToKeep, p)
		return sum, true, nil
	}
	d.editedFiles = append(d.editedFiles, p)
	return sum, false, nil
}

// losesNothing reports whether the file can be replaced without losing text, because the store contains the text or
// contained it before.
func (d *dumper) losesNothing(ctx context.Context, p, text string) (bool, error) {
	i := slices.IndexFunc(kindDirs[:], func(s kindDir) bool { return s.dir == path.Dir(p) })
	if d.last.exists && d.last.Count > 0 {
		text = unixLines(text)
	}
	e, f, err := readEntryFile(&kindDirs[i], p, text)
	if err != nil || len(f.warnings) > 0 {
		return false, nil
	}
	have, err := d.store.Get(ctx, e.Name)
	switch {
	case err == nil:
		have.Labels = withoutLocal(have.Labels)
		if isSameEntry(&e, &have) {
			return true, nil
		}
	case !errors.Is(err, oxbow.ErrNotFound):
		return false, err
	}
	last, err := d.last.itemNamed(&d.dumpTree, e.Name)
	if err != nil {
		return false, err
	}
	return d.history.hadEntry(&e, last)
}

// addSummaryToKeep adds the table of contents to d.copiesToKeep, unless it is unchanged since the last dump. was is
// its hash in hex.
func (d *dumper) addSummaryToKeep(was string) error {
	if was == "" || was == d.knownFiles.summary.hex() {
		return nil
	}
	text, err := d.readText(summaryFile, maxListSize)
	if err != nil {
		return err
	}
	links, err := d.lastLinks()
	if err != nil {
		return err
	}
	var want bytes.Buffer
	if err := writeSummary(&want, links); err != nil {
		return err
	}
	if strings.ReplaceAll(text, "\r\n", "\n") != want.String() {
		d.copiesToKeep = append(d.copiesToKeep, summaryFile)
	}
	return nil
}

// keepCopies copies each edited file that this dump replaces or removes.
func (d *dumper) keepCopies() error {
	for _, p := range d.copiesToKeep {
		kept, err := vfs.KeepCopy(d.fs, d.fullPath(p))
		if err != nil {
			return err
		}
		d.report.Kept = append(d.report.Kept, path.Join(path.Dir(p), path.Base(kept)))
	}
	return nil
}

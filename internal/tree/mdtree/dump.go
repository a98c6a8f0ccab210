// This file implements Dump: it writes a store as a tree.

package mdtree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	// the user has not loaded these files. Copies of such files are kept (see [Report.Kept]).
	Force bool

	Filter oxbow.Filter // selects the entries that are dumped

	// Origin names the store in the manifest. If the existing manifest names a different store, it
	// is ignored: all existing files count as edited.
	Origin Origin

	Ref string // name of the directory in errors (its path by default)

	// Progress is called once with done = 0, and after each entry.
	Progress func(done, total int)

	resolution time.Duration // resolution of the file system's clock (0 means that it is estimated)

	spoolMemory int // texts of new files that are kept in memory, in bytes (0 means the default)

	bulk int // minimum number of files for which the whole file system is synced instead (0 means the default)
}

// Report describes a dump's changes to the tree's files, except the manifest.
type Report struct {
	Entries   int  // number of entries in the store
	Written   int  // number of files created or replaced
	Unchanged int  // number of files that were up to date
	Removed   int  // number of files removed because their entries do not exist any more
	Recovered bool // an interrupted dump was completed first

	// Kept lists copies of edited, unloaded files that this dump replaced or removed. These
	// may be entry files (if Force is set) and the table of contents.
	Kept []string

	// Directives lists the entries with mdbook directives, such as {{#include FILE}}, if a
	// book.toml that the user wrote allows mdbook to execute them.
	Directives []string
}

// Dump writes all entries of a store as a tree at dir, and creates dir if necessary. Files that are
// up to date are not written. Files that the dump did not create are not touched (see the package
// comment). New files and directories are accessible only to their owner (0600, 0700), like the
// memory. A replaced file keeps its mode.
//
// For [Read] and for the next Dump, the dump is always atomic. They see either the old tree or the
// new tree. After a crash, other programs may see a mixture of new and old files until the next
// Dump.
//
// A directory with other files is refused with [ErrForeign], but names that start with a dot are
// ignored. If files of entries were changed since the last dump and contain text that the store
// does not, Dump returns a [*FilesError] matching [ErrEdited]. If another process is dumping to
// dir, the error matches [oxbow.ErrBusy].
func Dump(ctx context.Context, s oxbow.Store, fsys vfs.FS, dir string, o *DumpOptions) (Report, error) {
	if o == nil {
		o = &DumpOptions{}
	}
	d := &dumper{dumpTree: newDumpTree(fsys, dir), store: s, isForced: o.Force, origin: o.Origin, progress: o.Progress,
		history: newStoreHistory(ctx, s), spoolMemory: cmp.Or(o.spoolMemory, defaultSpoolMemory)}
	d.filter = o.Filter
	d.resolution = o.resolution
	if o.bulk > 0 {
		d.minBulkSync = o.bulk
	}
	if d.progress == nil {
		d.progress = func(int, int) {}
	}
	if err := d.dump(ctx); err != nil {
		return Report{}, fmt.Errorf("dumping to %s: %w", cmp.Or(o.Ref, d.dir), err)
	}
	return d.report, nil
}

type dumper struct {
	dumpTree
	store    oxbow.Store
	filter   oxbow.Filter
	isForced bool
	origin   Origin
	history  *storeHistory
	progress func(done, total int)
	report   Report

	outputs       []outputFile
	spool         spool
	keepsAllTexts bool              // keep the text of each entry, even if the entry's file is probably unchanged
	doneCount     atomic.Int64      // entries that were reported as progress
	items         []item            // existing files of entries, sorted by path
	pathByNFC     map[string]string // path as spelled by the file system, by Unicode normal form C, if it is not ASCII
	base          *manifest         // manifest of the last dump, or nil if a different store was dumped
	listedItems   []manifestItem    // files that the last dump wrote, even for a different store
	nextManifest  *manifest         // manifest to write, or nil if it does not change

	manifestSum string // hash, in hex, of the manifest after the dump

	knownFiles  knownFiles
	examination examination

	writes       []plannedWrite
	removals     []journal.Deletion
	editedFiles  []string
	copiesToKeep []string // edited files that are replaced or removed

	spoolMemory    int
	findDirectives bool // see Report.Directives
}

// plannedWrite is a file to write. output is the index of the file's entry in outputs, or -1 if the file does not
// belong to an entry.
type plannedWrite struct {
	journal.Change
	output int
}

func (d *dumper) dump(ctx context.Context) error {
	if err := d.checkOurs(); err != nil {
		return err
	}
	if err := d.fs.MkdirAll(d.dir, d.dirPerm); err != nil {
		return err
	}
	unlock, err := d.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := d.recoverDump(); err != nil {
		return fmt.Errorf("finishing an interrupted dump: %w", err)
	}
	err = d.dumpOnce(ctx)
	if errors.Is(err, errEntryChanged) {
		recovered := d.report.Recovered
		d.reset()
		d.report.Recovered = recovered
		d.keepsAllTexts = true
		err = d.dumpOnce(ctx)
	}
	return err
}

// reset discards the plan of an attempt.
func (d *dumper) reset() {
	d.report = Report{}
	d.outputs = nil
	d.nextManifest = nil
	d.writes = nil
	d.removals = nil
	d.editedFiles = nil
	d.copiesToKeep = nil
	d.doneCount.Store(0)
}

// dumpOnce makes a dump. If it needs the text of an entry that was changed after the entries were
// listed, nothing is changed and the error matches errEntryChanged.
func (d *dumper) dumpOnce(ctx context.Context) error {
	if err := d.scanTree(); err != nil {
		return err
	}
	d.spool = spool{tree: &d.tree, limit: d.spoolMemory}
	contents, err := d.planFiles(ctx)
	if err != nil || len(d.writes)+len(d.removals) == 0 {
		err = errors.Join(err, d.dropSpool())
	} else {
		err = d.stageAndMove(ctx, contents)
	}
	if err == nil {
		d.saveKnownFiles()
	}
	return err
}

// planFiles determines what to write and remove. It returns the contents of new files that are not
// entries.
func (d *dumper) planFiles(ctx context.Context) (map[string][]byte, error) {
	if err := d.collectEntries(ctx); err != nil {
		return nil, err
	}
	contents, err := d.planChanges(ctx)
	if err == nil && len(d.editedFiles) > 0 {
		slices.Sort(d.editedFiles)
		err = &FilesError{Dir: d.dir, Err: ErrEdited, Files: d.editedFiles,
			Hint: "load the tree first, or force the dump, which keeps a copy of each of them"}
	}
	return contents, err
}

// dropSpool deletes the spool of a dump, if the dump stages no files.
func (d *dumper) dropSpool() error {
	if d.spool.file == nil {
		return nil
	}
	return errors.Join(d.spool.close(), d.stage.RemoveUncommitted())
}

// checkOurs returns an error if the directory contains files that are not from a dump.
func (d *dumper) checkOurs() error {
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
			book = book || name == bookFile
		}
	}
	if len(visible) == 0 {
		return nil
	}
	if book {
		text, err := d.readText(summaryFile, maxListSize)
		if err == nil && isSummary(text) {
			return nil
		}
	}
	return fmt.Errorf("%w: it has %s; choose another directory, or force the dump", ErrForeign, visible[0])
}

// lock prevents concurrent dumps. It does nothing on a file system without locks.
func (d *dumper) lock() (unlock func(), err error) {
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
		return d.stage.RemoveUncommitted()
	}
	d.report.Recovered = true
	return d.resumeChange(j)
}

// scanTree lists the files in the tree, and reads the manifest of the last dump as d.base. d.base is nil if there is
// no manifest, if the manifest is damaged, or if another memory was dumped.
func (d *dumper) scanTree() error {
	items, err := d.dumpTree.listNames()
	if err != nil {
		return err
	}
	if err := d.checkTop(); err != nil {
		return err
	}
	d.items = items[:0]
	d.pathByNFC = make(map[string]string)
	for _, it := range items {
		if it.path != it.kind.dir && !isEntryFile(path.Base(it.path)) {
			continue
		}
		if it.path == it.kind.dir || it.mode != 0 {
			return fmt.Errorf("%s is %s, which a dump does not touch; move it away", it.path, describeMode(it.mode))
		}
		d.items = append(d.items, it)
		if !isASCII(it.path) {
			d.pathByNFC[normalizeNFC(it.path)] = it.path
		}
	}
	slices.SortFunc(d.items, func(a, b item) int { return strings.Compare(a.path, b.path) })
	var m *manifest
	text, err := d.readText(manifestFile, maxListSize)
	if err == nil {
		// A damaged manifest counts as empty, so all files that the store does not contain count as
		// edited.
		m, _ = parseManifest(text)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if m != nil {
		d.listedItems = m.Files
	}
	if m != nil && d.origin.isForeign(m.Memory) {
		m = nil
	}
	d.base = m
	d.knownFiles = d.loadKnownFiles()
	d.examination = examination{}
	return d.scanBook()
}

// findItem returns the index of an existing file in d.items.
func (d *dumper) findItem(p string) (int, bool) {
	return slices.BinarySearchFunc(d.items, p, func(it item, p string) int { return strings.Compare(it.path, p) })
}

// checkTop returns an error if a link or directory has the name of a file that the dump
// writes. It deletes the temporary files of a crashed dump's list of known files.
func (d *dumper) checkTop() error {
	top, err := d.fs.ReadDir(d.dir)
	if err != nil {
		return err
	}
	for _, e := range top {
		if of, ok := vfs.TempOf(e.Name()); ok && of == knownFilesFile {
			// Ignore the error, because a leftover temporary file does no harm.
			_ = d.fs.Remove(d.fullPath(e.Name()))
			continue
		}
		isDumped := e.Name() == summaryFile || e.Name() == bookFile || e.Name() == manifestFile
		if isDumped && !e.Type().IsRegular() {
			return fmt.Errorf("%s is %s, which a dump does not touch; move it away", e.Name(), describeMode(e.Type()))
		}
	}
	return nil
}

// stageAndMove stages the new files, commits, and moves all files to their places.
func (d *dumper) stageAndMove(ctx context.Context, contents map[string][]byte) error {
	j, staged, err := d.stageNames()
	if err == nil {
		err = d.stageFiles(ctx, len(d.writes), func(i int, buf *[]byte) (stagedFile, error) {
			return d.fileToStage(ctx, &d.writes[i], staged[i], contents, buf)
		})
	}
	if err == nil {
		err = d.keepCopies()
	}
	err = errors.Join(err, d.spool.close())
	if err != nil {
		// Nothing has been committed. If a file cannot be deleted now, the next dump deletes it.
		return errors.Join(err, d.stage.RemoveUncommitted())
	}
	settled, hasSettled := int64(0), false
	if d.hasStamps() {
		settled, hasSettled = d.settledTime()
	}
	if err := d.stage.Commit(j); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	if err := d.finishChange(j); err != nil {
		return fmt.Errorf("putting files in place (the next dump goes on with it): %w", err)
	}
	d.forgetChangedFiles()
	if hasSettled {
		d.examineWritten(settled)
	}
	return nil
}

// fileToStage returns a file to be staged. contents has the files that are not entries. buf is used for
// the text of an entry.
func (d *dumper) fileToStage(
	ctx context.Context,
	w *plannedWrite,
	index int,
	contents map[string][]byte,
	buf *[]byte,
) (stagedFile, error) {
	f := stagedFile{name: d.stage.StagedPath(w.Path), perm: 0o600}
	if index >= 0 {
		f.name = d.stage.StagedFile(index)
	}
	if w.OldSum != "" {
		if info, err := d.fs.Stat(d.fullPath(w.Path)); err == nil {
			f.perm = info.Mode().Perm()
		}
	}
	if w.Path == manifestFile {
		// Encode the manifest only now, because its text is as long as the names of all entries.
		var err error
		f.data, err = d.nextManifest.marshal()
		return f, err
	}
	if w.output < 0 {
		f.data = contents[w.Path]
		return f, nil
	}
	var err error
	*buf, err = d.appendText(ctx, (*buf)[:0], &d.outputs[w.output])
	f.data = *buf
	if err == nil {
		d.reportProgress()
	}
	return f, err
}

// stageNames returns the journal of the dump, and the index of each new file in the journal. If a
// file's directory does not exist yet, the file is staged under its own name in a directory that is
// later moved as a whole. The index of such a file is -1.
func (d *dumper) stageNames() (*journal.Journal, []int, error) {
	j := &journal.Journal{Version: journal.Version, Removals: d.removals}
	staged := make([]int, len(d.writes))
	missing := map[string]bool{".": false}
	for i, c := range d.writes {
		dir := path.Dir(c.Path)
		whole, known := missing[dir]
		if !known {
			there, err := d.nameExists(d.fullPath(dir))
			whole = !there
			if err == nil && whole {
				j.Dirs = append(j.Dirs, dir)
				err = d.fs.MkdirAll(d.stage.StagedPath(dir), d.dirPerm)
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
		staged[i] = len(j.Writes)
		j.Writes = append(j.Writes, c.Change)
	}
	return j, staged, nil
}

// reportProgress reports that another entry is done.
func (d *dumper) reportProgress() { d.progress(int(d.doneCount.Add(1)), len(d.outputs)) }

// forgetChangedFiles removes the files that this dump wrote or removed from the list of known files.
func (d *dumper) forgetChangedFiles() {
	gone := make(map[string]bool, len(d.removals))
	for _, w := range d.writes {
		if w.OldSum != "" {
			gone[w.Path] = true
		}
	}
	for _, r := range d.removals {
		gone[r.Path] = true
	}
	d.examination.rows = slices.DeleteFunc(d.examination.rows, func(f knownFile) bool { return gone[f.path] })
}

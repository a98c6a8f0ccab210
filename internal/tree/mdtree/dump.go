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
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/journal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// DumpOptions configure [Dump]. Nil and zero fields mean the default.
type DumpOptions struct {
	// Force allows a dump to a directory that is not empty and was not written by a dump. It also
	// replaces or removes entry files that the user changed or added without loading them. Copies
	// of such files are kept (see [Report.Kept]).
	Force bool

	// Origin names the store in the manifest. If the existing manifest names a different store, it
	// is ignored: all existing files count as edited.
	Origin Origin

	Ref string // name of the directory in errors (its path by default)

	// Progress is called once with done = 0, and after each entry.
	Progress func(done, total int)

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
	d := &dumper{dumpTree: newDumpTree(fsys, dir), force: o.Force, origin: o.Origin, progress: o.Progress,
		past: newPast(ctx, s)}
	if o.bulk > 0 {
		d.bulk = o.bulk
	}
	if d.progress == nil {
		d.progress = func(int, int) {}
	}
	if err := d.dump(ctx, s); err != nil {
		return Report{}, fmt.Errorf("dumping to %s: %w", cmp.Or(o.Ref, d.dir), err)
	}
	return d.report, nil
}

// outputFile is an entry and the file to which it is written.
type outputFile struct {
	entry    oxbow.Entry
	path     string
	showName bool
}

func (f *outputFile) text() entryText { return entryText{Entry: &f.entry, showName: f.showName} }

type dumper struct {
	dumpTree
	force    bool
	origin   Origin
	past     *past
	progress func(done, total int)
	report   Report

	outputs  []outputFile
	byName   map[string]*oxbow.Entry
	onDisk   map[string]bool         // existing files of entries, by path
	was      string                  // origin in the last dump's manifest
	listed   []manifestItem          // files that the last dump wrote, even for a different store
	sums     map[string]string       // their hashes, by path
	base     map[string]manifestItem // the same items, by name
	spelling map[string]string       // path as spelled by the file system, by foldKey

	write  []journal.Change
	remove []journal.Deletion
	edited []string
	keep   []string // edited files that are replaced or removed
}

func (d *dumper) dump(ctx context.Context, s oxbow.Store) error {
	if err := d.collect(ctx, s); err != nil {
		return err
	}
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
	if err := d.recover(); err != nil {
		return fmt.Errorf("finishing an interrupted dump: %w", err)
	}
	if err := d.scan(); err != nil {
		return err
	}
	contents, err := d.compare(ctx)
	if err != nil {
		return err
	}
	if len(d.edited) > 0 {
		slices.Sort(d.edited)
		return &FilesError{Dir: d.dir, Err: ErrEdited, Files: d.edited,
			Hint: "load the tree first, or force the dump, which keeps a copy of each of them"}
	}
	if len(d.write)+len(d.remove) == 0 {
		return nil
	}
	return d.swap(ctx, contents)
}

// collect reads the entries from the store and assigns a file to each.
func (d *dumper) collect(ctx context.Context, s oxbow.Store) error {
	for e, err := range s.Entries(ctx, oxbow.Filter{}) {
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
		d.outputs = append(d.outputs, outputFile{entry: e})
	}
	slices.SortFunc(d.outputs, func(a, b outputFile) int {
		return cmp.Or(cmp.Compare(a.entry.Kind, b.entry.Kind), strings.Compare(a.entry.Name, b.entry.Name))
	})
	d.report.Entries = len(d.outputs)
	d.byName = make(map[string]*oxbow.Entry, len(d.outputs))
	for i := range d.outputs {
		d.byName[d.outputs[i].entry.Name] = &d.outputs[i].entry
	}
	for from := 0; from < len(d.outputs); {
		kind, to := d.outputs[from].entry.Kind, from
		var names []string
		for ; to < len(d.outputs) && d.outputs[to].entry.Kind == kind; to++ {
			names = append(names, d.outputs[to].entry.Name)
		}
		dir := dirOf(kind)
		if dir == "" {
			return &oxbow.NameError{Name: names[0], Err: fmt.Errorf("entry of kind %v has no place in a tree", kind)}
		}
		stems, shown := assignStems(names)
		for k, stem := range stems {
			out := &d.outputs[from+k]
			out.path, out.showName = dir+"/"+stem+".md", !shown[k]
		}
		from = to
	}
	return nil
}

// checkOurs returns an error if the directory contains files that are not from a dump.
func (d *dumper) checkOurs() error {
	if d.force {
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
		text, err := d.read(summaryFile, maxFile)
		if err == nil && isSummary(text) {
			return nil
		}
	}
	return fmt.Errorf("%w: it has %s; choose another directory, or force the dump", ErrForeign, visible[0])
}

// lock prevents concurrent dumps. It does nothing on a file system without locks.
func (d *dumper) lock() (unlock func(), err error) {
	l, err := d.fs.OpenLock(d.path(dumpLockFile))
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

// recover completes a dump that was committed, or deletes the staged files of a dump that was not.
func (d *dumper) recover() error {
	j, err := d.journal()
	if err != nil {
		return err
	}
	if j == nil {
		return d.stage.Clean()
	}
	d.report.Recovered = true
	return d.resume(j)
}

// scan lists the files in the tree.
func (d *dumper) scan() error {
	items, err := d.items()
	if err != nil {
		return err
	}
	if err := d.checkTop(); err != nil {
		return err
	}
	d.onDisk = make(map[string]bool)
	d.spelling = make(map[string]string)
	for _, it := range items {
		if it.path != it.kind.dir && !isEntryFile(path.Base(it.path)) {
			continue
		}
		if it.path == it.kind.dir || it.mode != 0 {
			return fmt.Errorf("%s is %s, which a dump does not touch; move it away", it.path, describe(it.mode))
		}
		d.onDisk[it.path] = true
		d.spelling[foldKey(it.path)] = it.path
	}
	var m *manifest
	text, err := d.read(manifestFile, maxList)
	if err == nil {
		// A damaged manifest counts as empty, so all files that the store does not contain count as
		// edited.
		m, _ = parseManifest([]byte(text))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if m != nil {
		d.listed = m.Files
	}
	if m != nil && d.origin.denies(m.Memory) {
		m = nil
	}
	if m != nil {
		d.was = m.Memory
	}
	d.sums, d.base = m.sums(), m.byName()
	return nil
}

// checkTop returns an error if a link or directory has the name of a file that the dump
// writes.
func (d *dumper) checkTop() error {
	top, err := d.fs.ReadDir(d.dir)
	if err != nil {
		return err
	}
	for _, e := range top {
		isDumped := e.Name() == summaryFile || e.Name() == bookFile || e.Name() == manifestFile
		if isDumped && !e.Type().IsRegular() {
			return fmt.Errorf("%s is %s, which a dump does not touch; move it away", e.Name(), describe(e.Type()))
		}
	}
	return nil
}

// swap stages the new files, commits, and moves all files to their places.
func (d *dumper) swap(ctx context.Context, contents map[string][]byte) error {
	byPath := make(map[string]*outputFile, len(d.outputs))
	for i := range d.outputs {
		byPath[d.outputs[i].path] = &d.outputs[i]
	}
	j, names, err := d.stageNames()
	if err == nil {
		err = d.stageFiles(ctx, len(d.write), func(i int, buf *[]byte) (string, []byte, fs.FileMode) {
			c := &d.write[i]
			perm := fs.FileMode(0o600)
			if c.Was != "" {
				if info, err := d.fs.Stat(d.path(c.Path)); err == nil {
					perm = info.Mode().Perm()
				}
			}
			if data, ok := contents[c.Path]; ok {
				return names[i], data, perm
			}
			out := byPath[c.Path]
			*buf = out.text().appendTo((*buf)[:0])
			return names[i], *buf, perm
		})
	}
	if err == nil {
		err = d.keepCopies()
	}
	if err != nil {
		// Nothing has been committed. The next dump deletes the files that cannot be deleted now.
		return errors.Join(err, d.stage.Clean())
	}
	if err := d.stage.Commit(j); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	if err := d.finish(j); err != nil {
		return fmt.Errorf("putting files in place (the next dump goes on with it): %w", err)
	}
	return nil
}

// stageNames returns the dump's journal and each new file's staged name. If a directory does not
// exist, its files are staged in a directory that is later moved as a whole.
func (d *dumper) stageNames() (*journal.Journal, []string, error) {
	j := &journal.Journal{Version: journal.Version, Remove: d.remove}
	names := make([]string, len(d.write))
	missing := map[string]bool{".": false}
	for i, c := range d.write {
		dir := path.Dir(c.Path)
		whole, known := missing[dir]
		if !known {
			there, err := d.exists(d.path(dir))
			whole = !there
			if err == nil && whole {
				j.Dirs = append(j.Dirs, dir)
				err = d.fs.MkdirAll(d.stage.Path(dir), d.dirPerm)
			}
			if err != nil {
				return nil, nil, err
			}
			missing[dir] = whole
		}
		if whole {
			names[i] = d.stage.Path(c.Path)
			continue
		}
		names[i] = d.stage.File(len(j.Write))
		j.Write = append(j.Write, c)
	}
	return j, names, nil
}

// Dump: a store written as a tree.

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

// DumpOptions change how a tree is written. Nil and zero fields mean the
// default.
type DumpOptions struct {
	// Force dumps into a directory that is not empty and was not made by a dump. It
	// also replaces or removes files of entries that a person changed or added and did
	// not load, and keeps a copy of each; see [Report.Kept].
	Force bool

	// Origin names the store in the manifest. A manifest that names another
	// store counts as none: its files are edits, not what this store dumped.
	Origin Origin

	Ref string // what errors call the directory; its name by default

	// Progress is called after each entry that was compared, and with done =
	// 0 before the first.
	Progress func(done, total int)

	bulk int // the fewest files that are made durable as one; 0 means the default
}

// Report says what a dump did to the files of the tree. The manifest is not
// counted.
type Report struct {
	Entries   int  // entries in the store
	Written   int  // files made or replaced
	Unchanged int  // files that were right already
	Removed   int  // files of entries that are no more
	Recovered bool // an interrupted dump was finished first

	// Kept are the copies of files that were edited and not loaded, and that this dump
	// replaced or removed: entries with Force, and the table of contents.
	Kept []string

	// Directives are the names of entries with directives of mdbook, such as
	// {{#include FILE}}, if the book.toml that a person wrote lets mdbook follow them.
	Directives []string
}

// Dump writes all entries of a store as a tree at dir, which is made where it
// is missing. Files that are right already are not written; when all are,
// nothing is. What is not the dump's own stays: see the package comment. New files
// and directories are their owner's alone (0600, 0700), as the memory is; a file
// that is replaced keeps its mode.
//
// The dump is one step for [Read] and for the next Dump, whatever happens
// meanwhile: before the step they see the old tree, after it the new one. A
// crash may leave new files next to old ones for other programs to see, until
// the next Dump.
//
// A directory with something else in it is refused with [ErrForeign]; names
// that begin with a dot do not count. Files of entries that were changed since
// the last dump and hold what the store does not are refused with a
// [*FilesError] matching [ErrEdited]. A dump that another process is at work on
// gives [oxbow.ErrBusy].
func Dump(ctx context.Context, s oxbow.Store, fsys vfs.FS, dir string, o *DumpOptions) (Report, error) {
	if o == nil {
		o = &DumpOptions{}
	}
	d := &dumper{dumpTree: newDumpTree(fsys, dir), force: o.Force, origin: o.Origin, progress: o.Progress, past: newPast(ctx, s)}
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

// outputFile is an entry and its file.
type outputFile struct {
	entry    oxbow.Entry
	path     string
	showName bool
}

type dumper struct {
	dumpTree
	force    bool
	origin   Origin
	past     *past
	progress func(done, total int)
	report   Report

	outputs  []outputFile
	byName   map[string]*oxbow.Entry
	onDisk   map[string]bool         // files of entries there are, by path
	was      string                  // origin of the last dump
	listed   []manifestItem          // what the last dump wrote, of whatever store
	sums     map[string]string       // what it wrote, by path
	base     map[string]manifestItem // and by name
	spelling map[string]string       // path as the file system spells it, by foldKey

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

// collect takes the entries from the store and gives them their files.
func (d *dumper) collect(ctx context.Context, s oxbow.Store) error {
	for e, err := range s.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return err
		}
		for _, text := range append([]string{e.Name, e.Content}, e.Aliases...) {
			if !utf8.ValidString(text) {
				return &oxbow.NameError{Name: e.Name, Err: fmt.Errorf("entry %w: its text is not UTF-8", oxbow.ErrInvalid)}
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

// checkOurs refuses a directory that holds something else than a dump.
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

// lock excludes other dumps. Where a file system has no locks it does nothing.
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

// recover finishes a dump that was committed, or deletes what is staged.
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

// scan lists what is in the tree.
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
		// A damaged manifest counts as an empty one: what the store does not
		// hold then counts as changed.
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

// checkTop refuses links and directories that have the name of a file of the dump.
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

// swap stages the new files, commits and puts all in place.
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
			*buf = appendEntry((*buf)[:0], &out.entry, out.showName)
			return names[i], *buf, perm
		})
	}
	if err == nil {
		err = d.keepCopies()
	}
	if err != nil {
		// Nothing is committed. What cannot be deleted now is deleted by the
		// next dump.
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

// stageNames returns the journal of the dump and the name that each new file is
// staged under. The files of a directory that is missing are staged in one that
// is moved whole.
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

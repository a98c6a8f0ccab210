// This file implements Read, which reads a whole tree.

package mdtree

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/journal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// defaultMaxFiles is the maximum number of entries in a tree without a manifest. If there is a
// manifest, the tree may have that many entries more than the manifest lists, so that every dump
// can be loaded.
const defaultMaxFiles = 100_000

// ReadOptions configure [Read]. Nil and zero fields mean the default.
type ReadOptions struct {
	MaxFiles int                   // maximum number of entries (0 means 100,000 more than the last dump wrote)
	Ref      string                // name of the directory in errors (its path by default)
	Progress func(done, total int) // called once with done = 0, and after each file

	// SkipUnchanged leaves an entry out of [Tree.Entries] if the entry's file has not changed since the last dump.
	// [Tree.Plan] adds such an entry if the store has a different version. Files that are known to be unchanged are
	// not read at all.
	SkipUnchanged bool
}

// Tree is the content of a directory tree of entry files.
type Tree struct {
	// Entries have Name, Kind, Content, Aliases, Labels and Created. Created is zero if the file
	// does not contain it. They are sorted by kind, then by file name.
	Entries []oxbow.Entry

	// Files contains the path of each entry's file, relative to the tree.
	Files []string

	// Memory is the store that was dumped here, in the form of [Origin.Name]. It is "" if the
	// manifest does not exist or does not name a store.
	Memory string

	// Missing lists the entries of the last dump whose files do not exist any more.
	Missing []MissingFile

	// Warnings describe files and parts of files that were ignored or that may have been
	// misunderstood.
	Warnings []Problem

	dir         string
	files       dumpTree
	base        *manifest // manifest of the last dump, or nil
	isOwn       bool      // base is the text that a dump on this machine wrote, so nobody edited the text
	areUnedited []bool    // for each entry, whether its file is unchanged since the last dump
	hasMarkers  []bool    // for each entry, whether its file contains git's conflict markers

	unchanged   []unchangedFile // files that are unchanged since the last dump
	isUnchanged []bool          // for each file in base, whether it is in unchanged
}

// unchangedFile is a file that is unchanged since the last dump and is not in [Tree.Files].
type unchangedFile struct {
	row  int // index of the file in [manifest.Files]
	kind *kindDir
}

// MissingFile is an entry of the last dump whose file does not exist any more.
type MissingFile struct {
	Name string
	File string
}

// Read reads a whole tree and changes nothing. If a crash interrupted a dump, Read returns the tree
// either before or after the dump, never a mixture.
//
// Read reads a crabtalk tree like crabtalk, with two differences. Read keeps white space around
// contents and aliases. It reads topics, a kind that oxbow does not have, as notes with the label
// tag:topic. Encoded file names (a%2Fb.md) are decoded even if another program wrote them. Names
// that start with a dot, files whose names do not end in ".md", and subdirectories in the kinds'
// directories are ignored. If such a file is not hidden, Read adds a warning.
//
// If the directory does not exist or contains no entries, the error matches [ErrNoTree], unless the
// manifest shows that an empty memory was dumped. All other problems are listed in a single
// [*ProblemsError]: links and other irregular files, text that is not UTF-8, files that are too
// long, too many files, invalid blocks of data, and names that two files use.
func Read(fsys vfs.FS, dir string, o *ReadOptions) (*Tree, error) {
	opts := ReadOptions{}
	if o != nil {
		opts = *o
	}
	if opts.Progress == nil {
		opts.Progress = func(int, int) {}
	}
	r := newDumpTree(fsys, dir)
	ref := cmp.Or(opts.Ref, r.dir)
	// Every dump that changes a file changes the journal or the manifest. If both are unchanged,
	// all files were read in the same state of the tree.
	const tries = 3
	for range tries {
		before, err := r.readDumpState()
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", ref, err)
		}
		t, readErr := r.readTree(opts, before.manifestHash)
		after, err := r.readDumpState()
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", ref, err)
		}
		if before != after {
			continue
		}
		if readErr != nil {
			return nil, fmt.Errorf("reading %s: %w", ref, readErr)
		}
		return t, nil
	}
	return nil, fmt.Errorf("reading %s: %w: a dump is at work there", ref, oxbow.ErrBusy)
}

// dumpState contains the hashes, in hex, of the files that every dump changes.
type dumpState struct{ journalHash, manifestHash string }

// readDumpState returns the state of the last dump.
func (r *dumpTree) readDumpState() (s dumpState, err error) {
	s.journalHash, err = r.hashFileStream(commitFile)
	if err != nil {
		return s, err
	}
	s.manifestHash, err = r.hashFileStream(manifestFile)
	return s, err
}

// readTree reads the tree. manifestSum is the hash of the manifest, in hex.
func (r *dumpTree) readTree(opts ReadOptions, manifestSum string) (*Tree, error) {
	j, err := r.readJournal()
	if err != nil {
		return nil, err
	}
	if err := r.setOverlay(j); err != nil {
		return nil, err
	}
	items, err := r.listNames()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrNoTree, err)
	}
	if err != nil {
		return nil, err
	}
	t := &Tree{dir: r.dir, files: *r}
	problems := &ProblemsError{Dir: r.dir}
	files := t.entryFiles(items, problems)
	m := r.readManifest(problems)
	if most := opts.maxFiles(m); len(files) > most {
		problems.Add("", fmt.Errorf("it has %d files of entries; the most is %d", len(files), most))
		return nil, problems
	}
	isEmptyDump := m != nil && m.Count == 0
	if len(files)+len(problems.Problems) == 0 && !isEmptyDump {
		return nil, emptyTreeError(m)
	}
	t.base = m
	rd := &treeReader{tree: t, problems: problems, dumpedSpellings: m.dumpedSpellings(),
		ownerFiles: make(map[string]string), skipUnchanged: opts.SkipUnchanged}
	if opts.SkipUnchanged && m != nil {
		rd.prepareToSkip(manifestSum)
	}
	topics := rd.readAll(r, files, opts.Progress)
	if topics > 0 {
		t.addWarning(
			"topics",
			fmt.Errorf("oxbow has no topics; the %d there are read as notes with the label %v", topics, topicLabel),
		)
	}
	if m != nil {
		t.Memory = m.Memory
	}
	t.findMissing(m, rd.ownerFiles)
	t.warnTopNames(r)
	if err := problems.orNil(); err != nil {
		return nil, err
	}
	return t, nil
}

// emptyTreeError returns the error for a directory without entries. m is the manifest of the last dump,
// or nil.
func emptyTreeError(m *manifest) error {
	if m == nil {
		return fmt.Errorf("%w: it has no files such as notes/NAME.md", ErrNoTree)
	}
	return emptiedError(len(m.Files))
}

// emptiedError is returned for a directory whose manifest lists this number of files, all of which are gone.
type emptiedError int

func (n emptiedError) Error() string {
	return fmt.Sprintf("all files of entries that the last dump wrote here are gone (number of files: %d), "+
		"and nothing was changed; dump again to restore the files, or forget the entries by name", int(n))
}

func (emptiedError) Is(target error) bool { return target == ErrNoTree }

// maxFiles returns the maximum number of entries for a tree with this manifest. m is nil for a
// tree without a manifest.
func (o *ReadOptions) maxFiles(m *manifest) int {
	switch {
	case o.MaxFiles > 0:
		return o.MaxFiles
	case m == nil:
		return defaultMaxFiles
	}
	return len(m.Files) + defaultMaxFiles
}

func (t *Tree) addWarning(file string, err error) {
	t.Warnings = append(t.Warnings, Problem{file, err})
}

// entryFiles returns the items that are files of entries.
func (t *Tree) entryFiles(items []item, problems *ProblemsError) []item {
	var files []item
	for _, it := range items {
		name := path.Base(it.path)
		switch {
		case it.path == it.kind.dir:
			problems.Add(it.path, fmt.Errorf("it is %s, not a directory", describeMode(it.mode)))
		case name[0] == '.':
			if strings.HasSuffix(name, ".md") {
				t.addWarning(it.path, errors.New("it is hidden and so not read"))
			}
		case !isEntryFile(name):
			t.addWarning(it.path, errors.New("it is not read: only names that end in .md are"))
		case it.mode != 0:
			problems.Add(it.path, fmt.Errorf("it is %s, not a regular file", describeMode(it.mode)))
		default:
			files = append(files, it)
		}
	}
	return files
}

// readManifest returns the manifest, or nil if the tree has none.
func (r *dumpTree) readManifest(problems *ProblemsError) *manifest {
	text, err := r.readText(manifestFile, maxListSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var m *manifest
	if err == nil {
		m, err = parseManifest(text)
	}
	if err != nil {
		problems.Add(manifestFile, err)
	}
	return m
}

// treeReader adds files to a tree as entries.
type treeReader struct {
	tree            *Tree
	problems        *ProblemsError
	dumpedSpellings map[string]string // see manifest.dumpedSpellings
	ownerFiles      map[string]string // file of each name
	skipUnchanged   bool
	known           knownFiles

	// Manifest, known files and the names in the tree are sorted. Therefore a file usually has the row
	// after the row of the file before it.
	nextKnown, nextRow int
}

// prepareToSkip prepares reading only the changed files. manifestSum is the hash of the manifest in hex.
func (r *treeReader) prepareToSkip(manifestSum string) {
	t := r.tree
	r.known = t.files.loadKnownFiles()
	t.isOwn = manifestSum != "" && r.known.manifestHash == manifestSum
	t.unchanged = make([]unchangedFile, 0, len(t.base.Files))
	t.isUnchanged = make([]bool, len(t.base.Files))
}

// readAll adds the files to the tree, and returns the number of topics.
func (r *treeReader) readAll(t *dumpTree, files []item, progress func(done, total int)) (topics int) {
	progress(0, len(files))
	for i := range files {
		it := &files[i]
		if r.readFile(t, it) && it.kind.isTopic {
			topics++
		}
		progress(i+1, len(files))
	}
	return topics
}

// readFile adds a file to the tree. It reports whether the file could be read.
func (r *treeReader) readFile(t *dumpTree, it *item) bool {
	row, isUnique := r.dumpedRow(it)
	if isUnique && r.isKnown(it, row) {
		r.tree.addUnchanged(it, row)
		return true
	}
	text, err := t.readText(it.path, maxFile)
	switch {
	case errors.Is(err, vfs.ErrTooLarge):
		r.problems.Add(
			it.path,
			fmt.Errorf("it is longer than the %d bytes that one entry may hold", oxbow.MaxContent),
		)
		return false
	case err != nil:
		r.problems.Add(it.path, err)
		return false
	case isUnique && journal.HexSum([]byte(text)) == r.tree.base.Files[row].Sum:
		r.tree.addUnchanged(it, row)
	default:
		r.addFile(it, text)
	}
	return true
}

// dumpedRow returns the row of a file in the manifest. ok is true if the file need not be parsed as long as it has
// the hash in that row.
func (r *treeReader) dumpedRow(it *item) (row int, ok bool) {
	if !r.skipUnchanged || it.kind.isTopic {
		return 0, false
	}
	row, ok = r.tree.base.rowAt(it.path, r.nextRow)
	if !ok {
		return 0, false
	}
	r.nextRow = row + 1
	name := r.tree.base.Files[row].Name
	if _, isOwned := r.ownerFiles[name]; isOwned {
		return 0, false
	}
	if r.tree.isOwn {
		return row, true
	}
	named, _ := r.tree.base.findItem(name)
	// If the path does not show the name, the name may be wrong, because somebody edited the
	// manifest.
	return row, named.Path == it.path && decodeName(fileStem(it.path)) == name
}

// isKnown reports whether the list of known files shows that the file has the hash in a row of the manifest.
func (r *treeReader) isKnown(it *item, row int) bool {
	known, ok := r.known.unchangedRow(it, r.nextKnown)
	if !ok {
		return false
	}
	r.nextKnown = known + 1
	return isHexOf(r.tree.base.Files[row].Sum, &r.known.rows[known].sum)
}

// addUnchanged adds a file that is unchanged since the last dump, with its row in the manifest.
func (t *Tree) addUnchanged(it *item, row int) {
	t.unchanged = append(t.unchanged, unchangedFile{row, it.kind})
	t.isUnchanged[row] = true
}

// manifestItemOf returns the item of the manifest for an unchanged file.
func (t *Tree) manifestItemOf(f *unchangedFile) *manifestItem { return &t.base.Files[f.row] }

// entryState describes an entry's file.
type entryState struct{ isUnedited, hasMarkers bool }

func (t *Tree) addEntry(e oxbow.Entry, file string, s entryState) {
	t.Entries = append(t.Entries, e)
	t.Files = append(t.Files, file)
	t.areUnedited = append(t.areUnedited, s.isUnedited)
	t.hasMarkers = append(t.hasMarkers, s.hasMarkers)
}

// unchangedPath returns the path of a name's file if the file is in t.unchanged.
func (t *Tree) unchangedPath(name string) (string, bool) {
	if t.isUnchanged == nil {
		return "", false
	}
	row, ok := t.base.rowsByName()[name]
	isUnique := ok && row != severalRows
	if !isUnique || !t.isUnchanged[row] {
		return "", false
	}
	return t.base.Files[row].Path, true
}

// addFile parses the text of a file and adds the entry to the tree. If the file is invalid, or if another file has an
// entry of the same name, it adds a problem instead.
func (r *treeReader) addFile(it *item, text string) {
	p := it.path
	if as := r.dumpedSpellings[normalizeNFC(p)]; as != "" {
		p = as
	}
	e, f, err := r.tree.parseFile(it.kind, p, text)
	if err != nil {
		r.problems.Add(it.path, err)
		return
	}
	first, isOwned := r.ownerFiles[e.Name]
	if !isOwned {
		first, isOwned = r.tree.unchangedPath(e.Name)
	}
	if isOwned {
		r.problems.Add(it.path, fmt.Errorf("%w: %s has the name %q too", oxbow.ErrExists, first, e.Name))
		return
	}
	r.ownerFiles[e.Name] = it.path
	for _, w := range f.warnings {
		r.tree.addWarning(it.path, errors.New(w))
	}
	isDecoded := strings.Contains(p, "%") && !f.hasName && e.Name != fileStem(p)
	if r.tree.base == nil && isDecoded {
		r.tree.addWarning(it.path, fmt.Errorf("its name is read as %q", e.Name))
	}
	last, _ := r.tree.base.findItem(e.Name)
	r.tree.addEntry(e, it.path, entryState{
		isUnedited: last.isText(it.kind.dir, text, &e, f.hasName),
		hasMarkers: HasConflictMarkers(text),
	})
}

// parseFile parses the text of a file with path p.
func (t *Tree) parseFile(kind *kindDir, p, text string) (oxbow.Entry, parsedFile, error) {
	if t.base != nil {
		text = unixLines(text)
	}
	return readEntryFile(kind, p, text)
}

// readUnchanged reads a file that was left out, and adds its entry to t.Entries. If the file was
// edited since the tree was read, the entry has the new text.
func (t *Tree) readUnchanged(f *unchangedFile) error {
	last := t.manifestItemOf(f)
	text, err := t.files.readText(last.Path, maxFile)
	if err != nil {
		return err
	}
	e, parsed, err := t.parseFile(f.kind, last.Path, text)
	if err == nil && e.Name != last.Name {
		err = fmt.Errorf("%w: its name was changed to %q meanwhile", oxbow.ErrBusy, e.Name)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", t.files.fullPath(last.Path), err)
	}
	t.addEntry(e, last.Path, entryState{
		isUnedited: last.isText(f.kind.dir, text, &e, parsed.hasName),
		hasMarkers: HasConflictMarkers(text),
	})
	return nil
}

// dumpedSpellings maps the paths in the manifest, in Unicode normal form C, to the spelling in the dump.
// Some file systems (HFS+) and archives change names to another normal form, but entries' names
// must not change.
func (m *manifest) dumpedSpellings() map[string]string {
	as := make(map[string]string)
	if m == nil {
		return as
	}
	for _, f := range m.Files {
		if isASCII(f.Path) {
			continue // skip the path, because it has only one normal form
		}
		// If two paths differ only in normal form, use the spelling on disk.
		if _, twice := as[normalizeNFC(f.Path)]; twice {
			as[normalizeNFC(f.Path)] = ""
		} else {
			as[normalizeNFC(f.Path)] = f.Path
		}
	}
	return as
}

func normalizeNFC(s string) string { return norm.NFC.String(s) }

func fileStem(p string) string { return strings.TrimSuffix(path.Base(p), ".md") }

// readEntryFile parses the text of an entry's file with path p. The file need not exist.
func readEntryFile(s *kindDir, p, text string) (oxbow.Entry, parsedFile, error) {
	if !utf8.ValidString(p) {
		return oxbow.Entry{}, parsedFile{}, errors.New("its name is not UTF-8; rename it")
	}
	if !utf8.ValidString(text) {
		return oxbow.Entry{}, parsedFile{}, errors.New(
			"it is not UTF-8 text; convert it first, for example with iconv -t UTF-8",
		)
	}
	f, err := parseEntry(text)
	if err != nil {
		return oxbow.Entry{}, parsedFile{}, err
	}
	if len(f.content) > oxbow.MaxContent {
		return oxbow.Entry{}, parsedFile{}, fmt.Errorf(
			"its content has %d bytes; the most is %d",
			len(f.content),
			oxbow.MaxContent,
		)
	}
	e := oxbow.Entry{Name: f.name, Kind: s.kind, Content: f.content,
		Aliases: f.aliases, Labels: withoutLocal(f.labels), Created: f.created}
	if !f.hasName {
		e.Name = decodeName(fileStem(p))
	}
	if s.isTopic {
		e.Labels = oxbow.SortLabels(append(slices.Clone(e.Labels), topicLabel))
	}
	return e, f, nil
}

// findMissing finds the entries of the last dump that the tree lacks.
func (t *Tree) findMissing(m *manifest, owner map[string]string) {
	if m == nil {
		return
	}
	for i, f := range m.Files {
		if t.isUnchanged != nil && t.isUnchanged[i] {
			continue
		}
		if _, hasFile := owner[f.Name]; !hasFile {
			t.Missing = append(t.Missing, MissingFile{f.Name, f.Path})
		}
	}
}

// warnTopNames adds warnings for names in the top directory that the user may have intended for entries.
func (t *Tree) warnTopNames(r *dumpTree) {
	items, err := r.fs.ReadDir(r.dir)
	if err != nil {
		return
	}
	for _, it := range items {
		name := it.Name()
		for _, s := range kindDirs {
			isSimilar := strings.EqualFold(name, s.dir) || strings.EqualFold(name, s.kind.String())
			if isSimilar && it.IsDir() && name != s.dir {
				t.addWarning(name, fmt.Errorf("it is not read; did you mean %s?", s.dir))
				break
			}
		}
		mayBeEntry := isEntryFile(name) && !slices.Contains([]string{summaryFile, "README.md"}, name)
		if mayBeEntry && !it.IsDir() {
			t.addWarning(name, errors.New("it is not read: entries stand in notes and the other directories of kinds"))
		}
	}
}

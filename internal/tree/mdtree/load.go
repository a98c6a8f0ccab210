// This file implements ReadTree, which reads a whole tree.

package mdtree

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// defaultMaxFiles limits the number of entries in a tree, which are stored as files. A tree without a manifest may
// contain at most this many entries. If there is a manifest, the limit is the number of entries in the manifest plus
// defaultMaxFiles, so that every dump can be loaded.
const defaultMaxFiles = 100_000

// ReadOptions configure [ReadTree]. Nil and zero fields mean the default.
type ReadOptions struct {
	// maximum number of entries in the files (0 means the number that the last dump wrote plus 100,000)
	MaxEntries      int
	DirNameInErrors string // name of the directory in errors (its path by default)

	// Progress is called first with done = 0, then with the number of files that need not be read, and then after each
	// file that was read.
	Progress func(done, total int)

	// SkipUnchanged leaves an entry out of [Tree.Entries] if the entry's file has not changed since the last dump.
	// [Tree.PlanLoadIntoStore] adds such an entry if the store has a different version. Files that are known to be
	// unchanged are not read at all.
	SkipUnchanged bool
}

// Tree is the content of a directory tree with entry files.
type Tree struct {
	// Entries have Name, Kind, Content, Aliases, Labels and Created. Created is zero if the file
	// does not contain it. They are sorted by kind, then by file name.
	Entries []oxbow.Entry

	// EntryPaths contains the path of each entry's file, relative to the tree.
	EntryPaths []string

	// DumpedStoreName is the name of the store that was dumped to this tree, in the same form as [StoreIdentity.Name].
	// It is "" if the manifest does not exist or does not name a store.
	DumpedStoreName string

	// MissingFiles lists the entries of the last dump whose files do not exist any more.
	MissingFiles []MissingFile

	// Warnings describe files and parts of files that were ignored or that may have been
	// misunderstood.
	Warnings []Problem

	// PartlyReadFiles is the number of entries' files with text that is not read. Warnings name each text.
	PartlyReadFiles int

	dir   string
	files dumpTree
	// manifest, the list of files that the last dump wrote (nil if it is missing or damaged)
	lastDumpManifest *manifest
	// nobody has edited the manifest (lastDumpManifest) since a dump on this machine wrote it
	isManifestUnedited        bool
	isUneditedEntry           []bool // for each entry, whether its file is unchanged since the last dump
	hasConflictMarkersByEntry []bool // for each entry, whether its file contains git's conflict markers

	// isUnchangedByRow is true for each file in the manifest (lastDumpManifest) that is unchanged since the last dump.
	// The entry of such a file is not in Entries. The slice is nil without [ReadOptions.SkipUnchanged].
	isUnchangedByRow []bool
}

// MissingFile is an entry of the last dump whose file does not exist any more.
type MissingFile struct {
	EntryName string
	FilePath  string
}

// ReadTree reads a whole tree and changes nothing. If a crash interrupted a dump, ReadTree returns the tree either
// before or after the dump, never a mixture.
//
// ReadTree reads a tree by the rules of crabtalk, the program that first used this file format, but differs from
// crabtalk in two ways:
//
//   - ReadTree keeps white space around contents and aliases.
//   - A topic is a kind of entry that oxbow does not have. ReadTree reads it as a note with the label tag:topic.
//
// Encoded file names (a%2Fb.md) are decoded even if another program wrote them. Names that start with a dot, files
// whose names do not end in ".md", and subdirectories in the kinds' directories are ignored. If such a file is not
// hidden, ReadTree adds a warning.
//
// If the directory does not exist or contains no entries, the error matches [ErrNoTree], unless the manifest shows that
// an empty memory was dumped. If dumps change the tree repeatedly while it is read, the error matches [oxbow.ErrBusy].
// All other problems are listed in a single [*ProblemsError]: links and other irregular files, text that is not UTF-8,
// files that are too long, too many files, invalid blocks of data, and names that two files use.
func ReadTree(fsys vfs.FS, dir string, o *ReadOptions) (*Tree, error) {
	opts := ReadOptions{}
	if o != nil {
		opts = *o
	}
	if opts.Progress == nil {
		opts.Progress = func(int, int) {}
	}
	r := newDumpTree(fsys, dir)
	ref := cmp.Or(opts.DirNameInErrors, r.dir)
	// Read the tree again if a dump changed it meanwhile. Every dump that changes a file changes the journal or the
	// manifest. If both are unchanged, all files were read in the same state of the tree.
	const tries = 3
	for range tries {
		before, err := r.readLastDumpHashes()
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", ref, err)
		}
		t, readErr := r.readTree(opts, before.manifestHash)
		after, err := r.readLastDumpHashes()
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

// lastDumpHashes contains the hashes, in hex, of the journal and the manifest. Every dump that changes a file changes
// one of them.
type lastDumpHashes struct{ journalHash, manifestHash string }

// readLastDumpHashes returns the hashes of two files that each dump writes: the journal commitFile and the manifest
// manifestFile. The caller compares the hashes with earlier hashes to find out whether a dump has changed the tree in
// the meantime.
func (r *dumpTree) readLastDumpHashes() (s lastDumpHashes, err error) {
	s.journalHash, err = r.hashFileStream(commitFile)
	if err != nil {
		return s, err
	}
	s.manifestHash, err = r.hashFileStream(manifestFile)
	return s, err
}

// readTree reads the tree. manifestHash is the hash of the manifest, in hex.
func (r *dumpTree) readTree(opts ReadOptions, manifestHash string) (*Tree, error) {
	j, err := r.readJournal()
	if err != nil {
		return nil, err
	}
	if err := r.simulateCompletedChange(j); err != nil {
		return nil, err
	}
	problems := &ProblemsError{Dir: r.dir}
	m := r.loadManifest(problems)
	t := &Tree{dir: r.dir, files: *r, lastDumpManifest: m}
	rd := &treeReader{tree: t, problems: problems, fileByEntryName: make(map[string]string)}
	if opts.SkipUnchanged && m != nil {
		rd.prepareToSkipUnchangedFiles(manifestHash)
	}
	files, err := rd.listFiles(r)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrNoTree, err)
	}
	if err != nil {
		return nil, err
	}
	count := len(files) + rd.unchangedFileCount
	if most := opts.maxFiles(m); count > most {
		problems.AddProblem("", fmt.Errorf("it has %d files of entries; the most is %d", count, most))
		return nil, problems
	}
	isEmptyDump := m != nil && m.EntryCount == 0
	if count+len(problems.Problems) == 0 && !isEmptyDump {
		return nil, emptyTreeError(m)
	}
	topics := rd.readAll(r, files, opts.Progress)
	if topics > 0 {
		t.addWarning(
			"topics",
			fmt.Errorf("oxbow has no topics; the %d there are read as notes with the label %v", topics, topicLabel),
		)
	}
	if m != nil {
		t.DumpedStoreName = m.DumpedStoreName
	}
	t.findMissingEntries(m, rd.fileByEntryName)
	t.warnAboutIgnoredTopNames(r)
	if err := problems.orNil(); err != nil {
		return nil, err
	}
	return t, nil
}

// emptyTreeError returns the error for a directory without entries. A dump is a directory tree to which oxbow writes
// all entries of a memory. m is the manifest of the last dump in this directory, which lists the written files, or nil
// if there is no manifest.
func emptyTreeError(m *manifest) error {
	if m == nil {
		return fmt.Errorf("%w: it has no files such as notes/NAME.md", ErrNoTree)
	}
	return allFilesGoneError(m.EntryCount)
}

// allFilesGoneError is returned for a directory without entries although its manifest lists files. The value is the
// number of these files.
type allFilesGoneError int

func (n allFilesGoneError) Error() string {
	return fmt.Sprintf("all files of entries that the last dump wrote here are gone (number of files: %d), "+
		"and nothing was changed; dump again to restore the files, or forget the entries by name", int(n))
}

func (allFilesGoneError) Is(target error) bool { return target == ErrNoTree }

// maxFiles returns the maximum number of entries for a tree with this manifest. m is nil for a
// tree without a manifest.
func (o *ReadOptions) maxFiles(m *manifest) int {
	switch {
	case o.MaxEntries > 0:
		return o.MaxEntries
	case m == nil:
		return defaultMaxFiles
	}
	return m.EntryCount + defaultMaxFiles
}

func (t *Tree) addWarning(file string, err error) {
	t.Warnings = append(t.Warnings, Problem{file, err})
}

// listFiles returns the files with entries that must be read, sorted by kind and path. It omits files that are
// unchanged since the last dump. (A dump writes the entries of a store to files.) listFiles calls isUnchangedSinceDump
// for each file, which also marks unchanged files. It reports files that do not contain entries as problems or
// warnings.
func (r *treeReader) listFiles(t *dumpTree) ([]entryDirFile, error) {
	var files []entryDirFile
	var others []dirEntry
	err := t.eachEntry(func(e dirEntry) error {
		isEntry := !e.isKindDir() && isEntryFile(path.Base(e.path)) && e.mode == 0
		switch {
		case !isEntry:
			others = append(others, e)
		case !r.isUnchangedSinceDump(t, &e):
			files = append(files, entryDirFile{e.path, e.kindDir})
		}
		return nil
	})
	slices.SortFunc(
		files,
		func(a, b entryDirFile) int { return compareEntryKindDirPaths(a.kind, b.kind, a.path, b.path) },
	)
	slices.SortFunc(
		others,
		func(a, b dirEntry) int { return compareEntryKindDirPaths(a.kindDir, b.kindDir, a.path, b.path) },
	)
	for i := range others {
		r.reportNonEntryFile(&others[i])
	}
	return files, err
}

// compareEntryKindDirPaths compares the paths aPath and bPath of two entry files. The arguments aKind and bKind are the
// directories of these files. Each directory contains the entries of one kind. The files are ordered first by the
// position of their directory in the list entryKindDirs, and then by path.
func compareEntryKindDirPaths(aKind, bKind *entryKindDir, aPath, bPath string) int {
	return cmp.Or(cmp.Compare(kindDirIndex(aKind.dir), kindDirIndex(bKind.dir)), strings.Compare(aPath, bPath))
}

// reportNonEntryFile reports a file or directory that is not read as an entry. It adds a warning for a hidden .md file,
// and for a visible file whose name is not the name of an entry file. It adds a problem if a directory for entries is
// not a directory, or if an entry file is not a regular file. Other hidden files are ignored.
func (r *treeReader) reportNonEntryFile(e *dirEntry) {
	name := path.Base(e.path)
	isHidden := name[0] == '.'
	switch {
	case e.isKindDir():
		r.problems.AddProblem(e.path, fmt.Errorf("it is %s, not a directory", describeMode(e.mode)))
	case isHidden && strings.HasSuffix(name, ".md"):
		r.tree.addWarning(e.path, errors.New("it is hidden and so not read"))
	case isHidden:
	case !isEntryFile(name):
		r.tree.addWarning(e.path, errors.New("it is not read: only names that end in .md are"))
	default:
		r.problems.AddProblem(e.path, fmt.Errorf("it is %s, not a regular file", describeMode(e.mode)))
	}
}

// loadManifest returns the manifest of the tree. It returns nil if the tree has no manifest, or if reading the manifest
// fails. In the second case, it adds the error to problems.
func (t *dumpTree) loadManifest(problems *ProblemsError) *manifest {
	m, err := t.readManifest()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		problems.AddProblem(manifestFile, err)
		return nil
	}
	return m
}

// treeReader adds files to a tree as entries.
type treeReader struct {
	tree     *Tree
	problems *ProblemsError
	// The paths in the last dump that contain characters other than ASCII, as they were spelled in the dump. The key is
	// the path in the Unicode normal form C. The map is nil until it is needed.
	lastDumpPathSpellings map[string]string
	fileByEntryName       map[string]string // for each name of an entry, the file that contains it
	unchangedFileCount    int               // number of files that are known to be unchanged

	// fileStampByRow contains, for each row of the manifest, the size, inode and times of the file when its content had
	// the hash in the row.
	fileStampByRow []fileStampHash
}

// prepareToSkipUnchangedFiles reads the information that is needed to read only the changed files. manifestHash is the
// hash of the manifest in hex.
func (r *treeReader) prepareToSkipUnchangedFiles(manifestHash string) {
	t := r.tree
	t.isUnchangedByRow = make([]bool, len(t.lastDumpManifest.fileRows))
	r.fileStampByRow = make([]fileStampHash, len(t.lastDumpManifest.fileRows))
	head, ok := t.files.loadKnownFiles(func(f fileWithKnownHash) {
		if row, ok := t.lastDumpManifest.rowAt(f.path); ok &&
			t.lastDumpManifest.fileRows[row].fileDigest == f.contentDigest {
			r.fileStampByRow[row] = t.files.hashFileStamp(f.fileStamp)
		}
	})
	t.isManifestUnedited = ok && manifestHash != "" && head.manifestDigest.hexText() == manifestHash
}

// readAll reads the files with entries and adds the entries to the tree. It returns how many are topics, a kind of
// entry that the program crabtalk has and oxbow lacks.
func (r *treeReader) readAll(t *dumpTree, files []entryDirFile, progress func(done, total int)) (topicCount int) {
	total := r.unchangedFileCount + len(files)
	progress(0, total)
	if r.unchangedFileCount > 0 {
		progress(r.unchangedFileCount, total)
	}
	done := r.unchangedFileCount
	for i := range files {
		it := &files[i]
		if r.readFile(t, it) && it.kind.isTopic {
			topicCount++
		}
		done++
		progress(done, total)
	}
	return topicCount
}

// readFile reads the file it and adds its entry to the tree. If the file's hash is equal to the hash in the manifest,
// the file is unchanged since the last dump. readFile then only marks the file's row in r.tree.isUnchangedByRow.
// readFile returns false and adds a problem if the file cannot be read.
func (r *treeReader) readFile(t *dumpTree, it *entryDirFile) bool {
	row, isUnique := r.manifestRowOf(it.path, it.kind)
	text, err := t.readText(it.path, maxEntryFileBytes)
	switch {
	case errors.Is(err, vfs.ErrTooLarge):
		r.problems.AddProblem(
			it.path,
			fmt.Errorf("it is longer than the %d bytes that one entry may hold", oxbow.MaxContent),
		)
		return false
	case err != nil:
		r.problems.AddProblem(it.path, err)
		return false
	case isUnique && sha256Digest(sha256.Sum256([]byte(text))) == r.tree.lastDumpManifest.fileRows[row].fileDigest:
		r.tree.isUnchangedByRow[row] = true
	default:
		r.addFile(it, text)
	}
	return true
}

// manifestRowOf returns the row of a file in the manifest of the last dump. If ok is true and the file has the hash in
// the row, the caller need not parse the file, because the row also contains the name of the file's entry. ok is false
// in these cases:
//   - Unchanged files are not skipped, or the file is a topic.
//   - The manifest does not contain the file.
//   - Another file that was already read has an entry with this name.
//   - Somebody may have edited the manifest, and the name in the row is not the only possible name.
func (r *treeReader) manifestRowOf(filePath string, kind *entryKindDir) (row int, ok bool) {
	base := r.tree.lastDumpManifest
	if r.tree.isUnchangedByRow == nil || kind.isTopic {
		return 0, false
	}
	row, ok = base.rowAt(filePath)
	if !ok {
		return 0, false
	}
	name := base.nameOfRow(row)
	if _, isOwned := r.fileByEntryName[name]; isOwned {
		return 0, false
	}
	if r.tree.isManifestUnedited {
		return row, true
	}
	// Somebody may have edited the manifest. Use the entry's name in it only if the file's path represents the same
	// name.
	_, isUnique, _ := base.findName(name)
	return row, isUnique && decodeFileStem(fileStem(filePath)) == name
}

// isUnchangedSinceDump reports whether the file e is unchanged since the last dump, without reading the file. The file
// is unchanged if its size, inode and times are equal to the values in the list of known files. In this case,
// isUnchangedSinceDump also marks the file as unchanged.
func (r *treeReader) isUnchangedSinceDump(t *dumpTree, e *dirEntry) bool {
	isStaged := e.DirEntry == nil
	if r.fileStampByRow == nil || isStaged {
		return false
	}
	row, ok := r.manifestRowOf(e.path, e.kindDir)
	if !ok || r.fileStampByRow[row] == 0 {
		return false
	}
	if r.fileStampByRow[row] != t.hashEntryStamp(e) {
		return false
	}
	r.tree.isUnchangedByRow[row] = true
	r.unchangedFileCount++
	return true
}

// entryState describes an entry's file.
type entryState struct{ isUnedited, hasGitConflictMarkers bool }

func (t *Tree) addEntry(e oxbow.Entry, file string, s entryState) {
	t.Entries = append(t.Entries, e)
	t.EntryPaths = append(t.EntryPaths, file)
	t.isUneditedEntry = append(t.isUneditedEntry, s.isUnedited)
	t.hasConflictMarkersByEntry = append(t.hasConflictMarkersByEntry, s.hasGitConflictMarkers)
}

// unchangedManifestRow returns the manifest's row with this entry name, if the entry's file is unchanged since the
// last dump.
func (t *Tree) unchangedManifestRow(name string) (row int, ok bool) {
	if t.isUnchangedByRow == nil {
		return 0, false
	}
	row, isUnique, found := t.lastDumpManifest.findName(name)
	return row, found && isUnique && t.isUnchangedByRow[row]
}

// addFile parses the text of a file and adds the entry to the tree. If the file is invalid, or if another file has an
// entry of the same name, it adds a problem instead.
func (r *treeReader) addFile(it *entryDirFile, text string) {
	p := it.path
	if as := r.findLastDumpPathSpelling(p); as != "" {
		p = as
	}
	e, f, err := r.tree.parseFile(it.kind, p, text)
	if err != nil {
		r.problems.AddProblem(it.path, err)
		return
	}
	first, isOwned := r.fileByEntryName[e.Name]
	if row, isUnchanged := r.tree.unchangedManifestRow(e.Name); !isOwned && isUnchanged {
		first, isOwned = r.tree.lastDumpManifest.pathOfRow(row), true
	}
	if isOwned {
		r.problems.AddProblem(it.path, fmt.Errorf("%w: %s has the name %q too", oxbow.ErrExists, first, e.Name))
		return
	}
	r.fileByEntryName[e.Name] = it.path
	for _, w := range f.warnings {
		r.tree.addWarning(it.path, errors.New(w))
	}
	if f.hasIgnoredText {
		r.tree.PartlyReadFiles++
	}
	isDecoded := strings.Contains(p, "%") && !f.hasName && e.Name != fileStem(p)
	if r.tree.lastDumpManifest == nil && isDecoded {
		r.tree.addWarning(it.path, fmt.Errorf("its name is read as %q", e.Name))
	}
	last, _ := r.tree.lastDumpManifest.findItem(e.Name)
	r.tree.addEntry(e, it.path, entryState{
		isUnedited:            last.matchesFileText(it.kind.dir, text, &e, f.hasName),
		hasGitConflictMarkers: HasConflictMarkers(text),
	})
}

// parseFile parses the text of a file with path filePath.
func (t *Tree) parseFile(kind *entryKindDir, filePath, text string) (oxbow.Entry, parsedFile, error) {
	if t.lastDumpManifest != nil {
		text = convertCRLFToLF(text)
	}
	return parseEntryFile(kind, filePath, text)
}

// readUnchangedEntry reads the entry's file and adds the entry to t.Entries. The parameter row is the entry's row in
// the list of files that the last dump wrote. The tree was loaded without reading this file, because the file seemed to
// be unchanged since the last dump. If the file was edited in the meantime, the added entry has the new text. If the
// edit has changed the entry's name, readUnchangedEntry returns an error that matches oxbow.ErrBusy.
func (t *Tree) readUnchangedEntry(row int) error {
	last, kind := t.lastDumpManifest.itemOfRow(row), t.lastDumpManifest.kindDirOfRow(row)
	text, err := t.files.readText(last.Path, maxEntryFileBytes)
	if err != nil {
		return err
	}
	e, parsed, err := t.parseFile(kind, last.Path, text)
	if err == nil && e.Name != last.Name {
		err = fmt.Errorf("%w: its name was changed to %q meanwhile", oxbow.ErrBusy, e.Name)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", t.files.fullPath(last.Path), err)
	}
	t.addEntry(e, last.Path, entryState{
		isUnedited:            last.matchesFileText(kind.dir, text, &e, parsed.hasName),
		hasGitConflictMarkers: HasConflictMarkers(text),
	})
	return nil
}

// findLastDumpPathSpelling returns the spelling that the last dump used for the path filePath. It is needed because
// some file systems (HFS+) and archives change names to another Unicode normal form, but the names of entries must not
// change. It returns "" if filePath is ASCII, or if the last dump had no such path.
func (r *treeReader) findLastDumpPathSpelling(filePath string) string {
	if isASCII(filePath) {
		return "" // An ASCII path has only one spelling in Unicode, so the dump cannot have spelled it differently.
	}
	if r.lastDumpPathSpellings == nil {
		r.lastDumpPathSpellings = r.tree.lastDumpManifest.dumpedPathSpellings()
	}
	return r.lastDumpPathSpellings[normalizeNFC(filePath)]
}

// dumpedPathSpellings returns the spelling of each path in the manifest that contains other characters than ASCII. The
// keys of the map are the paths in Unicode normal form C. The values are the paths as the dump wrote them. A value is
// "" if two paths have the same normal form.
func (m *manifest) dumpedPathSpellings() map[string]string {
	as := make(map[string]string)
	if m == nil {
		return as
	}
	for row := range m.fileRows {
		if isASCII(m.fileRows[row].fileStem) {
			continue
		}
		p := m.pathOfRow(row)
		// If two paths of the dump differ only in their Unicode normal form, record no spelling for them. Each file
		// then keeps its present spelling.
		if _, twice := as[normalizeNFC(p)]; twice {
			as[normalizeNFC(p)] = ""
		} else {
			as[normalizeNFC(p)] = p
		}
	}
	return as
}

func normalizeNFC(s string) string { return norm.NFC.String(s) }

func fileStem(p string) string { return strings.TrimSuffix(path.Base(p), ".md") }

// parseEntryFile parses the text of an entry's file with path filePath. The file need not exist.
func parseEntryFile(s *entryKindDir, filePath, text string) (oxbow.Entry, parsedFile, error) {
	if !utf8.ValidString(filePath) {
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
	labels := withoutLocalLabels(f.labels)
	if len(labels) < len(f.labels) {
		f.hasIgnoredText = true
		f.warnings = append(f.warnings, fmt.Sprintf(
			"its labels %q are not read, because only the memory sets them",
			slices.DeleteFunc(slices.Clone(f.labels), func(l oxbow.Label) bool { return !l.IsLocal() })))
	}
	e := oxbow.Entry{Name: f.name, Kind: s.kind, Content: f.content,
		Aliases: f.aliases, Labels: labels, Created: f.created}
	if !f.hasName {
		e.Name = decodeFileStem(fileStem(filePath))
	}
	if s.isTopic {
		e.Labels = oxbow.SortLabels(append(slices.Clone(e.Labels), topicLabel))
	}
	return e, f, nil
}

// findMissingEntries adds a MissingFile to t.MissingFiles for each entry of the last dump that no longer has a file in
// the tree. The manifest m lists the entries of the last dump. If m is nil, findMissingEntries does nothing.
func (t *Tree) findMissingEntries(m *manifest, fileByEntryName map[string]string) {
	if m == nil {
		return
	}
	for row := range m.fileRows {
		if t.isUnchangedByRow != nil && t.isUnchangedByRow[row] {
			continue
		}
		name := m.nameOfRow(row)
		if _, hasFile := fileByEntryName[name]; !hasFile {
			t.MissingFiles = append(t.MissingFiles, MissingFile{name, m.pathOfRow(row)})
		}
	}
}

// warnAboutIgnoredTopNames adds warnings for names in the top directory that the user may have intended for entries.
func (t *Tree) warnAboutIgnoredTopNames(r *dumpTree) {
	items, err := r.fs.ReadDir(r.dir)
	if err != nil {
		return
	}
	for _, it := range items {
		name := it.Name()
		for _, s := range entryKindDirs {
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

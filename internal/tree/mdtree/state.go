// This file implements the state of a store: the files that were read and their entries.

package mdtree

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// treeFile is the state of a file in the tree when the file was last read.
type treeFile struct {
	path string
	info fs.FileInfo // metadata of the file before it was read
	// the file had been changed so recently that a further change may have resulted in the same time
	isRecentlyChanged bool
	lastValidText     string // the last text of the file that was valid
	items             []Item
	itemIndexByName   map[string]int // for each entry name, its index in items (nil until needed)
	// No text of the file was ever valid. In this case, lastValidText and items contain the parts of the invalid text
	// that can be read.
	wasNeverValid bool

	// unusableDiskTextReason is the reason why the store uses lastValidText and not the text on disk. It is "" if the
	// store uses the text on disk.
	unusableDiskTextReason string
	// if lastValidText is used instead of the text on disk: the text on disk ("" if it is empty or could not be read)
	unusableDiskText string

	ignoredEntriesText string // description of entries in the file that are ignored because no store accepts them
}

// treeState contains the files and entries of a tree. Changes require that the store's mu is locked.
type treeState struct {
	files       map[string]*treeFile
	paths       []string               // paths of files, sorted
	filesByName map[string][]*treeFile // for each name, the files that contain it, sorted by path
	// for each name, the entry that the store returns, even if several files contain an entry with this name
	entriesByName map[string]*namedEntry
	entriesByID   []*oxbow.Entry // sorted by ID
	nextID        uint64

	namesInSeveralFiles map[string]bool              // names for which several files contain an entry
	isPreferredFile     func(path, text string) bool // see Options.NewFilePriorityTest (may be nil)
}

// namedEntry is the entry with a certain name, and its position.
type namedEntry struct {
	entry     *oxbow.Entry
	file      *treeFile
	itemIndex int // index in file.items
}

func newState() *treeState {
	return &treeState{
		files:               map[string]*treeFile{},
		filesByName:         map[string][]*treeFile{},
		entriesByName:       map[string]*namedEntry{},
		nextID:              1,
		namesInSeveralFiles: map[string]bool{},
	}
}

// addAllFiles adds all files of a tree to an empty state, and returns a delta for each entry. The list paths contains
// the paths of the files, sorted. The result is the same as with setFile and updateEntries, but addAllFiles takes a
// third of the time.
func (st *treeState) addAllFiles(paths []string, files map[string]*treeFile) []oxbow.Delta {
	n := 0
	for _, f := range files {
		if f != nil {
			n += len(f.items)
		}
	}
	st.files = make(map[string]*treeFile, len(paths))
	st.paths = make([]string, 0, len(paths))
	st.filesByName = make(map[string][]*treeFile, n)
	st.entriesByName = make(map[string]*namedEntry, n)
	st.entriesByID = make([]*oxbow.Entry, 0, n)
	claims := make([]*treeFile, 0, n)
	currents := make([]namedEntry, 0, n)
	entries := make([]oxbow.Entry, 0, n)
	for _, p := range paths {
		f := files[p]
		if f == nil {
			continue
		}
		st.files[p] = f
		st.paths = append(st.paths, p)
		for i, it := range f.items {
			name := it.Entry.Name
			if c := st.filesByName[name]; c != nil {
				if c[len(c)-1] != f {
					st.filesByName[name] = append(c, f)
					st.namesInSeveralFiles[name] = true
				}
				continue
			}
			claims = append(claims, f)
			st.filesByName[name] = claims[len(claims)-1 : len(claims) : len(claims)]
			entries = append(entries, it.Entry)
			e := &entries[len(entries)-1]
			e.ID = st.nextID
			st.nextID++
			currents = append(currents, namedEntry{e, f, i})
			st.entriesByName[name] = &currents[len(currents)-1]
			st.entriesByID = append(st.entriesByID, e)
		}
	}
	st.updateEntries(st.namesWithNewPreferredFile(), nil)
	deltas := make([]oxbow.Delta, 0, len(st.entriesByID))
	for _, e := range st.entriesByID {
		deltas = append(deltas, oxbow.Delta{ID: e.ID, Entry: e})
	}
	return deltas
}

// itemIndex returns the index of the first item with that name, or -1.
func (f *treeFile) itemIndex(name string) int {
	if len(f.items) < 16 {
		return slices.IndexFunc(f.items, func(it Item) bool { return it.Entry.Name == name })
	}
	if f.itemIndexByName == nil {
		f.itemIndexByName = make(map[string]int, len(f.items))
		for i := len(f.items) - 1; i >= 0; i-- {
			f.itemIndexByName[f.items[i].Entry.Name] = i
		}
	}
	if i, ok := f.itemIndexByName[name]; ok {
		return i
	}
	return -1
}

// setFile replaces the state of the file at path by f. If f is nil, the file was removed. It adds the names of all
// entries in the old and the new file to affectedNames.
func (st *treeState) setFile(path string, f *treeFile, affectedNames map[string]bool) {
	if old := st.files[path]; old != nil {
		for _, it := range old.items {
			name := it.Entry.Name
			affectedNames[name] = true
			st.filesByName[name] = slices.DeleteFunc(st.filesByName[name], func(g *treeFile) bool { return g == old })
			if len(st.filesByName[name]) == 0 {
				delete(st.filesByName, name)
			}
		}
	}
	i, found := slices.BinarySearch(st.paths, path)
	if f == nil {
		delete(st.files, path)
		if found {
			st.paths = slices.Delete(st.paths, i, i+1)
		}
		return
	}
	if !found {
		st.paths = slices.Insert(st.paths, i, path)
	}
	st.files[path] = f
	for _, it := range f.items {
		name := it.Entry.Name
		affectedNames[name] = true
		if c := st.filesByName[name]; !slices.Contains(c, f) {
			j, _ := slices.BinarySearchFunc(c, f, func(a, b *treeFile) int { return strings.Compare(a.path, b.path) })
			st.filesByName[name] = slices.Insert(c, j, f)
		}
	}
}

// fileUsedForName returns the file whose entry the store uses for a name. If several files contain the name, this is
// the first file for which isPreferredFile returns true, or else the first file in the order of the paths. At least one
// file must contain the name.
func (st *treeState) fileUsedForName(name string) *treeFile {
	c := st.filesByName[name]
	if st.isPreferredFile != nil && len(c) > 1 {
		if i := slices.IndexFunc(c, func(f *treeFile) bool {
			return st.isPreferredFile(f.path,
				f.lastValidText)
		}); i > 0 {
			return c[i]
		}
	}
	return c[0]
}

// namesWithNewPreferredFile returns a set of entry names that occur in several files. For each of these names,
// isPreferredFile now chooses another file than before, so that the store must return the entry in that other file.
func (st *treeState) namesWithNewPreferredFile() map[string]bool {
	touched := map[string]bool{}
	if st.isPreferredFile == nil {
		return touched
	}
	for name := range st.namesInSeveralFiles {
		if c := st.entriesByName[name]; c != nil && st.fileUsedForName(name) != c.file {
			touched[name] = true
		}
	}
	return touched
}

// updateEntries updates the state's entries with the names in touchedNames, whose files have changed. It returns the
// changes of the entries. If a name is in newIDs, its entry gets a new ID, even if the state already has an entry with
// this name.
func (st *treeState) updateEntries(touchedNames, newIDs map[string]bool) []oxbow.Delta {
	type arrival struct {
		c    *namedEntry
		name string
	}
	var deltas []oxbow.Delta
	var added []arrival
	for name := range touchedNames {
		delete(st.namesInSeveralFiles, name)
		if len(st.filesByName[name]) > 1 {
			st.namesInSeveralFiles[name] = true
		}
		old := st.entriesByName[name]
		isGone := len(st.filesByName[name]) == 0 || newIDs[name]
		if old != nil && isGone {
			delete(st.entriesByName, name)
			st.removeEntry(old.entry.ID)
			deltas = append(deltas, oxbow.Delta{ID: old.entry.ID})
			old = nil
		}
		if len(st.filesByName[name]) == 0 {
			continue
		}
		f := st.fileUsedForName(name)
		c := &namedEntry{file: f, itemIndex: f.itemIndex(name)}
		e := f.items[c.itemIndex].Entry // copy, so that the parsed entry is not changed
		c.entry = &e
		if old == nil {
			added = append(added, arrival{c, name})
			continue
		}
		e.ID = old.entry.ID
		if f.items[c.itemIndex].hasNoCreationTime && old.entry.Created.Before(e.Created) {
			e.Created = old.entry.Created
		}
		hasTimes := e.Updated.Equal(old.entry.Updated) && e.Created.Equal(old.entry.Created)
		isSame := f.path == old.file.path && e.Version == old.entry.Version
		if isSame && hasTimes {
			// Only the position of the entry has changed, not the entry itself. Keep the old value, which callers may
			// already have, and report no change.
			old.file, old.itemIndex = c.file, c.itemIndex
			continue
		}
		st.entriesByName[name] = c
		j, _ := st.indexOfEntryID(e.ID)
		st.entriesByID[j] = c.entry
		deltas = append(deltas, oxbow.Delta{ID: e.ID, Entry: c.entry})
	}
	slices.SortFunc(added, func(a, b arrival) int {
		return cmp.Or(strings.Compare(a.c.file.path, b.c.file.path), cmp.Compare(a.c.itemIndex, b.c.itemIndex))
	})
	slices.SortFunc(deltas, func(a, b oxbow.Delta) int { return cmp.Compare(a.ID, b.ID) })
	for _, a := range added {
		a.c.entry.ID = st.nextID
		st.nextID++
		st.entriesByName[a.name] = a.c
		st.entriesByID = append(st.entriesByID, a.c.entry)
		deltas = append(deltas, oxbow.Delta{ID: a.c.entry.ID, Entry: a.c.entry})
	}
	return deltas
}

func (st *treeState) indexOfEntryID(id uint64) (int, bool) {
	return slices.BinarySearchFunc(
		st.entriesByID,
		id,
		func(e *oxbow.Entry, id uint64) int { return cmp.Compare(e.ID, id) },
	)
}

func (st *treeState) removeEntry(id uint64) {
	if i, found := st.indexOfEntryID(id); found {
		st.entriesByID = slices.Delete(st.entriesByID, i, i+1)
	}
}

// setItemMetadata sets the versions and sources of parsed entries, and sets times that are missing. The version is
// computed from the entry. The source is the file. A missing time of the last update is set to fileTime, and a missing
// creation time is set to the time of the last update. setItemMetadata also sets the IDs to 0 and sorts the labels.
// Entries whose name or content no store accepts are left out and reported in diagnostics.
func setItemMetadata(items []Item, fileTime time.Time) (validItems []Item, diagnostics []string) {
	validItems = items[:0]
	for _, it := range items {
		e := &it.Entry
		err := oxbow.CheckName(e.Name)
		if err == nil {
			err = oxbow.CheckContent(e.Content)
		}
		if err != nil {
			diagnostics = append(diagnostics, fmt.Sprintf("the entry at byte %d is left out: %v", it.StartOffset, err))
			continue
		}
		e.ID = 0
		e.Labels = oxbow.SortLabels(e.Labels)
		e.Version = entryVersion(e)
		if e.Updated.IsZero() {
			e.Updated = fileTime.UTC()
		}
		if e.Created.IsZero() {
			e.Created, it.hasNoCreationTime = e.Updated, true
		}
		e.Source = oxbow.Source{Time: e.Updated, Door: "files"}
		validItems = append(validItems, it)
	}
	return validItems, diagnostics
}

// entryVersion returns an entry's version. This is 53 bits of the 64-bit FNV-1a hash
// (draft-eastlake-fnv) over the entry's fields, and never 0. A JSON number can represent 53 bits
// exactly. The hash distinguishes successive versions, but is not cryptographic.
func entryVersion(e *oxbow.Entry) uint64 {
	h := uint64(14695981039346656037)
	put := func(s string) {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
		// Separate the fields by a byte that does not occur in UTF-8.
		h = (h ^ 0xff) * 1099511628211
	}
	put(e.Name)
	put(e.Kind.String())
	for _, a := range e.Aliases {
		put(a)
	}
	put("")
	for _, l := range e.Labels {
		put(l.Key)
		put(l.Value)
	}
	put("")
	put(e.Content)
	return max(1, (h^h>>53)&(1<<53-1))
}

// This file implements the state of the tree for which a change is planned. This state consists of the files on disk
// and the edits that were already planned in the same change.

package mdtree

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// treeWithPlannedEdits is the tree including edits that are planned. The state of the store does not change in the
// meantime, because the writer has locked scanner.mu.
type treeWithPlannedEdits struct {
	store             *Store
	plannedFileByPath map[string]*plannedFile
	editedFilesByName map[string][]string // for each name, the edited files that contain it
}

// plannedFile is a file that a change edits, or a document that it reads.
type plannedFile struct {
	// text for which the change was planned: the text on disk or, if the file is damaged, the last good text
	baseText       string
	exists         bool // the file exists
	newText        string
	isRemoved      bool
	isChanged      bool
	mayHoldEntries bool // the layout may store entries in the file
	items          []Item
}

func newTreeWithPlannedEdits(s *Store) *treeWithPlannedEdits {
	return &treeWithPlannedEdits{
		store:             s,
		plannedFileByPath: map[string]*plannedFile{},
		editedFilesByName: map[string][]string{},
	}
}

// Find implements [TreeView].
func (v *treeWithPlannedEdits) Find(name string) (FileItem, bool) {
	// Several files may contain an entry with the name. The first candidate is the file that the store has chosen for
	// the name. If the planned change edits the chosen file, the first candidate is the first file with the name that
	// the change does not edit. The other candidates are the edited files that contain the name. Use the candidate
	// whose path is first in alphabetical order.
	edited := func(f *treeFile) bool { e := v.plannedFileByPath[f.path]; return e != nil && e.isChanged }
	best := ""
	if c := v.store.state.entriesByName[name]; c != nil && !edited(c.file) {
		best = c.file.path
	} else if i := slices.IndexFunc(v.store.state.filesByName[name],
		func(f *treeFile) bool { return !edited(f) }); i >= 0 {
		best = v.store.state.filesByName[name][i].path
	}
	for _, p := range v.editedFilesByName[name] {
		if best == "" || p < best {
			best = p
		}
	}
	if best == "" {
		return FileItem{}, false
	}
	for _, it := range v.Items(best) {
		if it.Entry.Name == name {
			if c := v.store.state.entriesByName[name]; c != nil {
				it.Entry.ID = c.entry.ID
			}
			return FileItem{best, it}, true
		}
	}
	return FileItem{}, false
}

// nameOwner returns the name of an entry that has nameOrAlias as its name or alias. It ignores the entry with the name
// exceptName. ok is false if there is no such entry.
func (v *treeWithPlannedEdits) nameOwner(nameOrAlias, exceptName string) (name string, ok bool) {
	for p := range v.Files() {
		for _, it := range v.Items(p) {
			e := &it.Entry
			hasWord := e.Name == nameOrAlias || slices.Contains(e.Aliases, nameOrAlias)
			if hasWord && e.Name != exceptName {
				return e.Name, true
			}
		}
	}
	return "", false
}

// FileText implements [TreeView].
func (v *treeWithPlannedEdits) FileText(p string) (string, bool) {
	if e := v.plannedFileByPath[p]; e != nil {
		return e.newText, (e.exists && !e.isChanged) || (e.isChanged && !e.isRemoved)
	}
	if f := v.store.state.files[p]; f != nil {
		return f.lastValidText, !f.wasNeverValid
	}
	if v.store.mayHoldEntries(p) {
		return "", false
	}
	e, err := v.readNonEntryDocument(p)
	if err != nil {
		return "", false
	}
	return e.newText, e.exists
}

// readNonEntryDocument reads the file p, which contains no entries, because the layout's Match returns false for its
// path. It adds the file to v.plannedFileByPath and returns it. If the file does not exist, the result's field exists
// is false.
func (v *treeWithPlannedEdits) readNonEntryDocument(p string) (*plannedFile, error) {
	text, _, err := v.store.readText(p, maxEntryFileBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading %s: %w", p, err)
	}
	e := &plannedFile{baseText: text, newText: text, exists: err == nil}
	v.plannedFileByPath[p] = e
	return e, nil
}

// Items implements [TreeView].
func (v *treeWithPlannedEdits) Items(p string) []Item {
	if e := v.plannedFileByPath[p]; e != nil && e.isChanged {
		return e.items
	}
	if f := v.store.state.files[p]; f != nil {
		return f.items
	}
	return nil
}

// Files implements [TreeView].
func (v *treeWithPlannedEdits) Files() iter.Seq[string] {
	there := map[string]bool{}
	for p := range v.store.state.files {
		there[p] = true
	}
	for p, e := range v.plannedFileByPath {
		if e.isChanged && e.mayHoldEntries {
			there[p] = !e.isRemoved
		}
	}
	maps.DeleteFunc(there, func(_ string, is bool) bool { return !is })
	return slices.Values(slices.Sorted(maps.Keys(there)))
}

// IsPathTaken implements [TreeView].
func (v *treeWithPlannedEdits) IsPathTaken(p string) bool {
	if e := v.plannedFileByPath[p]; e != nil && e.isChanged {
		return !e.isRemoved
	}
	_, err := v.store.fs.Stat(p)
	return !errors.Is(err, fs.ErrNotExist)
}

// addPlannedEdits adds the edits to v. The map versionsBefore contains the versions of the entries in the edited files
// before the edits, and the map versionsAfter contains the versions after the edits. The keys of both maps are the
// names of the entries. The versions of a name are in the order of the edits, and within a file in the order of its
// entries. addPlannedEdits returns an error if a path must not be written or occurs twice.
func (v *treeWithPlannedEdits) addPlannedEdits(
	edits []Edit,
) (versionsBefore, versionsAfter map[string][]uint64, err error) {
	versionsBefore, versionsAfter = map[string][]uint64{}, map[string][]uint64{}
	for i, ed := range edits {
		isFile := fs.ValidPath(ed.Path) && ed.Path != "."
		isSpecial := !isFile || IsConflictCopy(ed.Path)
		if isSpecial || v.store.isHiddenPath(ed.Path) {
			return nil, nil, &oxbow.InvalidError{
				Field:  "file",
				Value:  ed.Path,
				Reason: "is not one that a change may write",
			}
		}
		if slices.ContainsFunc(edits[:i], func(o Edit) bool { return o.Path == ed.Path }) {
			return nil, nil, fmt.Errorf("mdtree: a plan edits %s twice", ed.Path)
		}
		e, err := v.pendingFile(ed.Path)
		if err != nil {
			return nil, nil, err
		}
		for _, it := range v.Items(ed.Path) {
			name := it.Entry.Name
			versionsBefore[name] = append(versionsBefore[name], it.Entry.Version)
			v.editedFilesByName[name] = slices.DeleteFunc(
				v.editedFilesByName[name],
				func(p string) bool { return p == ed.Path },
			)
		}
		if err := v.applyEdit(e, ed); err != nil {
			return nil, nil, err
		}
		for _, it := range e.items {
			name := it.Entry.Name
			versionsAfter[name] = append(versionsAfter[name], it.Entry.Version)
			if !slices.Contains(v.editedFilesByName[name], ed.Path) {
				v.editedFilesByName[name] = append(v.editedFilesByName[name], ed.Path)
			}
		}
	}
	return versionsBefore, versionsAfter, nil
}

// pendingFile returns the state that a file has after the edits planned so far in this change.
func (v *treeWithPlannedEdits) pendingFile(p string) (*plannedFile, error) {
	if e := v.plannedFileByPath[p]; e != nil {
		return e, nil
	}
	if !v.store.mayHoldEntries(p) {
		return v.readNonEntryDocument(p)
	}
	e := &plannedFile{}
	if f := v.store.state.files[p]; f != nil {
		e.baseText, e.exists = f.lastValidText, true
	}
	v.plannedFileByPath[p] = e
	return e, nil
}

// applyEdit applies the edit ed to the pending file e. If ed.IsRemoval is set, it marks the file as removed. Otherwise
// ed.Text becomes the new text of the file, and an empty text becomes a line break. If the layout may store entries in
// the file, applyEdit also parses the entries in the new text. It returns an [oxbow.InvalidError] if the new text
// contains characters that are not allowed, is longer than maxEntryFileBytes, or cannot be parsed.
func (v *treeWithPlannedEdits) applyEdit(e *plannedFile, ed Edit) error {
	e.newText = ed.Text
	e.isRemoved = ed.IsRemoval
	e.isChanged = true
	e.mayHoldEntries = v.store.mayHoldEntries(ed.Path)
	e.items = nil
	if e.isRemoved {
		e.newText = ""
		return nil
	}
	if e.newText == "" {
		e.newText = "\n"
	}
	if why := InvalidTextReason(e.newText); why != "" {
		return &oxbow.InvalidError{Field: "file", Value: ed.Path, Reason: why}
	}
	if len(e.newText) > maxEntryFileBytes {
		return &oxbow.InvalidError{
			Field:  "file",
			Value:  ed.Path,
			Reason: fmt.Sprintf("would have %d bytes; the most is %d", len(e.newText), maxEntryFileBytes),
		}
	}
	if !e.mayHoldEntries {
		return nil
	}
	items, err := v.store.layout.Parse(ed.Path, e.newText)
	if err != nil {
		return &oxbow.InvalidError{Field: "entry", Reason: "cannot be held by this layout: " + ed.Path +
			" could not be read back: " + err.Error()}
	}
	var diagnostics []string
	e.items, diagnostics = setItemMetadata(items, v.store.options.Clock())
	if len(diagnostics) > 0 {
		return &oxbow.InvalidError{Field: "entry", Reason: "cannot be held by this layout: " + diagnostics[0]}
	}
	return nil
}

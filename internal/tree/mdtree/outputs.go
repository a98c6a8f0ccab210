// This file implements the table with the entries that a dump writes, and with their files.

package mdtree

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// outputTable is the table of a dump's entries.
type outputTable struct {
	outputFiles []outputFile // sorted by kind and name
	nameBlocks  nameBlockAllocator
	// File names, without .md, for entries whose names cannot be recovered from the file name. The key is the index in
	// outputFiles.
	lossyFileStemByRow map[int32]string

	rowsByPath []int32      // indexes in outputFiles, sorted by the paths of the files
	rowByPath  rowsByString // finds the index in outputFiles by the path of the file
}

// outputFile is an entry and its file. It does not contain the text, so that a dump does not need memory for all
// texts.
type outputFile struct {
	name       string
	fileDigest sha256Digest // hash of the text that the entry's file will have after the dump
	stamp      fileStampHash

	// tempStoreTextNumber is the number under which the spool, a temporary buffer, contains the text. If the last dump
	// probably wrote the same text to the file, the field is noTempTextNumber. The spool then does not contain the
	// text, because it can be read from the store again.
	tempStoreTextNumber int32

	kind oxbow.Kind
	// the text of the file contains the entry's name, because the name cannot be recovered from the file name
	includesName bool
	state        outputFileState
}

// noTempTextNumber is the text number of an entry whose text is not in the temporary store, where a dump keeps the
// texts of entries until it writes their files.
const noTempTextNumber = -1

// outputFileState contains the facts that a dump knows about the present file of an entry, before the dump writes
// files.
type outputFileState uint8

const (
	outputFileMissing outputFileState = iota // the directory does not contain a file for the entry
	outputFileToRead                         // the file must be read
	// an earlier dump recorded the file's hash, which is the wanted hash, and the file is unchanged since
	outputFileUnchanged
	// The file was read and already has the wanted text. Later dumps need not read the file again while it stays
	// unchanged.
	outputFileReadAndStable
	// the file was read and already has the text that the dump would write, but later dumps must read the file again
	outputFileReadNotStable
	outputFileToWrite // the file is missing or has another text, so the dump writes the file
)

func (o *outputTable) fileStemOfRow(row int32) string {
	if o.outputFiles[row].includesName {
		return o.lossyFileStemByRow[row]
	}
	stem, _ := encodeNameAsFileStem(o.outputFiles[row].name)
	return stem
}

func (o *outputTable) dirOfRow(row int32) string { return kindDirectory(o.outputFiles[row].kind) }

func (o *outputTable) pathOfRow(row int32) string {
	return entryPath(o.dirOfRow(row), o.fileStemOfRow(row))
}

// findPath returns the row of the entry whose file has the path p. ok is false if the dump writes no entry to this
// path.
func (o *outputTable) findPath(p string) (row int32, ok bool) {
	i, ok := o.rowByPath.findRow(p, func(row int) bool { return o.isPathOfRow(int32(row), p) })
	return int32(i), ok
}

func (o *outputTable) isPathOfRow(row int32, filePath string) bool {
	dir, stem := splitEntryPath(filePath)
	return o.fileStemOfRow(row) == stem && o.dirOfRow(row) == dir
}

// rowRangeOfKind returns the rows of the table that contain entries of the kind k. The first of these rows has the
// index from, and the last row has the index to-1.
func (o *outputTable) rowRangeOfKind(k oxbow.Kind) (from, to int) {
	compare := func(out outputFile, k oxbow.Kind) int { return cmp.Compare(out.kind, k) }
	from, _ = slices.BinarySearchFunc(o.outputFiles, k, compare)
	to, _ = slices.BinarySearchFunc(o.outputFiles, k+1, compare)
	return from, to
}

// sortEntriesAndAssignPaths sorts the entries of the dump by kind and name, and assigns a file path to each entry.
func (o *outputTable) sortEntriesAndAssignPaths() error {
	slices.SortFunc(o.outputFiles, func(a, b outputFile) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), strings.Compare(a.name, b.name))
	})
	o.lossyFileStemByRow = map[int32]string{}
	for from := 0; from < len(o.outputFiles); {
		kind := o.outputFiles[from].kind
		_, to := o.rowRangeOfKind(kind)
		if kindDirectory(kind) == "" {
			return &oxbow.NameError{
				Name: o.outputFiles[from].name,
				Err:  fmt.Errorf("entry of kind %v has no place in a tree", kind),
			}
		}
		for k, stem := range fileStemsLackingNames(to-from, func(k int) string { return o.outputFiles[from+k].name }) {
			o.outputFiles[from+k].includesName = true
			o.lossyFileStemByRow[int32(from+k)] = stem
		}
		from = to
	}
	o.sortPaths()
	return nil
}

// sortPaths sets o.rowsByPath, which lists the rows of outputFiles in the order of their file paths. It also sets
// o.rowByPath, which finds the row that has a given file path.
func (o *outputTable) sortPaths() {
	o.rowsByPath = make([]int32, len(o.outputFiles))
	o.rowByPath = newRowIndex(len(o.outputFiles))
	stems := make([]string, len(o.outputFiles))
	for i := range o.outputFiles {
		row := int32(i)
		o.rowsByPath[i] = row
		stems[i] = o.fileStemOfRow(row)
		p := entryPath(o.dirOfRow(row), stems[i])
		o.rowByPath.addRow(p, i, func(other int) bool { return o.isPathOfRow(int32(other), p) })
	}
	slices.SortFunc(o.rowsByPath, func(a, b int32) int {
		if o.outputFiles[a].kind != o.outputFiles[b].kind {
			return strings.Compare(o.dirOfRow(a), o.dirOfRow(b))
		}
		return compareFileStems(stems[a], stems[b])
	})
}

// manifestItems yields the items of the next manifest.
func (o *outputTable) manifestItems() iter.Seq[manifestItem] {
	return func(yield func(manifestItem) bool) {
		for _, row := range o.rowsByPath {
			if !yield(manifestItem{o.pathOfRow(row), o.outputFiles[row].name, o.outputFiles[row].fileDigest}) {
				return
			}
		}
	}
}

// summaryLinks yields the links of the table of contents for the entries in dir, the directory for one kind of entry.
// It yields nothing for a directory of topics (isTopic), because a dump does not write topics.
func (o *outputTable) summaryLinks(dir *entryKindDir) iter.Seq[summaryLink] {
	return func(yield func(summaryLink) bool) {
		if dir.isTopic {
			return
		}
		from, to := o.rowRangeOfKind(dir.kind)
		for row := from; row < to; row++ {
			if !yield(summaryLink{o.outputFiles[row].name, o.pathOfRow(int32(row))}) {
				return
			}
		}
	}
}

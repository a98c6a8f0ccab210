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
	nameTable   nameCopies
	// File names, without .md, of the rows whose file names do not represent the entry's name.
	unshownStemByRow map[int32]string

	rowsByPath []int32      // rows in the order of their paths
	rowByPath  rowsByString // rows by path
}

// outputFile is an entry and its file. It does not contain the text, so that a dump does not need memory for all
// texts.
type outputFile struct {
	name       string
	fileDigest sha256Digest // hash of the file
	stamp      stampHash

	// spoolNumber is the number of the text in the spool. It is noText if the last dump probably wrote the same
	// file. In this case, the text can be read from the store again.
	spoolNumber int32

	kind     oxbow.Kind
	withName bool // the file contains the name, because the file name does not represent it
	state    outputState
}

// notInSpool is the number of a text that the spool does not have.
const notInSpool = -1

// outputState describes the present file of an output.
type outputState uint8

const (
	fileMissing outputState = iota // the tree lacks the file
	fileUnread                     // the file must be read
	fileKnown                      // the list of known files shows that the file has the output's hash
	// the file was read, has the output's hash, and may enter the list of known files
	fileExamined
	// the file was read and has the output's hash, but may not enter the list of known files
	fileCompared
	fileWritten // the dump writes the file
)

func (o *outputTable) stemOfRow(row int32) string {
	if o.outputFiles[row].withName {
		return o.unshownStemByRow[row]
	}
	stem, _ := encodeName(o.outputFiles[row].name)
	return stem
}

func (o *outputTable) dirOfRow(row int32) string { return kindDirectory(o.outputFiles[row].kind) }

func (o *outputTable) pathOfRow(row int32) string {
	return entryPath(o.dirOfRow(row), o.stemOfRow(row))
}

// findPath returns the row with a path.
func (o *outputTable) findPath(p string) (row int32, ok bool) {
	i, ok := o.rowByPath.findRow(p, func(row int) bool { return o.isAt(int32(row), p) })
	return int32(i), ok
}

func (o *outputTable) isAt(row int32, p string) bool {
	dir, stem := splitEntryPath(p)
	return o.stemOfRow(row) == stem && o.dirOfRow(row) == dir
}

// ofKind returns the first row of a kind, and the row after the last.
func (o *outputTable) ofKind(k oxbow.Kind) (from, to int) {
	compare := func(out outputFile, k oxbow.Kind) int { return cmp.Compare(out.kind, k) }
	from, _ = slices.BinarySearchFunc(o.outputFiles, k, compare)
	to, _ = slices.BinarySearchFunc(o.outputFiles, k+1, compare)
	return from, to
}

// sortAndAssignPaths sorts the rows and assigns a path to each.
func (o *outputTable) sortAndAssignPaths() error {
	slices.SortFunc(o.outputFiles, func(a, b outputFile) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), strings.Compare(a.name, b.name))
	})
	o.unshownStemByRow = map[int32]string{}
	for from := 0; from < len(o.outputFiles); {
		kind := o.outputFiles[from].kind
		_, to := o.ofKind(kind)
		if kindDirectory(kind) == "" {
			return &oxbow.NameError{
				Name: o.outputFiles[from].name,
				Err:  fmt.Errorf("entry of kind %v has no place in a tree", kind),
			}
		}
		for k, stem := range stemsNotShowingNames(to-from, func(k int) string { return o.outputFiles[from+k].name }) {
			o.outputFiles[from+k].withName = true
			o.unshownStemByRow[int32(from+k)] = stem
		}
		from = to
	}
	o.sortPaths()
	return nil
}

// sortPaths fills the columns sorted and paths.
func (o *outputTable) sortPaths() {
	o.rowsByPath = make([]int32, len(o.outputFiles))
	o.rowByPath = newRowIndex(len(o.outputFiles))
	stems := make([]string, len(o.outputFiles))
	for i := range o.outputFiles {
		row := int32(i)
		o.rowsByPath[i] = row
		stems[i] = o.stemOfRow(row)
		p := entryPath(o.dirOfRow(row), stems[i])
		o.rowByPath.addRow(p, i, func(other int) bool { return o.isAt(int32(other), p) })
	}
	slices.SortFunc(o.rowsByPath, func(a, b int32) int {
		if o.outputFiles[a].kind != o.outputFiles[b].kind {
			return strings.Compare(o.dirOfRow(a), o.dirOfRow(b))
		}
		return compareStems(stems[a], stems[b])
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

// summaryLinks yields the links for a directory's entries in the table of contents.
func (o *outputTable) summaryLinks(dir *kindDir) iter.Seq[summaryLink] {
	return func(yield func(summaryLink) bool) {
		if dir.isTopic {
			return
		}
		from, to := o.ofKind(dir.kind)
		for row := from; row < to; row++ {
			if !yield(summaryLink{o.outputFiles[row].name, o.pathOfRow(int32(row))}) {
				return
			}
		}
	}
}

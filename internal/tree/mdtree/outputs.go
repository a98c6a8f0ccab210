// This file implements the table of the entries that a dump writes, and of their files.

package mdtree

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// outputs is the table of the entries of a dump.
type outputs struct {
	rows  []outputFile // sorted by kind and name
	names nameTable
	stems map[int32]string // file names, without .md, of the rows whose file names do not represent the entry's name

	sorted []int32  // rows in the order of their paths
	paths  rowIndex // rows by path
}

// outputFile is an entry and its file. It does not contain the text, so that a dump does not need memory for all
// texts.
type outputFile struct {
	name  string
	sum   digest // hash of the file
	stamp stampHash

	// text is the number of the text in the spool. It is noText if the last dump probably wrote the same file. In this
	// case, the text can be read from the store again.
	text int32

	kind     oxbow.Kind
	showName bool // the file contains the name, because the file name does not represent it
	state    fileState
}

// noText is the number of a text that the spool does not have.
const noText = -1

// fileState describes the present file of an output.
type fileState uint8

const (
	fileMissing fileState = iota // the tree has no such file
	fileUnread                   // the file must be read
	fileKnown                    // the list of known files shows that the file has the hash of the output
	// the file was read, has the hash of the output, and may enter the list of known files
	fileExamined
	// the file was read and has the hash of the output, but may not enter the list of known files
	fileCompared
	fileWritten // the dump writes the file
)

func (o *outputs) stem(row int32) string {
	if o.rows[row].showName {
		return o.stems[row]
	}
	stem, _ := encodeName(o.rows[row].name)
	return stem
}

func (o *outputs) dir(row int32) string { return kindDirectory(o.rows[row].kind) }

func (o *outputs) path(row int32) string { return entryPath(o.dir(row), o.stem(row)) }

// find returns the row with a path.
func (o *outputs) find(p string) (row int32, ok bool) {
	i, ok := o.paths.find(p, func(row int) bool { return o.isAt(int32(row), p) })
	return int32(i), ok
}

func (o *outputs) isAt(row int32, p string) bool {
	dir, stem := splitEntryPath(p)
	return o.stem(row) == stem && o.dir(row) == dir
}

// ofKind returns the first row of a kind, and the row after the last.
func (o *outputs) ofKind(k oxbow.Kind) (from, to int) {
	compare := func(out outputFile, k oxbow.Kind) int { return cmp.Compare(out.kind, k) }
	from, _ = slices.BinarySearchFunc(o.rows, k, compare)
	to, _ = slices.BinarySearchFunc(o.rows, k+1, compare)
	return from, to
}

// assignFiles sorts the rows and assigns a path to each.
func (o *outputs) assignFiles() error {
	slices.SortFunc(o.rows, func(a, b outputFile) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), strings.Compare(a.name, b.name))
	})
	o.stems = map[int32]string{}
	for from := 0; from < len(o.rows); {
		kind := o.rows[from].kind
		_, to := o.ofKind(kind)
		if kindDirectory(kind) == "" {
			return &oxbow.NameError{
				Name: o.rows[from].name,
				Err:  fmt.Errorf("entry of kind %v has no place in a tree", kind),
			}
		}
		for k, stem := range unshownStems(to-from, func(k int) string { return o.rows[from+k].name }) {
			o.rows[from+k].showName = true
			o.stems[int32(from+k)] = stem
		}
		from = to
	}
	o.sortPaths()
	return nil
}

// sortPaths fills the columns sorted and paths.
func (o *outputs) sortPaths() {
	o.sorted = make([]int32, len(o.rows))
	o.paths = newRowIndex(len(o.rows))
	stems := make([]string, len(o.rows))
	for i := range o.rows {
		row := int32(i)
		o.sorted[i] = row
		stems[i] = o.stem(row)
		p := entryPath(o.dir(row), stems[i])
		o.paths.add(p, i, func(other int) bool { return o.isAt(int32(other), p) })
	}
	slices.SortFunc(o.sorted, func(a, b int32) int {
		if o.rows[a].kind != o.rows[b].kind {
			return strings.Compare(o.dir(a), o.dir(b))
		}
		return compareStems(stems[a], stems[b])
	})
}

// manifestItems yields the items of the next manifest.
func (o *outputs) manifestItems() iter.Seq[manifestItem] {
	return func(yield func(manifestItem) bool) {
		for _, row := range o.sorted {
			if !yield(manifestItem{o.path(row), o.rows[row].name, o.rows[row].sum}) {
				return
			}
		}
	}
}

// links yields the links of a directory's entries in the table of contents.
func (o *outputs) links(dir *kindDir) iter.Seq[link] {
	return func(yield func(link) bool) {
		if dir.isTopic {
			return
		}
		from, to := o.ofKind(dir.kind)
		for row := from; row < to; row++ {
			if !yield(link{o.rows[row].name, o.path(int32(row))}) {
				return
			}
		}
	}
}

// This file reads the manifest of the last dump. A dump usually needs only a few rows of the manifest, so that the
// rows are read from the file when they are needed.

package mdtree

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// lastDump describes the last dump. If the manifest is missing or damaged, or belongs to a different store, it counts
// as empty. In this case, all files whose text the store does not contain count as edited.
type lastDump struct {
	manifestHead
	hasManifest      bool
	fileHashPrefixes []uint64  // the first 8 bytes of each file hash in the manifest of the last dump, sorted
	loadedManifest   *manifest // the whole manifest (nil until it is needed)
}

// readLastDump reads the manifest of the last dump. If the manifest is missing, is invalid, or belongs to the dump of
// another store, readLastDump returns an empty lastDump and no error.
func (t *dumpTree) readLastDump(origin StoreIdentity) (last lastDump, err error) {
	f, err := t.openManifest()
	if errors.Is(err, fs.ErrNotExist) {
		return last, nil
	}
	if err != nil {
		return last, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return last, err
	}
	sums := make([]uint64, 0, info.Size()/minManifestLineBytes)
	head, err := eachManifestItem(f, func(f manifestItem) {
		if f.Sum.isSet() {
			sums = append(sums, binary.BigEndian.Uint64(f.Sum[:]))
		}
	})
	switch {
	case errors.Is(err, oxbow.ErrInvalid), errors.Is(err, oxbow.ErrVersion):
		return last, nil
	case err != nil:
		return last, fmt.Errorf("reading %s: %w", t.fullPath(manifestFile), err)
	case origin.isManifestOfOtherStore(head.DumpedStoreName):
		return last, nil
	}
	slices.Sort(sums)
	return lastDump{manifestHead: head, hasManifest: true, fileHashPrefixes: sums}, nil
}

// mayHaveFileHash reports whether the last dump probably wrote a file with this hash. If it returns false, the last
// dump did not write such a file.
func (l *lastDump) mayHaveFileHash(fileHash sha256Digest) bool {
	_, found := slices.BinarySearch(l.fileHashPrefixes, binary.BigEndian.Uint64(fileHash[:]))
	return found
}

// itemsAt returns the items of the last dump that have a wanted path, by path.
func (l *lastDump) itemsAt(t *dumpTree, wantedPaths map[string]bool) (map[string]manifestItem, error) {
	if !l.hasManifest {
		return nil, nil
	}
	f, err := t.openManifest()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	items := map[string]manifestItem{}
	_, err = eachManifestItem(f, func(f manifestItem) {
		if wantedPaths[f.Path] {
			items[strings.Clone(f.Path)] = manifestItem{
				Path: strings.Clone(f.Path),
				Name: strings.Clone(f.Name),
				Sum:  f.Sum,
			}
		}
	})
	return items, err
}

// itemByName returns the item of the last dump with an entry's name. It returns an empty item if the last dump does not
// contain the name. If several items have the name, it returns an item that contains only the name. The first call
// reads the manifest of the last dump, and may return the error from reading it. Later calls use the loaded manifest
// (see [manifest.findItem]).
func (l *lastDump) itemByName(t *dumpTree, name string) (f manifestItem, err error) {
	if !l.hasManifest {
		return f, nil
	}
	if l.loadedManifest == nil {
		l.loadedManifest, err = t.readManifest()
		if err != nil {
			return f, err
		}
	}
	f, _ = l.loadedManifest.findItem(name)
	return f, nil
}

// readLastDumpSummaryLinks returns a function for the links that the last dump wrote into the table of contents. The
// function yields the links to the entries of the directory dir, sorted by the entry's name. The links are read from
// the manifest, which lists the files of the last dump. The store of the last dump may be another store than the store
// of the present dump. If the manifest is missing or damaged, the function yields nothing.
func (t *dumpTree) readLastDumpSummaryLinks() (func(dir *entryKindDir) iter.Seq[summaryLink], error) {
	m, err := t.readManifest()
	isMissing := errors.Is(err, fs.ErrNotExist)
	isDamaged := errors.Is(err, oxbow.ErrInvalid) || errors.Is(err, oxbow.ErrVersion)
	switch {
	case isMissing || isDamaged:
		m = &manifest{}
	case err != nil:
		return nil, err
	}
	rows := make([]int, len(m.fileRows))
	for i := range rows {
		rows[i] = i
	}
	slices.SortFunc(rows, func(a, b int) int { return strings.Compare(m.nameOfRow(a), m.nameOfRow(b)) })
	return func(dir *entryKindDir) iter.Seq[summaryLink] {
		return func(yield func(summaryLink) bool) {
			for _, row := range rows {
				if m.kindDirOfRow(row) == dir && !yield(summaryLink{m.nameOfRow(row), m.pathOfRow(row)}) {
					return
				}
			}
		}
	}, nil
}

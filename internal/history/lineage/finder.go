// This file finds the sources of entries in a memory's history. It uses a file of keys, so that only the needed
// versions are read.

package lineage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// The key file lists where word sequences occur in the changes up to a certain change. The file is written again if the
// content of the later changes exceeds a limit. The limit is maxUnindexedBytes bytes plus maxUnindexedBytesPerKey bytes
// for each key in the file.
const (
	maxUnindexedBytes       = 256 << 10
	maxUnindexedBytesPerKey = 1
)

// lineageFinder finds edges in a memory's history. An edge leads from an entry to its source.
type lineageFinder struct {
	history oxbow.Historian
	// gives access to the key file, see the field keys (nil if the memory cannot have one)
	lineageFile *oxbow.LineageFile
	wholeGraph  *historyGraph // the whole history, or nil if it was not read

	// The fields below are used if there is a key file. This file tells in which versions of entries each sequence of
	// six words occurs, so that the whole history need not be read.
	keys                *keyFile
	changesAfterKeyFile []oxbow.Change // changes that are newer than the key file, oldest first
	// versions that were read from the log, by their number in the key file
	versions map[uint32]oxbow.Version
	// For each version that was read, its position in the history. The keys are the versions' numbers in the key file.
	versionPositions map[uint32]versionPosition
}

// FindLineage returns the origins and the derivations of an entry as edges. Each edge connects a version of an entry
// with an entry or conversation turn from which the version was made (the source). The list sources contains the edges
// to the entry's sources, to the sources of these sources, and so on. The list derived contains the edges to the
// entries that were made from the entry, to those that were made from these entries, and so on.
//
// If the memory is a log, FindLineage may write a key file next to the log, which makes later calls faster. The results
// do not depend on this file.
func FindLineage(ctx context.Context, m *oxbow.Memory, name string) (sources, derived []Edge, err error) {
	h, err := m.History()
	if err != nil {
		return nil, nil, err
	}
	f := lineageFinder{history: h, lineageFile: m.LineageFile()}
	if f.lineageFile != nil {
		if err := f.openLineageFile(ctx); err != nil && ctx.Err() != nil {
			return nil, nil, err
		}
	}
	if f.keys != nil {
		defer f.keys.file.Close()
	}
	return followEdgesBothWays(name, func(names map[string]bool) ([]Edge, error) { return f.findEdges(ctx, names) })
}

// openLineageFile opens the file that lists where word sequences occur, and reads the changes that are newer than the
// file. It returns an error if the file is missing or cannot be used, or if too many changes are newer.
func (f *lineageFinder) openLineageFile(ctx context.Context) error {
	file, err := f.lineageFile.Open()
	if err != nil {
		return err
	}
	keys, err := openKeyFile(file)
	if err == nil {
		err = f.readChangesNewerThanKeyFile(ctx, &keys.head)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.keys = keys
	f.versions = map[uint32]oxbow.Version{}
	f.versionPositions = map[uint32]versionPosition{}
	return nil
}

// readChangesNewerThanKeyFile reads the memory's changes that are newer than the key file, which is an index of the
// history. The error matches errUnusableKeyFile if there is too much text in these changes. It also matches this error
// if the history does not contain the file's last change with the same number and hash, because the file then belongs
// to another history.
func (f *lineageFinder) readChangesNewerThanKeyFile(ctx context.Context, head *keyFileHead) error {
	left := maxUnindexedBytes + maxUnindexedBytesPerKey*head.keyCount
	f.changesAfterKeyFile = nil
	for c, err := range f.history.Log(ctx) {
		if err != nil {
			return err
		}
		if c.Seq <= head.lastSeq {
			hash, ok := decodeHash(c.Hash)
			isHead := c.Seq == head.lastSeq && ok && hash == head.lastHash
			if !isHead {
				break
			}
			slices.Reverse(f.changesAfterKeyFile)
			return nil
		}
		for i := range c.Versions {
			left -= len(c.Versions[i].Entry.Content)
		}
		if left < 0 {
			return fmt.Errorf("%w: it lacks too many changes", errUnusableKeyFile)
		}
		f.changesAfterKeyFile = append(f.changesAfterKeyFile, c)
	}
	return fmt.Errorf("%w: it belongs to another history", errUnusableKeyFile)
}

// findEdges returns the edges that start or end at the named entries. An edge leads from an entry to its source, which
// is the entry from which the text was copied or derived. If the memory has a key file (an index of its history),
// findEdges reads only a part of the history. The result is the same as for the whole history.
func (f *lineageFinder) findEdges(ctx context.Context, names map[string]bool) ([]Edge, error) {
	if f.wholeGraph == nil && f.keys != nil {
		part, err := f.readPartialGraph(ctx, names)
		if err == nil {
			return part.Edges(names), nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		if err := f.readWholeHistory(ctx, errors.Is(err, errTooManyVersions)); err != nil {
			return nil, err
		}
	}
	if f.wholeGraph == nil {
		if err := f.readWholeHistory(ctx, f.lineageFile == nil); err != nil {
			return nil, err
		}
	}
	return f.wholeGraph.Edges(names), nil
}

// readWholeHistory reads the whole history. It then writes a key file, which makes later searches for copied text
// faster. If keepsKeyFile is set, it does not write the file.
func (f *lineageFinder) readWholeHistory(ctx context.Context, keepsKeyFile bool) (err error) {
	f.wholeGraph, err = readHistoryGraph(ctx, f.history)
	if err != nil {
		return err
	}
	if keepsKeyFile || len(f.wholeGraph.changes) == 0 {
		return nil
	}
	changes := f.wholeGraph.changes
	f.lineageFile.Write(ctx, func(to io.WriterAt) error { return writeKeyFile(to, changes) })
	return nil
}

// readPartialGraph returns a part of the history. The part is sufficient to find the edges of the entries in the map
// names. An edge leads from an entry to a source from which the entry was made. The part contains these versions:
//
//   - all versions of the named entries
//   - all versions that have a word sequence in common with a version of a named entry
//   - all versions of entries that are needed to compare the source labels of the named entries
//   - all versions in changes that are newer than the key file, which is an index of the versions by word sequence and
//     entry name
func (f *lineageFinder) readPartialGraph(ctx context.Context, names map[string]bool) (*historyGraph, error) {
	wanted := map[uint32]bool{}
	for name := range names {
		if err := f.addVersionNumbers(nameKey(name), wanted); err != nil {
			return nil, err
		}
	}
	if err := f.readVersions(ctx, wanted); err != nil {
		return nil, err
	}
	keys := map[versionKey]bool{}
	scanner := wordGramHasher{hasStableHashes: true}
	addKeys := func(v *oxbow.Version) {
		if names[v.Entry.Name] {
			for _, k := range scanner.appendWordSequenceKeys(nil, v.Entry.Content) {
				keys[k] = true
			}
		}
	}
	for number := range wanted {
		v := f.versions[number]
		addKeys(&v)
		// To find out whether a source label is new, the earlier versions of the entry are needed as well.
		if len(v.Entry.Values(SourceLabel)) > 0 {
			keys[nameKey(v.Entry.Name)] = true
		}
	}
	for i := range f.changesAfterKeyFile {
		for j := range f.changesAfterKeyFile[i].Versions {
			v := &f.changesAfterKeyFile[i].Versions[j]
			addKeys(v)
			if len(v.Entry.Values(SourceLabel)) > 0 {
				keys[nameKey(v.Entry.Name)] = true
			}
		}
	}
	for k := range keys {
		if err := f.addVersionNumbers(k, wanted); err != nil {
			return nil, err
		}
	}
	if err := f.readVersions(ctx, wanted); err != nil {
		return nil, err
	}
	return f.buildVersionGraph(wanted), nil
}

// addVersionNumbers searches the key file for the versions with the key k. The key file is an index of the history, and
// k is the hash of a sequence of words or of an entry's name. addVersionNumbers adds the numbers of these versions to
// the map numbers. If the map then has more elements than 64 plus a quarter of all versions, addVersionNumbers returns
// errTooManyVersions, because it is faster to read the whole history.
func (f *lineageFinder) addVersionNumbers(k versionKey, numbers map[uint32]bool) error {
	return f.keys.addVersionNumbersWithKey(k, numbers, 64+f.keys.head.versionCount/4)
}

// readVersions reads the entry versions with the given numbers from the log. The key file assigns these numbers. The
// versions are stored in the map f.versions, and their places in the log in f.versionPositions. Versions that are
// already in f.versionPositions are not read again. If the log lacks a version, the error matches errUnusableKeyFile.
func (f *lineageFinder) readVersions(ctx context.Context, versionNumbers map[uint32]bool) error {
	var seqs []uint64
	missing := map[uint64][]uint32{} // numbers of the versions to read, for each change that contains such versions
	for _, number := range slices.Sorted(maps.Keys(versionNumbers)) {
		if _, known := f.versionPositions[number]; known {
			continue
		}
		p, err := f.keys.findVersion(number)
		if err != nil {
			return err
		}
		if missing[p.seq] == nil {
			seqs = append(seqs, p.seq)
		}
		missing[p.seq] = append(missing[p.seq], number)
		f.versionPositions[number] = p
	}
	for _, seq := range seqs {
		if err := ctx.Err(); err != nil {
			return err
		}
		wanted := map[int]bool{}
		for _, number := range missing[seq] {
			wanted[f.versionPositions[number].indexInChange] = true
		}
		vs, err := f.lineageFile.Versions(seq, func(i int) bool { return wanted[i] })
		if err != nil {
			return err
		}
		if len(vs) != len(missing[seq]) {
			return fmt.Errorf("%w: the log lacks versions of change %d", errUnusableKeyFile, seq)
		}
		for i, number := range missing[seq] {
			f.versions[number] = vs[i]
		}
	}
	return nil
}

// buildVersionGraph returns a graph of some versions of entries: the versions with the given numbers in the key file,
// and the versions in all changes that are newer than the key file.
func (f *lineageFinder) buildVersionGraph(versionNumbers map[uint32]bool) *historyGraph {
	var changes []oxbow.Change
	for _, number := range slices.Sorted(maps.Keys(versionNumbers)) {
		p := f.versionPositions[number]
		if len(changes) == 0 || changes[len(changes)-1].Seq != p.seq {
			changes = append(changes, oxbow.Change{Seq: p.seq})
		}
		last := &changes[len(changes)-1]
		last.Versions = append(last.Versions, f.versions[number])
	}
	return newHistoryGraph(append(changes, f.changesAfterKeyFile...))
}

// This file answers questions about a memory's history with a file of keys, so that only the versions that the
// answer needs are read.

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

// The file of keys is written again if the versions after it have more bytes of content than
// maxTailBytes, plus tailBytesPerKey for each key.
const (
	maxTailBytes    = 256 << 10
	tailBytesPerKey = 1
)

// finder finds edges in the history of a memory.
type finder struct {
	history    oxbow.Historian
	file       *oxbow.LineageFile // nil if the memory has no such file
	wholeGraph *graph             // the whole history, or nil if it was not read

	// The fields below are set if the history is read with the file.
	keys          *keyFile
	tailChanges   []oxbow.Change           // changes after those in the file, oldest first
	versions      map[uint32]oxbow.Version // versions in the file that were read, by number
	versionPlaces map[uint32]versionPlace  // of these versions
}

// FindLineage returns two lists of edges. sources has the edges from the entry to its sources, from these to their
// sources, and so on. made has the edges from the entry to the entries that were made from it, from these to
// the entries made from them, and so on.
//
// If the memory is a log, FindLineage writes the file next to the log that the next call uses. The results are
// the same with and without this file.
func FindLineage(ctx context.Context, m *oxbow.Memory, name string) (sources, made []Edge, err error) {
	h, err := m.History()
	if err != nil {
		return nil, nil, err
	}
	f := finder{history: h, file: m.LineageFile()}
	if f.file != nil {
		if err := f.openFile(ctx); err != nil && ctx.Err() != nil {
			return nil, nil, err
		}
	}
	if f.keys != nil {
		defer f.keys.file.Close()
	}
	return walkBothDirections(name, func(names map[string]bool) ([]Edge, error) { return f.edges(ctx, names) })
}

// openFile opens the file of keys and reads the changes after it. It returns an error if the file does not exist or
// cannot be used, or if too many changes are missing in the file.
func (f *finder) openFile(ctx context.Context) error {
	file, err := f.file.Open()
	if err != nil {
		return err
	}
	keys, err := openKeyFile(file)
	if err == nil {
		err = f.readTail(ctx, &keys.head)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.keys = keys
	f.versions = map[uint32]oxbow.Version{}
	f.versionPlaces = map[uint32]versionPlace{}
	return nil
}

// readTail reads the changes after those in the file, and compares the hash of the file's last change with
// the history.
func (f *finder) readTail(ctx context.Context, head *keyHead) error {
	left := maxTailBytes + tailBytesPerKey*head.keyCount
	f.tailChanges = nil
	for c, err := range f.history.Log(ctx) {
		if err != nil {
			return err
		}
		if c.Seq <= head.seq {
			hash, ok := decodeHash(c.Hash)
			isHead := c.Seq == head.seq && ok && hash == head.hash
			if !isHead {
				break
			}
			slices.Reverse(f.tailChanges)
			return nil
		}
		for i := range c.Versions {
			left -= len(c.Versions[i].Entry.Content)
		}
		if left < 0 {
			return fmt.Errorf("%w: it lacks too many changes", errUnusableKeyFile)
		}
		f.tailChanges = append(f.tailChanges, c)
	}
	return fmt.Errorf("%w: it belongs to another history", errUnusableKeyFile)
}

// edges returns the edges of the named entries, as [graph.Edges] returns them for the whole history.
func (f *finder) edges(ctx context.Context, names map[string]bool) ([]Edge, error) {
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
		if err := f.readWholeHistory(ctx, f.file == nil); err != nil {
			return nil, err
		}
	}
	return f.wholeGraph.Edges(names), nil
}

// readWholeHistory reads the whole history. It then writes the file of keys, unless keepFile is set.
func (f *finder) readWholeHistory(ctx context.Context, keepFile bool) (err error) {
	f.wholeGraph, err = readGraph(ctx, f.history)
	if err != nil {
		return err
	}
	if keepFile || len(f.wholeGraph.changes) == 0 {
		return nil
	}
	changes := f.wholeGraph.changes
	f.file.Write(ctx, func(to io.WriterAt) error { return writeKeyFile(to, changes) })
	return nil
}

// readPartialGraph returns the part of the history that contains every edge of the named entries: their versions, the
// versions that share words or labels with them, and the changes after the file.
func (f *finder) readPartialGraph(ctx context.Context, names map[string]bool) (*graph, error) {
	wanted := map[uint32]bool{}
	for name := range names {
		if err := f.addVersionNumbers(nameKey(name), wanted); err != nil {
			return nil, err
		}
	}
	if err := f.readVersions(ctx, wanted); err != nil {
		return nil, err
	}
	keys := map[key]bool{}
	scanner := gramScanner{hasStableHashes: true}
	addKeys := func(v *oxbow.Version) {
		if names[v.Entry.Name] {
			for _, k := range scanner.appendWordKeys(nil, v.Entry.Content) {
				keys[k] = true
			}
		}
	}
	for number := range wanted {
		v := f.versions[number]
		addKeys(&v)
		// The version before is needed to know whether a source label is new.
		if len(v.Entry.Values(SourceLabel)) > 0 {
			keys[nameKey(v.Entry.Name)] = true
		}
	}
	for i := range f.tailChanges {
		for j := range f.tailChanges[i].Versions {
			v := &f.tailChanges[i].Versions[j]
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
	return f.versionGraph(wanted), nil
}

// addVersionNumbers adds the numbers of the versions with a key to numbers. It returns errTooManyVersions if there are
// more than a quarter of all versions.
func (f *finder) addVersionNumbers(k key, numbers map[uint32]bool) error {
	return f.keys.addVersionNumbers(k, numbers, 64+f.keys.head.versionCount/4)
}

// readVersions reads the versions with these numbers, if they have not been read yet.
func (f *finder) readVersions(ctx context.Context, numbers map[uint32]bool) error {
	var seqs []uint64
	missing := map[uint64][]uint32{} // numbers of the versions to read, by change
	for _, number := range slices.Sorted(maps.Keys(numbers)) {
		if _, known := f.versionPlaces[number]; known {
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
		f.versionPlaces[number] = p
	}
	for _, seq := range seqs {
		if err := ctx.Err(); err != nil {
			return err
		}
		wanted := map[int]bool{}
		for _, number := range missing[seq] {
			wanted[f.versionPlaces[number].index] = true
		}
		vs, err := f.file.Versions(seq, func(i int) bool { return wanted[i] })
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

// versionGraph returns the graph of the numbered versions and the changes after the file.
func (f *finder) versionGraph(numbers map[uint32]bool) *graph {
	var changes []oxbow.Change
	for _, number := range slices.Sorted(maps.Keys(numbers)) {
		p := f.versionPlaces[number]
		if len(changes) == 0 || changes[len(changes)-1].Seq != p.seq {
			changes = append(changes, oxbow.Change{Seq: p.seq})
		}
		last := &changes[len(changes)-1]
		last.Versions = append(last.Versions, f.versions[number])
	}
	return newGraph(append(changes, f.tailChanges...))
}

// This file holds the index beside the store: what a process has indexed, kept
// for the next one. It is made from the log and may be deleted at any time.

package oxbow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/bm25"
	"github.com/oxbow-memory/oxbow/internal/wal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// IndexSuffix ends the name of the file beside a store that keeps its index.
//
// All numbers in it are little-endian; a check is the CRC-32C of what stands
// before it in the same piece:
//
//	head, 128 bytes:
//	     0    8 89 "oxidx" 0D 0A
//	     8    4 format, 1
//	    12    4 revision of the ranking's terms
//	    16   16 name of the ranking, padded with zeros
//	    32   16 id of the store
//	    48    8 the change, S, up to which the entries are indexed
//	    56   32 chain of the log at S
//	    88    8 entries, N
//	    96    8 length of the image
//	   104   20 0
//	   124    4 check
//	entries, 16·N + 4 bytes: ids and versions (8 bytes each), rising by id; check
//	image of the index (package bm25)
//
// An entry of the log is found by the image when its id and its version are
// those of the file, and the chain of the log at S is the file's: then both
// have the same history up to S, so that an id and a version mean the same text.
// All other entries are indexed anew. A file that does not fit, or is damaged,
// counts as none.
const IndexSuffix = ".idx"

const (
	indexFormat = 1
	indexHead   = 128

	// A file is written when at least this many entries, and as many as make it
	// one in indexShare, are not in the one that is there: so reading on costs
	// little, and writing is rare.
	indexLeast = 256
	indexShare = 64
)

var indexMagic = [8]byte{0x89, 'o', 'x', 'i', 'd', 'x', '\r', '\n'}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errIndex is a file that cannot be used.
var errIndex = errors.New("the index file is of no use")

// savedIndex is an index file that was opened.
type savedIndex struct {
	ranking  string
	index    *bm25.Index
	ids      []uint64 // rising
	versions []uint64
	file     vfs.File
}

// indexRevision is the number of the way in which rankings make terms of an
// entry. It must rise when one of them makes others, or an index file that
// another oxbow wrote would be believed (TestIndexRevision notices).
const indexRevision = 1

// indexName returns the name of the index file.
func (d *db) indexName() string { return d.name + IndexSuffix }

// openIndex returns the index that was kept for the state of now, or of before.
func (d *db) openIndex(ranking string) (_ *savedIndex, err error) {
	f, err := d.fs.OpenFile(d.indexName(), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	head, err := indexPiece(f, 0, indexHead, info.Size())
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	var name [16]byte
	copy(name[:], ranking)
	d.logmu.RLock()
	id := d.log.Header().ID
	chain, known := d.chainAt(le.Uint64(head[48:]))
	d.logmu.RUnlock()
	n, size := le.Uint64(head[88:]), le.Uint64(head[96:])
	switch {
	case [8]byte(head) != indexMagic, le.Uint32(head[8:]) != indexFormat:
		return nil, fmt.Errorf("%w: it is of another format", errIndex)
	case [16]byte(head[16:]) != name, le.Uint32(head[12:]) != indexRevision:
		return nil, fmt.Errorf("%w: it is of another ranking", errIndex)
	case [16]byte(head[32:]) != id, !known, [32]byte(head[56:]) != chain:
		return nil, fmt.Errorf("%w: it is of another history", errIndex)
	case n > uint64(info.Size())/16 || size > uint64(info.Size()) || indexHead+16*n+4+size != uint64(info.Size()):
		return nil, fmt.Errorf("%w: it has %d bytes, and says otherwise", errIndex, info.Size())
	}
	list, err := indexPiece(f, indexHead, int64(16*n+4), info.Size())
	if err != nil {
		return nil, err
	}
	s := &savedIndex{ranking: ranking, file: f, ids: make([]uint64, n), versions: make([]uint64, n)}
	for i := range s.ids {
		s.ids[i], s.versions[i] = le.Uint64(list[16*i:]), le.Uint64(list[16*i+8:])
		if i > 0 && s.ids[i] <= s.ids[i-1] {
			return nil, fmt.Errorf("%w: its entries are not in order", errIndex)
		}
	}
	from := int64(indexHead + 16*n + 4)
	s.index, err = bm25.OpenImage(io.NewSectionReader(f, from, int64(size)), int64(size), paramsOf(ranking))
	if err != nil {
		return nil, err
	}
	return s, nil
}

// knows reports whether the index was made from that version of the entry.
func (s *savedIndex) knows(id, version uint64) bool {
	if s == nil {
		return false
	}
	i, found := slices.BinarySearch(s.ids, id)
	return found && s.versions[i] == version
}

// indexPiece returns n bytes of f, which end with their check, without it.
func indexPiece(f io.ReaderAt, off, n, size int64) ([]byte, error) {
	if n > size-off {
		return nil, fmt.Errorf("%w: it is cut short", errIndex)
	}
	b := make([]byte, n)
	if _, err := f.ReadAt(b, off); err != nil {
		return nil, err
	}
	b, sum := b[:n-4], binary.LittleEndian.Uint32(b[n-4:])
	if crc32.Checksum(b, castagnoli) != sum {
		return nil, fmt.Errorf("%w: %d bytes at %d do not match their checksum", errIndex, n, off)
	}
	return b, nil
}

// chainAt returns the chain at a change, and false when the log does not know
// it any more, or yet. logmu is held.
func (d *db) chainAt(seq uint64) ([32]byte, bool) {
	switch h := d.log.Header(); {
	case seq == d.log.Seq():
		return d.log.Chain(), true
	case seq == h.Base:
		return h.Chain, true
	case seq < d.base || seq-d.base > uint64(len(d.offsets)):
		return [32]byte{}, false
	}
	r, err := d.log.At(d.offsets[seq-d.base-1])
	if err != nil || r.Seq != seq {
		return [32]byte{}, false
	}
	return r.Chain, true
}

// saveIndex writes the index file: what fill makes of the state of a moment at
// which nobody writes. When somebody does, or is about to, it is not written.
// It is not synced: a file that a crash damages is of no use, and does no harm.
func (d *db) saveIndex(ranking string, fill func() (index []byte, ids, versions []uint64)) error {
	if !d.turn.TryLock() {
		return nil
	}
	defer d.turn.Unlock()
	d.logmu.Lock()
	defer d.logmu.Unlock()
	if !d.log.Exists() {
		return nil
	}
	if _, err := d.fs.Stat(wal.LockName(d.name)); err != nil {
		return err // nobody has written here, or it is somewhere else
	}
	l, err := d.fs.OpenLock(wal.LockName(d.name))
	if err != nil {
		return err
	}
	defer l.Close()
	if got, err := l.TryLock(); !got || err != nil {
		return err
	}
	// From here on nobody writes, compacts or erases.
	if err := d.catchUp(); err != nil {
		return err
	}
	image, ids, versions := fill()
	if image == nil {
		return nil
	}
	le := binary.LittleEndian
	head := make([]byte, indexHead)
	copy(head, indexMagic[:])
	le.PutUint32(head[8:], indexFormat)
	le.PutUint32(head[12:], indexRevision)
	copy(head[16:32], ranking)
	id, chain := d.log.Header().ID, d.log.Chain()
	copy(head[32:], id[:])
	le.PutUint64(head[48:], d.log.Seq())
	copy(head[56:], chain[:])
	le.PutUint64(head[88:], uint64(len(ids)))
	le.PutUint64(head[96:], uint64(len(image)))
	le.PutUint32(head[124:], crc32.Checksum(head[:124], castagnoli))
	list := make([]byte, 0, 16*len(ids)+4)
	for i := range ids {
		list = le.AppendUint64(le.AppendUint64(list, ids[i]), versions[i])
	}
	list = le.AppendUint32(list, crc32.Checksum(list, castagnoli))
	if err := d.dropIndex(false); err != nil {
		return err
	}
	return vfs.WriteDerived(d.fs, d.indexName(), 0o600, head, list, image)
}

// dropIndex removes what an interrupted writing left of an index file, and with
// all the file too, and their bytes as far as the file system lets it. The
// caller has the lock between processes.
func (d *db) dropIndex(all bool) error {
	dir := path.Dir(d.name)
	files, err := d.fs.ReadDir(dir)
	if err != nil {
		return err
	}
	base := path.Base(d.indexName())
	for _, e := range files {
		rest, ours := strings.CutPrefix(e.Name(), base)
		if temp := strings.HasPrefix(rest, ".") && strings.HasSuffix(rest, ".tmp"); !ours || !temp && (rest != "" || !all) {
			continue
		}
		name := path.Join(dir, e.Name())
		if f, err := d.fs.OpenFile(name, os.O_RDWR, 0); err == nil {
			err = errors.Join(f.Truncate(0), f.Close())
			if err != nil {
				return err
			}
		}
		if err := d.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// savedFor returns the index that is kept beside the store, nil for none.
func (m *Memory) savedFor(ranking string) *savedIndex {
	d, ok := m.store.(*db)
	m.mu.RLock()
	distrust := m.distrust
	m.mu.RUnlock()
	if !ok || distrust {
		return nil
	}
	s, err := d.openIndex(ranking)
	if err != nil {
		return nil // it is made anew
	}
	return s
}

// keepIndex writes the index beside the store, when there is one and the file
// lacks enough of it. What goes wrong costs the next process its time, and is
// no error.
func (m *Memory) keepIndex() {
	d, ok := m.store.(*db)
	if !ok || m.opts.ReadOnly && !m.opts.KeepIndex || !m.worthKeeping() {
		return
	}
	_ = d.saveIndex(m.opts.Ranking, func() (image []byte, ids, versions []uint64) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.shelf == nil {
			return nil, nil, nil
		}
		m.drain()
		image, err := m.shelf.rankings[m.opts.Ranking].index.AppendImage(nil)
		if err != nil {
			return nil, nil, nil
		}
		ids = make([]uint64, 0, len(m.shelf.docs))
		for id := range m.shelf.docs {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		for _, id := range ids {
			versions = append(versions, m.shelf.docs[id].Version)
		}
		return image, ids, versions
	})
}

func (m *Memory) worthKeeping() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.shelf != nil && m.shelf.unsaved+len(m.pending) >= indexLeast+len(m.shelf.docs)/indexShare
}

// This file implements the state that a check derives from the log. It has a short row for each entry instead of the
// entry itself, so that checking a large log needs little memory.

package logstore

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/internal/log/keydir"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
)

// minRemovedRowsToPurge is the minimum number of removed entries in a versionState before their rows are deleted. Rows
// are deleted together and seldom, because each deletion copies all rows.
const minRemovedRowsToPurge = 4096

// versionRow describes the current version of an entry. A row of a removed entry has version 0.
type versionRow struct {
	id, version  uint64
	recordOffset int64  // offset of the record with the version
	entryHash    uint64 // hash of the entry, see hashEntry
}

// versionState is the state of a store after a change, without names and contents. It applies changes like [state].
//
// Names are compared by their hashes. The hashes depend on a random seed, so that two names that have the same hash in
// one pass of a check have different hashes in the next pass.
type versionState struct {
	seed            maphash.Seed
	log             *wal.Log
	rows            []versionRow // ordered by ID
	removedRowCount int          // number of rows with version 0, whose entries were removed
	idsByNameHash   map[uint64]uint64
	removedNames    map[uint64]keydir.TableKey // rows of a snapshot's table for removed names, by name hash
	opIDState       *state                     // state in which only the op IDs and the ID of the next entry are set
	changeOffsets   []int64                    // offsets of the changes' records
	lastSeq         uint64
	lastChain       [32]byte // value of the log's hash chain after the change lastSeq
}

// newVersionState returns the state with which a replay of the log begins, before the first record is applied. sizeHint
// is the expected number of entries.
func newVersionState(log *wal.Log, sizeHint int) *versionState {
	h := log.Header()
	return &versionState{
		seed:          maphash.MakeSeed(),
		log:           log,
		rows:          make([]versionRow, 0, sizeHint),
		idsByNameHash: make(map[uint64]uint64, sizeHint),
		removedNames:  map[uint64]keydir.TableKey{},
		opIDState:     newState(),
		lastSeq:       h.BaseSeq,
		lastChain:     h.BaseChainHash,
	}
}

// entryCount returns the number of entries.
func (p *versionState) entryCount() int { return len(p.rows) - p.removedRowCount }

// nextID returns the ID of the next new entry.
func (p *versionState) nextID() uint64 { return p.opIDState.nextEntryID }

// currentRows yields the rows of all entries that are not removed, ordered by ID. The first value is the row's index.
func (p *versionState) currentRows() iter.Seq2[int, *versionRow] {
	return func(yield func(int, *versionRow) bool) {
		for i := range p.rows {
			if p.rows[i].version != 0 && !yield(i, &p.rows[i]) {
				return
			}
		}
	}
}

// applyRecord applies a change record, or one of the records with which a compacted log begins.
func (p *versionState) applyRecord(r *wal.Record, v *recordBody) {
	v.setWriteMetadata(r.Seq, time.Unix(0, r.TimeUnixNano).UTC())
	for i := range v.ops {
		op := &v.ops[i]
		e := op.entry
		switch {
		case op.isContentErased:
			// A redaction has erased this version of the entry. Skip the op, because a later change replaced or
			// removed the entry.
		case op.verb == store.VerbRemove:
			p.removeEntry(e, r.Seq)
		default:
			p.putEntry(e, r.FileOffset)
		}
		p.opIDState.nextEntryID = max(p.opIDState.nextEntryID, e.ID+1)
	}
	p.opIDState.rememberOpIDs(r.Seq, v)
	if r.Type == recordTypeChange {
		p.changeOffsets = append(p.changeOffsets, r.FileOffset)
		p.lastSeq, p.lastChain = r.Seq, r.ChainHash
	}
}

// putEntry adds a version of an entry. If another entry has the name, putEntry removes that entry.
func (p *versionState) putEntry(e *store.Entry, offset int64) {
	name := p.hashName(e.Name)
	if owner, found := p.idsByNameHash[name]; found && owner != e.ID {
		p.removeRow(owner)
	}
	p.idsByNameHash[name] = e.ID
	delete(p.removedNames, name)
	row := versionRow{id: e.ID, version: e.Version, recordOffset: offset, entryHash: hashEntry(p.seed, e)}
	i, found := p.searchID(e.ID)
	if !found {
		p.rows = slices.Insert(p.rows, i, row)
		return
	}
	if p.rows[i].version == 0 {
		p.removedRowCount--
	}
	p.rows[i] = row
}

// removeEntry removes the entry with the name of e, if there is one. It also records that the change seq removed this
// name.
func (p *versionState) removeEntry(e *store.Entry, seq uint64) {
	name := p.hashName(e.Name)
	if owner, found := p.idsByNameHash[name]; found {
		delete(p.idsByNameHash, name)
		p.removeRow(owner)
	}
	p.removedNames[name] = keydir.TableKey{Hash: textHash(e.Name), IDOrChangeNumber: seq}
}

func (p *versionState) removeRow(id uint64) {
	i, found := p.searchID(id)
	if !found || p.rows[i].version == 0 {
		return
	}
	p.rows[i].version = 0
	p.removedRowCount++
	if p.removedRowCount >= max(minRemovedRowsToPurge, len(p.rows)/2) {
		p.rows = slices.DeleteFunc(p.rows, func(r versionRow) bool { return r.version == 0 })
		p.removedRowCount = 0
	}
}

// searchID returns the index of the row with this ID, or the index at which such a row has to be inserted.
func (p *versionState) searchID(id uint64) (i int, found bool) {
	if n := len(p.rows); n == 0 || p.rows[n-1].id < id {
		return n, false
	}
	return slices.BinarySearchFunc(p.rows, id, func(r versionRow, id uint64) int { return cmp.Compare(r.id, id) })
}

func (p *versionState) hashName(name string) uint64 { return maphash.String(p.seed, name) }

// hashEntry returns a hash of all fields in an entry.
func hashEntry(seed maphash.Seed, e *store.Entry) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	var number [8]byte
	addNumber := func(n uint64) {
		binary.LittleEndian.PutUint64(number[:], n)
		_, _ = h.Write(number[:]) // a Hash returns no errors
	}
	addText := func(s string) {
		addNumber(uint64(len(s)))
		_, _ = h.WriteString(s)
	}
	addNumber(e.ID)
	addNumber(e.Version)
	addNumber(uint64(e.Kind))
	addNumber(uint64(e.Created.Unix()))
	addNumber(uint64(e.Created.Nanosecond()))
	addNumber(uint64(e.Updated.UnixNano()))
	addText(e.Name)
	addText(e.Content)
	addNumber(uint64(len(e.Aliases)))
	for _, a := range e.Aliases {
		addText(a)
	}
	addNumber(uint64(len(e.Labels)))
	for _, l := range e.Labels {
		addText(l.Key)
		addText(l.Value)
	}
	for _, s := range sourceFields(&e.Source) {
		addText(*s)
	}
	return h.Sum64()
}

// findRow implements rowTable.
func (p *versionState) findRow(id uint64) (row int, ok bool) {
	row, ok = p.searchID(id)
	return row, ok && p.rows[row].version != 0
}

// entryID implements rowTable.
func (p *versionState) entryID(row int) uint64 { return p.rows[row].id }

// entryPosition returns the version of the entry in a row, and where in the log the record with this version begins.
func (p *versionState) entryPosition(row int) (version uint64, offset int64) {
	return p.rows[row].version, p.rows[row].recordOffset
}

// newVersionStateScan returns a scan of a state's entries.
func newVersionStateScan(p *versionState) *rowScan {
	return &rowScan{table: p, reader: p.log.NewReader(), prefetchedEntries: map[int]*store.Entry{}}
}

// readEntryFromLog returns the entry in a row, which it reads from the log with the reader.
func (p *versionState) readEntryFromLog(reader *wal.Reader, row int) (*store.Entry, error) {
	at := p.rows[row]
	r, err := reader.RecordAt(at.recordOffset)
	if err != nil {
		return nil, err
	}
	decoded, err := decodeRows(p, &r, func(id uint64) bool { return id == at.id })
	return requireEntry(decoded[row], err, at.id)
}

// requireEntry returns e and err. If e is nil and err is nil, it returns an error, because the record of the entry with
// this ID does not contain the entry.
func requireEntry(e *store.Entry, err error, id uint64) (*store.Entry, error) {
	if e == nil {
		err = cmp.Or(err, fmt.Errorf("entry %d is not in its record", id))
	}
	return e, err
}

// CheckedVersion is a version of an entry that a check has read.
type CheckedVersion struct{ ID, Version uint64 }

// compareHashes compares two states of the entries. The first state consists of the entries that the store returns to
// callers. The parameter returnedHashes contains their hashes, ordered by entry ID. The second state is p, which was
// read from the log. If the two states differ, compareHashes returns one problem: a different number of entries, or
// else the first entry that differs.
func (p *versionState) compareHashes(returnedHashes []uint64) []store.Problem {
	const mend = "this is a defect of oxbow: please report it; a restart reads the file anew"
	if len(returnedHashes) != p.entryCount() {
		return []store.Problem{{
			Offset: -1,
			What: fmt.Sprintf(
				"%d entries are answered from, %d are in the file",
				len(returnedHashes),
				p.entryCount(),
			),
			Mend: mend,
		}}
	}
	n := 0
	for i, row := range p.currentRows() {
		if returnedHashes[n] == row.entryHash {
			n++
			continue
		}
		name := fmt.Sprint("with the ID ", row.id)
		if e, err := p.readEntryFromLog(p.log.NewReader(), i); err == nil {
			name = fmt.Sprintf("%q", e.Name)
		}
		return []store.Problem{{
			Offset: -1,
			What:   fmt.Sprintf("entry %s in memory is not the one in the file", name),
			Mend:   mend,
		}}
	}
	return nil
}

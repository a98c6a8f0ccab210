// This file implements the damage campaign. It damages small stores at each position. The library must detect all
// damage by which data are lost.

package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/test/torture/workload"
	"github.com/oxbow-memory/oxbow/vfs"
)

// DamageTally counts what happened when store files were damaged on purpose and then opened.
type DamageTally struct {
	DamagedFiles        int // number of damaged files
	FilesWithAllEntries int // number of files in which the store found all entries in spite of the damage
	// number of files that the store refused to open, with an error that names the file and, if possible, the offset
	FilesRefusedAtOpen int
	// Number of files in which the store reported an incomplete end, and the last changes were missing. The file did
	// not show that these changes were durable.
	FilesWithReportedLoss int
	// Number of files in which the last changes were missing without a report. The file did not show that these
	// changes were durable.
	FilesWithUnreportedLoss int
}

// Add adds the counts in u to t.
func (t *DamageTally) Add(u DamageTally) {
	t.DamagedFiles += u.DamagedFiles
	t.FilesWithAllEntries += u.FilesWithAllEntries
	t.FilesRefusedAtOpen += u.FilesRefusedAtOpen
	t.FilesWithReportedLoss += u.FilesWithReportedLoss
	t.FilesWithUnreportedLoss += u.FilesWithUnreportedLoss
}

// DamageStores builds a store of each kind with random content from seed, and applies every kind of damage to the
// store's file. It returns a tally of what happened when the damaged stores were opened, and the first violation of a
// guarantee, or nil.
func DamageStores(seed uint64, setup workload.StoreSetup) (DamageTally, *Violation) {
	setup.FileGrowsInSmallSteps, setup.DiscardsLockContent = true, true
	var all DamageTally
	for _, kind := range storeKinds {
		s, err := buildStore(kind, seed, setup)
		if err != nil {
			return all, &Violation{Seed: seed, Trigger: "store " + kind.name + ", no damage", Err: err}
		}
		t, v := s.applyDamages()
		all.Add(t)
		if v != nil {
			v.Seed, v.Trigger = seed, "store "+kind.name+", "+v.Trigger
			return all, v
		}
	}
	return all, nil
}

// applyDamages damages the store's file in each way that the test knows: flipped bits, truncation and damaged sectors.
// It checks what happens if the damaged file is opened. The DamageTally counts the damaged files and their results.
// applyDamages stops at the first damaged file that the store handles wrongly, and returns a Violation that describes
// it.
func (s *damagedStore) applyDamages() (DamageTally, *Violation) {
	var t DamageTally
	var bad *Violation
	try := func(b []byte, what string, args ...any) bool {
		t.DamagedFiles++
		if bytes.Equal(b, s.file) {
			t.FilesWithAllEntries++
			return true
		}
		if err := s.classifyDamagedFile(b, &t); err != nil {
			bad = &Violation{Trigger: fmt.Sprintf(what, args...), Err: err}
			return false
		}
		return true
	}
	ok := s.tryFilesWithFlippedBit(try) && s.truncateFile(try)
	for _, size := range []int{512, 4096} {
		ok = ok && s.damageSectors(size, try)
	}
	return t, bad
}

// examineDamagedFileFunc examines a damaged file. If it returns false, no further damage is tried.
type examineDamagedFileFunc func(b []byte, what string, args ...any) bool

// tryFilesWithFlippedBit flips each bit of the file, one at a time, and calls the function try with the damaged copy.
// In the free space after the used part of the file, only the bits of some bytes are flipped. If try returns false,
// tryFilesWithFlippedBit stops and returns false. A file with more than 8 KiB is skipped, and the result is true.
func (s *damagedStore) tryFilesWithFlippedBit(try examineDamagedFileFunc) bool {
	if len(s.file) > 8<<10 {
		return true
	}
	b := bytes.Clone(s.file)
	for i := range b {
		if i > s.usedSize+80 && i%61 != 0 {
			continue
		}
		for bit := range 8 {
			b[i] ^= 1 << bit
			ok := try(b, "bit %d of byte %d", bit, i)
			b[i] ^= 1 << bit
			if !ok {
				return false
			}
		}
	}
	return true
}

// truncateFile calls examine with the store's file cut to each shorter length. Some lengths of large files, and of the
// unused space at the end, are skipped. If examine returns false, truncateFile stops and returns false.
func (s *damagedStore) truncateFile(examine examineDamagedFileFunc) bool {
	for n := range s.file {
		isSkippedAtEnd := n > s.usedSize+80 && n%61 != 0
		isSkippedInLarge := len(s.file) > 8<<10 && n%7 != 0
		if isSkippedAtEnd || isSkippedInLarge {
			continue
		}
		if !examine(s.file[:n:n], "cut to %d bytes", n) {
			return false
		}
	}
	return true
}

// damageSectors calls examine with copies of the store's file in which sectors of size bytes are damaged. These are the
// kinds of damage: a sector is zeroed, replaced by another sector, exchanged with another sector, or has an earlier
// content. If examine returns false, damageSectors stops and returns false.
func (s *damagedStore) damageSectors(size int, examine examineDamagedFileFunc) bool {
	n := (len(s.file) + size - 1) / size
	at := func(b []byte, i int) []byte { return b[min(i*size, len(b)):min((i+1)*size, len(b))] }
	change := func(i int, with []byte, what string, args ...any) bool {
		b := bytes.Clone(s.file)
		dst := at(b, i)
		clear(dst)
		copy(dst, with)
		return examine(b, what, args...)
	}
	for i := range n {
		if !change(i, nil, "sector %d of %d bytes zeroed", i, size) {
			return false
		}
		for j := range n {
			if i == j {
				continue
			}
			if !change(i, at(s.file, j), "sector %d of %d bytes is that of %d", i, size, j) {
				return false
			}
			b := bytes.Clone(s.file)
			copy(at(b, i), at(s.file, j))
			copy(at(b, j), at(s.file, i))
			if j > i && !examine(b, "sectors %d and %d of %d bytes exchanged", i, j, size) {
				return false
			}
		}
		for k, old := range s.fileAfterEachChange {
			if !change(i, at(old, i), "sector %d of %d bytes is as after %d changes", i, size, k) {
				return false
			}
		}
	}
	return true
}

// classifyDamagedFile opens a store with the damaged file content b, and counts in t what happened. It returns an error
// if the store breaks a guarantee, for example if it shows wrong entries or hides that durable changes are lost.
func (s *damagedStore) classifyDamagedFile(b []byte, t *DamageTally) error {
	mem := vfs.NewMem()
	if err := mem.Put(workload.StoreFile, bytes.Clone(b), 0o600, storeStartTime); err != nil {
		return err
	}
	m, err := oxbow.Open(
		workload.StoreFile,
		workload.StoreOptions(workload.NewFS(mem, s.setup), s.clock, s.newRandomReader()),
	)
	if err != nil {
		return s.checkOpenRefusal(b, err, t)
	}
	got, err := workload.CollectEntries(m)
	if err != nil {
		return s.checkOpenRefusal(b, err, t)
	}
	stats, err := m.Stats(context.Background())
	if err != nil {
		return err
	}
	last := stats.Last
	want, known := s.entriesByChange[last]
	// A damaged file must not bring back a state from before the last compaction. If the file's header is shorter than
	// or different from the present header, the file may be an older copy as a whole. The store cannot recognize an
	// older copy, so such a file is not an error.
	older := len(b) < wal.HeaderSize || !bytes.Equal(b[:wal.HeaderSize], s.file[:wal.HeaderSize])
	isReappeared := last < s.lastDroppedChange && !older
	if !known || isReappeared {
		return fmt.Errorf("it ends at change %d, which it never did", last)
	}
	if err := workload.CompareEntries(got, want); err != nil {
		return fmt.Errorf("silently wrong, at change %d: %w", last, err)
	}
	if v := s.lastDurableChange(b); last < v {
		return fmt.Errorf("silently lost: it ends at change %d, and a sound record vouches for %d", last, v)
	}
	if last == s.lastChange {
		t.FilesWithAllEntries++
		return s.checkStoreUsable(m, mem, got)
	}
	tail := bytes.TrimRight(b[min(int(stats.Used), len(b)):], "\x00")
	if len(tail) == 0 {
		t.FilesWithUnreportedLoss++
		return s.checkStoreUsable(m, mem, got)
	}
	t.FilesWithReportedLoss++
	rep, err := m.Store().(oxbow.Checker).Check(context.Background())
	if err != nil || len(rep.Problems) == 0 {
		return fmt.Errorf(
			"changes after %d are gone, %d bytes of them are left, and check does not say so: %w",
			last,
			len(tail),
			err,
		)
	}
	if err := s.checkStoreUsable(m, mem, got); err != nil {
		return err
	}
	return s.checkDamagedEndSaved(mem, tail)
}

// checkOpenRefusal checks the error err for the content b of a damaged store file that could not be opened. If b
// contains at least two undamaged records, the error must report a damaged store, and not another kind of file. For
// every eighth such file, checkOpenRefusal also tests that oxbow.Recover restores the undamaged changes. Testing all
// files would take too long.
func (s *damagedStore) checkOpenRefusal(b []byte, err error, t *DamageTally) error {
	t.FilesRefusedAtOpen++
	sound, changes := s.countUndamagedRecords(b)
	if err := checkErrorDetails(err, len(b), sound > 1); err != nil || sound < 2 {
		return err
	}
	s.recoverableCount++
	if s.recoverableCount%8 != 0 {
		return nil
	}
	mem := vfs.NewMem()
	if err := mem.Put(workload.StoreFile, bytes.Clone(b), 0o600, storeStartTime); err != nil {
		return err
	}
	o := workload.StoreOptions(workload.NewFS(mem, s.setup), s.clock, s.newRandomReader())
	rep, err := oxbow.Recover(context.Background(), workload.StoreFile, "saved.oxbow", o)
	// In a file of more than 8 KiB, the damage may copy a sector with a complete later record to the front. Then the
	// recovery skips the records with lower numbers, and this is not an error.
	hasLost := rep.Changes < changes && len(b) <= 8<<10
	if err != nil || hasLost {
		return fmt.Errorf("%d changes are sound, and %d are recovered: %w", changes, rep.Changes, err)
	}
	m, err := oxbow.Open("saved.oxbow", o)
	if err != nil {
		return fmt.Errorf("open what was recovered: %w", err)
	}
	if rep, err := m.Store().(oxbow.Checker).Check(context.Background()); err != nil || len(rep.Problems) > 0 {
		return fmt.Errorf("check what was recovered: %v: %w", rep.Problems, err)
	}
	return nil
}

// checkErrorDetails checks the error err, which the opening of a damaged store returned. It returns nil if the error is
// acceptable, and otherwise an error. There are two kinds of acceptable errors:
//   - The error is an [*oxbow.CorruptError] that names the store's file and an offset in the file. The parameter size
//     is the file's size in bytes.
//   - The error matches [oxbow.ErrNotStore] or [oxbow.ErrVersion], and names the store's file. This kind is not
//     acceptable if mustReportDamage is set.
func checkErrorDetails(err error, size int, mustReportDamage bool) error {
	if c := (*oxbow.CorruptError)(nil); errors.As(err, &c) {
		isInFile := 0 <= c.Offset && c.Offset <= int64(size)
		if c.Path != workload.StoreFile || !isInFile {
			return fmt.Errorf("the error names %q at %d of %d bytes: %w", c.Path, c.Offset, size, err)
		}
		return nil
	}
	isKnown := errors.Is(err, oxbow.ErrNotStore) || errors.Is(err, oxbow.ErrVersion)
	isAllowed := isKnown && !mustReportDamage
	if !isAllowed || !strings.Contains(err.Error(), workload.StoreFile) {
		return fmt.Errorf(
			"the error does not say which file, or is of no known sort, or not that of a damaged store: %w",
			err,
		)
	}
	return nil
}

// countUndamagedRecords returns how many sound records are at their original place, and how many changes these records
// contain.
func (s *damagedStore) countUndamagedRecords(b []byte) (recordCount, changeCount int) {
	for _, r := range s.records {
		if r.toOffset <= len(b) && bytes.Equal(b[r.fromOffset:r.toOffset], s.file[r.fromOffset:r.toOffset]) {
			recordCount++
			if r.isChange {
				changeCount++
			}
		}
	}
	return recordCount, changeCount
}

// lastDurableChange returns the number of the last change that was certainly durable, according to b, the content of
// the damaged file. Each record contains the number of the last change that was durable when the record was written.
// The result is the highest of these numbers in the undamaged records, or 0 if no record is undamaged.
func (s *damagedStore) lastDurableChange(b []byte) uint64 {
	var v uint64
	for _, r := range s.records {
		if r.toOffset <= len(b) && bytes.Equal(b[r.fromOffset:r.toOffset], s.file[r.fromOffset:r.toOffset]) {
			v = max(v, r.lastDurableSeqAtWrite)
		}
	}
	return v
}

// checkStoreUsable makes a change in a store whose damaged file could be opened, and opens the store again. To save
// time, it does so for every eighth file only.
func (s *damagedStore) checkStoreUsable(m *oxbow.Memory, mem *vfs.Mem, entries []oxbow.Entry) error {
	s.openedFileCount++
	if s.openedFileCount%8 != 0 {
		return nil
	}
	e, err := m.Remember(context.Background(), oxbow.Entry{Name: "new", Content: "after the damage"})
	if err != nil {
		return fmt.Errorf("a change after the damage: %w", err)
	}
	again, err := oxbow.Open(
		workload.StoreFile,
		workload.StoreOptions(workload.NewFS(mem, s.setup), s.clock, s.newRandomReader()),
	)
	if err != nil {
		return fmt.Errorf("open after a change: %w", err)
	}
	got, err := workload.CollectEntries(again)
	if err != nil {
		return fmt.Errorf("read after a change: %w", err)
	}
	if err := workload.CompareEntries(got, append(entries[:len(entries):len(entries)], e)); err != nil {
		return fmt.Errorf("after a change: %w", err)
	}
	return nil
}

// checkDamagedEndSaved checks that the store does not lose tail, the damaged end of its file. When the store cuts off
// this end for a new change, it must save the end in another file. To save time, only every eighth opened file is
// checked.
func (s *damagedStore) checkDamagedEndSaved(mem *vfs.Mem, tail []byte) error {
	if s.openedFileCount%8 != 0 {
		return nil
	}
	dir := workload.StoreFile + ".lost"
	es, err := mem.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("the tail was cut off and not kept: %w", err)
	}
	for _, e := range es {
		if b, err := vfs.ReadFile(mem, dir+"/"+e.Name(), -1); err == nil && bytes.Equal(b, tail) {
			return nil
		}
	}
	return fmt.Errorf("the tail of %d bytes was cut off and not kept", len(tail))
}

// recordRange is a record's byte range. lastDurableSeqAtWrite is the number of the last change that was durable when
// the record was written.
type recordRange struct {
	fromOffset, toOffset  int
	lastDurableSeqAtWrite uint64
	isChange              bool
}

// readRecordRanges returns the positions of the records in an undamaged store file. It also returns the offset at which
// the log ends.
func readRecordRanges(fsys vfs.FS) ([]recordRange, int, error) {
	log, err := wal.Open(fsys, workload.StoreFile, wal.Options{ReadOnly: true,
		DigestBody: func(uint8, []byte) ([32]byte, error) { return [32]byte{}, nil }})
	if err != nil {
		return nil, 0, err
	}
	var ss []recordRange
	err = log.Read(func(r *wal.Record) error {
		ss = append(
			ss,
			recordRange{
				int(r.FileOffset),
				int(r.FileOffset) + wal.RecordOverhead + len(r.Body),
				r.DurableSeq,
				r.Type < wal.MinTypeOutsideHashChain,
			},
		)
		return nil
	})
	return ss, int(log.EndOffset()), errors.Join(err, log.Close())
}

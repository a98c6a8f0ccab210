// This file builds the stores whose files are damaged by the test in flip.go.

package faults

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/torture/workload"
	"github.com/oxbow-memory/oxbow/vfs"
)

// damagedStoreKind describes how to build a store whose file is then damaged.
type damagedStoreKind struct {
	name string
	// number of changes before the store is compacted, or of all changes if the store is not compacted
	changesBeforeCompaction int
	changesAfterCompaction  int // number of changes after the compaction (-1 without one)
	processCount            int // number of processes that make the changes in turns
	endsWithSeal            bool
	wordsPerContent         int // number of words in the content of each entry
}

var storeKinds = []damagedStoreKind{
	{"plain", 4, -1, 1, false, 4},
	{"sealed", 4, -1, 1, true, 4},
	{"compacted", 4, 2, 1, true, 4},
	{"by two processes", 5, -1, 2, true, 4},
	{"large", 9, -1, 2, true, 400},
	{"large, compacted", 7, 3, 1, true, 400},
}

// damagedStore is the store from which damaged copies of the file are made. The store itself is sound. The type also
// contains all earlier states of the store, with which a damaged copy is compared.
type damagedStore struct {
	setup               workload.StoreSetup
	seed                uint64
	now                 time.Time
	file                []byte
	usedSize            int                      // offset in the file at which the unused space begins
	fileAfterEachChange [][]byte                 // content of the file after each earlier change
	entriesByChange     map[uint64][]oxbow.Entry // entries after each change, by the number of the change
	lastChange          uint64
	lastDroppedChange   uint64 // number of the last change that the store's compaction dropped
	records             []recordRange
	openedFileCount     int // number of damaged files that could be opened
	recoverableCount    int // number of damaged files that could not be opened and contain sound records
}

var storeStartTime = time.Unix(1776162225, 0).UTC()

func (s *damagedStore) clock() time.Time { s.now = s.now.Add(time.Second); return s.now }

func (s *damagedStore) newRandomReader() io.Reader {
	return rand.NewChaCha8([32]byte{byte(s.seed), byte(s.seed >> 8), 1})
}

// buildStore builds a store of the kind k, whose file will be damaged later. It makes random changes and, if k requires
// this, a compaction. It records the entries and the file after each change, so that the content of a damaged file can
// be compared with them. seed determines the random numbers.
func buildStore(k damagedStoreKind, seed uint64, setup workload.StoreSetup) (*damagedStore, error) {
	s := &damagedStore{setup: setup, seed: seed, now: storeStartTime, entriesByChange: map[uint64][]oxbow.Entry{0: nil}}
	r := rand.New(rand.NewPCG(seed, 5))
	mem := vfs.NewMem()
	var ms []*oxbow.Memory
	for range k.processCount {
		m, err := oxbow.Open(
			workload.StoreFile,
			workload.StoreOptions(workload.NewFS(mem, setup), s.clock, s.newRandomReader()),
		)
		if err != nil {
			return nil, err
		}
		ms = append(ms, m)
	}
	turn := 0
	change := func(n int) error {
		for range n {
			m := ms[turn%len(ms)]
			turn++
			if err := m.Apply(context.Background(), randomChangeOps(r, turn, k.wordsPerContent)...); err != nil {
				return err
			}
			if err := s.recordState(m, mem); err != nil {
				return err
			}
		}
		return nil
	}
	if err := change(k.changesBeforeCompaction); err != nil {
		return nil, err
	}
	if k.changesAfterCompaction >= 0 {
		if _, err := ms[0].Compact(context.Background(), oxbow.Compaction{Before: time.Unix(1<<40, 0)}); err != nil {
			return nil, err
		}
		if err := s.recordState(ms[0], mem); err != nil {
			return nil, err
		}
		s.lastDroppedChange = uint64(k.changesBeforeCompaction)
		if err := change(k.changesAfterCompaction); err != nil {
			return nil, err
		}
	}
	if k.endsWithSeal {
		for _, m := range ms {
			if err := m.Close(); err != nil {
				return nil, err
			}
		}
	}
	var err error
	s.file, err = vfs.ReadFile(mem, workload.StoreFile, -1)
	if err != nil {
		return nil, err
	}
	s.records, s.usedSize, err = readRecordRanges(mem)
	return s, err
}

// recordState records the entries of m, the number of the last change, and the content of the store's file in mem. A
// damaged file is compared with them later.
func (s *damagedStore) recordState(m *oxbow.Memory, mem *vfs.Mem) error {
	es, err := workload.CollectEntries(m)
	if err != nil {
		return err
	}
	stats, err := m.Stats(context.Background())
	if err != nil {
		return err
	}
	b, err := vfs.ReadFile(mem, workload.StoreFile, -1)
	if err != nil {
		return err
	}
	s.lastChange = stats.Last
	s.entriesByChange[stats.Last] = es
	s.fileAfterEachChange = append(s.fileAfterEachChange, b)
	return nil
}

// randomChangeOps returns the ops of one turn in a test. In every third turn, they change the entry of the turn before,
// and remove the entry of the turn before that. In any other turn, the result is one op that adds an entry with an
// alias.
func randomChangeOps(r *rand.Rand, turnNumber, wordsPerEntry int) []oxbow.Op {
	text := func() string {
		var b strings.Builder
		for range wordsPerEntry {
			fmt.Fprintf(&b, "%x ", r.Uint32())
		}
		return b.String()
	}
	name := func(n int) string { return fmt.Sprintf("entry %d", n) }
	if turnNumber%3 == 0 {
		return []oxbow.Op{
			oxbow.Update{
				Name:    name(turnNumber - 1),
				Content: text(),
				Labels:  []oxbow.Label{{Key: "tag", Value: "changed"}},
			},
			oxbow.Remove{Name: name(turnNumber - 2)},
		}
	}
	return []oxbow.Op{
		oxbow.Add{Name: name(turnNumber), Content: text(), Aliases: []string{"alias " + name(turnNumber)}},
	}
}

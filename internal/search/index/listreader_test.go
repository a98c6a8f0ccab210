// This file tests that posting lists of a snapshot are decoded as their format says, whichever loop decodes them, and
// that the newest documents of a snapshot are found.

package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
)

// decodeListSlowly decodes a list with one varint after the other. ok is false if the list is damaged.
func decodeListSlowly(b []byte, count, docs int) (numbers []uint32, tfs []uint16, ok bool) {
	next := uint64(0)
	for range count {
		v, size := binary.Uvarint(b)
		if size <= 0 {
			return nil, nil, false
		}
		b = b[size:]
		tf := uint64(FrequencyPerOccurrence)
		if v&1 != 0 {
			tf, size = binary.Uvarint(b)
			if size <= 0 || tf == 0 || tf > math.MaxUint16 {
				return nil, nil, false
			}
			b = b[size:]
		}
		number := next + v>>1
		if v>>1 >= uint64(docs) || number >= uint64(docs) {
			return nil, nil, false
		}
		numbers, tfs, next = append(numbers, uint32(number)), append(tfs, uint16(tf)), number+1
	}
	return numbers, tfs, len(b) == 0
}

// randomList returns an encoded list with count postings. The list consists of stretches of random length. Within a
// stretch, the distances between document numbers have the same maximum, and either all postings or none have an
// explicit frequency.
func randomList(rng *rand.Rand, count int) (list []byte) {
	maxDistance, frequencies := 1, 0
	for i := range count {
		if i == 0 || rng.IntN(12) == 0 {
			maxDistance, frequencies = []int{1, 40, 300, 40_000}[rng.IntN(4)], []int{0, 1, 100, 1000}[rng.IntN(4)]
		}
		v := uint64(rng.IntN(maxDistance)) << 1
		if frequencies > 0 {
			list = binary.AppendUvarint(binary.AppendUvarint(list, v|1), uint64(1+rng.IntN(frequencies)))
		} else {
			list = binary.AppendUvarint(list, v)
		}
	}
	return list
}

func TestListsDecodeByEachLoop(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 12))
	whole, damaged := 0, 0
	lengths := make([]uint32, 1<<21)
	for range 20_000 {
		count := 1 + rng.IntN(60)
		list := randomList(rng, count)
		docs := len(lengths)
		switch rng.IntN(4) {
		case 0:
			list[rng.IntN(len(list))] = byte(rng.IntN(3))
		case 1:
			list[rng.IntN(len(list))] ^= 1 << rng.IntN(8)
		case 2:
			docs = 1 + rng.IntN(4*count)
		}
		numbers, tfs, ok := decodeListSlowly(list, count, docs)
		r := postingListReader{
			snapshot:          &snapshotTerms{docLengths: lengths[:docs]},
			encoded:           append(slices.Clone(list), make([]byte, postingListPaddingBytes)...),
			remainingPostings: uint32(count),
		}
		err := r.decodePostings(count)
		if (err == nil) != ok {
			t.Fatalf("% x, %d postings of %d documents: decodePostings = %v, want ok = %v", list, count, docs, err, ok)
		}
		if !ok {
			damaged++
			continue
		}
		whole++
		if !slices.Equal(r.batchDocNumbers[:count], numbers) || !slices.Equal(r.batchTermFrequencies[:count], tfs) {
			t.Fatalf(
				"% x: the postings are %v and %v, want %v and %v",
				list,
				r.batchDocNumbers[:count],
				r.batchTermFrequencies[:count],
				numbers,
				tfs,
			)
		}
	}
	if whole < 5000 || damaged < 5000 {
		t.Errorf("%d lists are whole and %d damaged, want 5,000 of each", whole, damaged)
	}
}

// TestNewestOfSnapshot compares the newest documents of a snapshot with a sorted list. The documents were updated in a
// random order, so the latest update of each block decides which blocks are read. A snapshot with another latest
// update and valid checksums is damaged.
func TestNewestOfSnapshot(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	x := New(Params{})
	const count = 1300
	updated := map[uint64]int64{}
	for id := uint64(1); id <= count; id++ {
		updated[id] = rng.Int64N(5000) - 2500
		words := []string{"common", []string{"half", "other"}[id%2]}
		x.put(
			id,
			updated[id],
			Doc{Created: rng.Int64N(100), Terms: DocumentOfWords(0, words).Terms, WeightedLength: 32},
		)
	}
	snapshot, err := x.AppendSnapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	open := func() *Index {
		y, err := OpenSnapshot(bytes.NewReader(snapshot), int64(len(snapshot)), Params{})
		if err != nil {
			t.Fatal(err)
		}
		return y
	}
	y := open()
	for _, limit := range []int{1, 5, 64, 200, count} {
		for _, word := range []string{"common", "half"} {
			q := Query{Limit: limit, Conditions: []TermCondition{{Terms: []string{word}}}}
			var want []uint64
			for id := range updated {
				if word == "common" || id%2 == 0 {
					want = append(want, id)
				}
			}
			slices.SortFunc(want, func(a, b uint64) int {
				return cmp.Or(cmp.Compare(updated[b], updated[a]), cmp.Compare(b, a))
			})
			want = want[:min(limit, len(want))]
			if got := y.Newest(q); !slices.Equal(got, want) {
				t.Errorf("the newest %d with %q are %v, want %v", limit, word, got, want)
			}
		}
	}
	if err := errors.Join(y.Err(), y.Searcher().CheckSnapshot()); err != nil {
		t.Errorf("the snapshot cannot be read: %v", err)
	}
	h := docsHeader{docCount: count}
	tables := h.tableSizes()
	times := pagefile.CountPages(tables[:timeTableNumber]) * pagefile.PageSize
	snapshot[times+timeRowBytes+16]++ // latest update of the second block
	resum(snapshot)
	if err := open().Searcher().CheckSnapshot(); err == nil {
		t.Error("CheckSnapshot accepts a block with another latest update")
	}
}

// This file tests that a change of many ops leaves the same state as if its ops were applied one by one.

package logstore

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/store"
)

// TestLargeChange applies random ops as large changes and one by one. Both states must list the same entries, ordered
// by ID.
func TestLargeChange(t *testing.T) {
	for seed := range int64(20) {
		rnd := rand.New(rand.NewSource(seed))
		large, small := newState(), newState()
		for seq := uint64(1); seq <= 20; seq++ {
			var ops []loggedOp
			for range minLargeChangeOps + rnd.Intn(40) {
				ops = append(ops, randomOp(rnd, small, ops))
			}
			now := time.Unix(int64(seq), 0)
			large.applyChange(seq, now, &recordBody{ops: slices.Clone(ops)})
			for _, p := range ops {
				small.applyChange(seq, now, &recordBody{ops: []loggedOp{p}})
			}
			if got, want := listState(large), listState(small); !slices.Equal(got, want) {
				t.Fatalf("seed %d, change %d: the entries are\n%q, want\n%q", seed, seq, got, want)
			}
			compareAliasIndex(t, large)
			compareAliasIndex(t, small)
		}
	}
}

// randomOp returns an op that may follow the given ops. It writes or removes one of 150 names.
func randomOp(rnd *rand.Rand, st *state, ops []loggedOp) loggedOp {
	name := fmt.Sprint("n", rnd.Intn(150))
	var now *store.Entry
	if e := st.changedEntriesByName[name]; e != nil {
		now = e
	}
	for _, p := range ops {
		if p.entry.Name == name {
			now = p.entry
			if p.verb == store.VerbRemove {
				now = nil
			}
		}
	}
	isRemoval := now != nil && rnd.Intn(3) == 0
	if isRemoval {
		return loggedOp{verb: store.VerbRemove, entry: &store.Entry{ID: now.ID, Name: name}}
	}
	e := &store.Entry{Name: name, Content: fmt.Sprint(rnd.Intn(1000))}
	for range rnd.Intn(3) {
		e.Aliases = append(e.Aliases, fmt.Sprint("a", rnd.Intn(20)))
	}
	if now != nil {
		e.ID = now.ID
	} else {
		e.ID = unusedID(rnd, st, ops)
	}
	return loggedOp{verb: store.VerbRestore, entry: e}
}

// unusedID returns an ID that no entry has and no op writes.
func unusedID(rnd *rand.Rand, st *state, ops []loggedOp) uint64 {
	for {
		id := uint64(1 + rnd.Intn(10000))
		_, isUsed := st.searchChangedEntry(id)
		if !isUsed && !slices.ContainsFunc(ops, func(p loggedOp) bool { return p.entry.ID == id }) {
			return id
		}
	}
}

func listState(st *state) (all []string) {
	for _, e := range st.entriesNotInSnapshotByID {
		all = append(all, fmt.Sprint(e.ID, " ", e.Name, " ", e.Content, " ", st.changedEntriesByName[e.Name] == e))
	}
	return append(all, fmt.Sprint(len(st.changedEntriesByName), " names"))
}

// This file tests the contract of Commit: the caller receives exactly the change that its
// call made.

package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// asCommitter returns the store as an [oxbow.Committer]. It skips the test if the store is not a
// Committer.
func asCommitter(t *testing.T, s oxbow.Store) oxbow.Committer {
	t.Helper()
	c := oxbow.CapabilitiesOf(s).Committer
	if c == nil {
		t.Skip("this store does not return the changes that calls make")
	}
	return c
}

// testCommit compares the result of Commit with the entries in the store.
func testCommit(t *testing.T, s oxbow.Store, can Can) {
	c := asCommitter(t, s)
	made := commitOps(t, c, oxbow.Add{Name: "a", Content: "one"})
	checkWritten(t, made, oxbow.VerbAdd, getEntry(t, s, "a"))
	made = commitOps(t, c, oxbow.Update{Name: "a", Content: "two"})
	checkWritten(t, made, oxbow.VerbUpdate, getEntry(t, s, "a"))
	if can.Labels {
		made = commitOps(
			t,
			c,
			oxbow.Relabel{Name: "a", Labels: []oxbow.Label{{Key: "tag", Value: "z"}, {Key: "tag", Value: "b"}}},
		)
		checkWritten(t, made, oxbow.VerbLabel, getEntry(t, s, "a"))
	}
	if can.Aliases {
		made = commitOps(t, c, oxbow.Alias{Name: "a", Aliases: []string{"x", "b"}})
		checkWritten(t, made, oxbow.VerbAlias, getEntry(t, s, "a"))
	}
	last := getEntry(t, s, "a")
	made = commitOps(t, c, oxbow.Remove{Name: "a"})
	e, ok := made.Entry()
	if ok || !hasOneVersion(made, oxbow.VerbRemove) {
		t.Errorf("Commit(Remove) = %+v, want one version, which is a removal", made)
	}
	if e.Name != "a" || e.ID != last.ID {
		t.Errorf("Commit(Remove) = %+v, want the removal of entry %d", made, last.ID)
	}
	testCommitEdgeCases(t, c)
}

// testCommitEdgeCases commits several ops in one call, no ops, and an op that cannot be applied.
func testCommitEdgeCases(t *testing.T, c oxbow.Committer) {
	made := commitOps(
		t,
		c,
		oxbow.Add{Name: "b", Content: "b1"},
		oxbow.Update{Name: "b", Content: "b2"},
		oxbow.Add{Name: "c", Content: "c1"},
	)
	var contents []string
	for i := range made.Versions {
		contents = append(contents, made.Versions[i].Entry.Content)
	}
	if !slices.Equal(contents, []string{"b1", "b2", "c1"}) {
		t.Errorf("Commit of three ops = %+v, want a version of each, in their order", made)
	}
	if e, ok := made.Entry(); !ok || e.Name != "c" {
		t.Errorf("the last entry of the change = %+v, %v, want c", e, ok)
	}
	if made, err := c.Commit(t.Context()); err != nil || !reflect.DeepEqual(made, oxbow.Change{}) {
		t.Errorf("Commit without ops = %+v, %v, want an empty change", made, err)
	}
	made, err := c.Commit(t.Context(), oxbow.Update{Name: "ghost", Content: "x"})
	if !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("Commit of an op that cannot be applied = %v, want ErrNotFound", err)
	}
	if len(made.Versions) > 0 || made.Seq != 0 {
		t.Errorf("Commit of an op that cannot be applied = %+v, want an empty change", made)
	}
}

// testParallelCommits lets several writers change the same entries. Each call must return its own text, and the number
// of the change that wrote this text.
func testParallelCommits(t *testing.T, s oxbow.Store, features Can) {
	c := asCommitter(t, s)
	commitOps(t, c, oxbow.Add{Name: "shared", Content: "start"})
	const writers, each = 6, 8
	var mu sync.Mutex // mu guards answers.
	var answers []oxbow.Change
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				text := fmt.Sprintf("writer %d, text %d", w, i)
				u := oxbow.Update{Name: "shared", Content: text}
				if features.Labels {
					u.Labels = []oxbow.Label{{Key: "tag", Value: fmt.Sprint("w", w, "-", i)}}
				}
				made, err := c.Commit(t.Context(), u)
				e, ok := made.Entry()
				isWritten := e.Content == text && reflect.DeepEqual(e.Labels, u.Labels)
				if err != nil || !ok {
					t.Errorf("Commit of writer %d = %+v, %v, want an entry", w, made, err)
				} else if !isWritten {
					t.Errorf("writer %d wrote %q with labels %v and got %+v, %v", w, text, u.Labels, e, err)
				}
				mu.Lock()
				answers = append(answers, made)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	checkChangesInLog(t, s, answers...)
}

// testCommitOpID repeats calls with the same op ID. Each call must return the change of the first call, even while the
// first call is running. A store that lacks a history is skipped, because it does not remember op IDs.
func testCommitOpID(t *testing.T, s oxbow.Store, _ Can) {
	c := asCommitter(t, s)
	if _, err := oxbow.HistoryOf(s); errors.Is(err, oxbow.ErrUnsupported) {
		return
	}
	first := oxbow.WithOpID(t.Context(), "first")
	add := oxbow.Add{Name: "a", Content: "one"}
	made, err := c.Commit(first, add)
	if err != nil {
		t.Fatal(err)
	}
	commitOps(t, c, oxbow.Update{Name: "a", Content: "two"})
	again, err := c.Commit(first, add)
	if err != nil || again.Seq != made.Seq {
		t.Errorf("a repeat returned %+v, %v, want the change of the first call, %+v", again, err, made)
	}
	if e, _ := again.Entry(); e.Content != "one" || e.Version != made.Seq {
		t.Errorf("a repeat returned the entry %+v, want the entry of the first call, %+v", e, made)
	}
	commitOps(t, c, oxbow.Add{Name: "shared", Content: "start"})
	same := oxbow.WithOpID(t.Context(), "same")
	seqs := make([]uint64, 6)
	var wg sync.WaitGroup
	for i := range seqs {
		wg.Go(func() {
			made, err := c.Commit(same, oxbow.Update{Name: "shared", Content: "by id"})
			if e, _ := made.Entry(); err != nil || e.Content != "by id" {
				t.Errorf("a call with the op id of another that is being made returned %+v, %v", made, err)
			}
			seqs[i] = made.Seq
		})
		wg.Go(func() {
			if _, err := c.Commit(
				t.Context(),
				oxbow.Update{Name: "shared", Content: fmt.Sprint("other ", i)},
			); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, seq := range seqs {
		if seq != seqs[0] {
			t.Fatalf("calls of one op id returned the changes %v, want one", seqs)
		}
	}
}

// commitOps applies the ops, and returns the change.
func commitOps(t *testing.T, c oxbow.Committer, ops ...oxbow.Op) oxbow.Change {
	t.Helper()
	made, err := c.Commit(t.Context(), ops...)
	if err != nil {
		t.Fatalf("Commit(%v) = %v", ops, err)
	}
	checkChangesInLog(t, c, made)
	return made
}

// checkWritten compares the change that one op made with the entry in the store.
func checkWritten(t *testing.T, committedChange oxbow.Change, verb oxbow.Verb, want oxbow.Entry) {
	t.Helper()
	e, ok := committedChange.Entry()
	if !ok || !hasOneVersion(committedChange, verb) {
		t.Errorf("Commit returned %+v, want %s of %+v", committedChange, verb, want)
	}
	if !isSameEntry(&e, &want) || !isSameVersion(&e, &want) {
		t.Errorf("Commit returned the entry %+v, want %+v", e, want)
	}
}

// hasOneVersion reports whether the change wrote exactly one entry version, and did this with the given verb, such as
// add.
func hasOneVersion(c oxbow.Change, verb oxbow.Verb) bool {
	return len(c.Versions) == 1 && c.Versions[0].Verb == verb
}

// isSameVersion reports whether two entries have the same version number and time, and the same
// text, labels and aliases.
func isSameVersion(a, b *oxbow.Entry) bool {
	return a.Version == b.Version && a.Updated.Equal(b.Updated) && a.Content == b.Content &&
		reflect.DeepEqual(a.Labels, b.Labels) && reflect.DeepEqual(a.Aliases, b.Aliases)
}

// checkChangesInLog compares changes with the log of the store, if it has one. The log must contain each change under
// its number, with the same entries.
func checkChangesInLog(t *testing.T, s oxbow.Store, committedChanges ...oxbow.Change) {
	t.Helper()
	h, err := oxbow.HistoryOf(s)
	if errors.Is(err, oxbow.ErrUnsupported) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	logged := map[uint64]oxbow.Change{}
	for c, err := range h.Log(context.WithoutCancel(t.Context())) {
		if err != nil {
			t.Fatalf("Log() = %v", err)
		}
		logged[c.Seq] = c
	}
	for _, c := range committedChanges {
		want, ok := logged[c.Seq]
		delete(logged, c.Seq)
		if !ok || len(want.Versions) != len(c.Versions) {
			t.Errorf(
				"a call was answered with change %d and %d versions, perhaps as another call; the log has %+v",
				c.Seq,
				len(c.Versions),
				want,
			)
			continue
		}
		for i, v := range c.Versions {
			if !looksSameToCallers(v, want.Versions[i]) || v.Seq != c.Seq {
				t.Errorf("a call was answered with %+v; the log has %+v", v, want.Versions[i])
			}
		}
	}
}

// looksSameToCallers reports whether callers cannot distinguish two versions.
func looksSameToCallers(v, w oxbow.Version) bool {
	return v.Seq == w.Seq && v.Verb == w.Verb && v.Prev == w.Prev && v.Entry.ID == w.Entry.ID &&
		v.Entry.Name == w.Entry.Name &&
		v.Entry.Version == w.Entry.Version && v.Entry.Content == w.Entry.Content &&
		reflect.DeepEqual(v.Entry.Labels, w.Entry.Labels)
}

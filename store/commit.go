// This file defines the interface of stores that return the change that a call made.

package store

import "context"

// A Committer is a Store that can return the change that a call made.
type Committer interface {
	Store

	// Commit is like Apply, and returns the change that the ops made. The change has a
	// version for each op, in the order of the ops. Its number is 0 if the store does not
	// keep a history. The store builds the change from the versions that it wrote, without
	// reading the entries again, so the change never contains another writer's work.
	//
	// If the call's op ID belongs to an earlier call, Commit returns the earlier change,
	// with the versions that the store still has. Without ops, it returns an empty change.
	Commit(ctx context.Context, ops ...Op) (Change, error)
}

// Commit applies the ops to s and returns the change that they made. If s is not a [Committer], the returned change is
// empty, because reading the entries afterwards could return versions by another writer.
func Commit(ctx context.Context, s Store, ops ...Op) (Change, error) {
	if c := CapabilitiesOf(s).Committer; c != nil {
		return c.Commit(ctx, ops...)
	}
	return Change{}, s.Apply(ctx, ops...)
}

// Entry returns the entry after the last op of the change. The second result is false if this op removed the entry, if
// the entry's version was erased, or if the change contains no version.
func (c Change) Entry() (Entry, bool) {
	if len(c.Versions) == 0 {
		return Entry{}, false
	}
	v := c.Versions[len(c.Versions)-1]
	return v.Entry, v.Verb != VerbRemove && !v.Erased
}

// WrittenBy returns the version that an op wrote in a store without a history. e is the entry after the op or, for a
// [Remove], the removed entry.
func WrittenBy(op Op, e Entry) Version {
	v := Version{Entry: e, Source: e.Source}
	switch op.(type) {
	case Add:
		v.Verb = VerbAdd
	case Update:
		v.Verb = VerbUpdate
	case Alias:
		v.Verb = VerbAlias
	case Relabel:
		v.Verb = VerbLabel
	case Remove:
		v.Verb, v.Entry = VerbRemove, Entry{ID: e.ID, Name: e.Name, Kind: e.Kind}
	}
	return v
}

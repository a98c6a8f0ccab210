// The changes that calls made, as the store returns them to these calls.

package store

import "context"

// A Committer is a Store that returns the change that a call made.
type Committer interface {
	Store

	// Commit is Apply, and returns the change that the ops made: its number, which
	// is 0 in a store without a history, and one version for each op, in the order
	// of the ops. The store takes them from what it wrote and reads nothing back, so
	// that no change of another writer is among them.
	//
	// A call with the op id of an earlier call returns the earlier change, with the
	// versions that the store still has. A call without ops returns an empty change.
	Commit(ctx context.Context, ops ...Op) (Change, error)
}

// Commit applies the ops to a store and returns the change that they made. If the
// store is not a [Committer], the change is empty, because an entry that is read
// after the ops were applied may be the work of another writer.
func Commit(ctx context.Context, s Store, ops ...Op) (Change, error) {
	if c, ok := s.(Committer); ok {
		return c.Commit(ctx, ops...)
	}
	return Change{}, s.Apply(ctx, ops...)
}

// Entry returns the entry as the last op of the change left it, and false if that op
// removed the entry, or if the change has no version of it.
func (c Change) Entry() (Entry, bool) {
	if len(c.Versions) == 0 {
		return Entry{}, false
	}
	v := c.Versions[len(c.Versions)-1]
	return v.Entry, v.Verb != VerbRemove && !v.Erased
}

// WrittenBy returns the version that an op left in a store without a history. The
// entry is as the op left it; for a [Remove], as the op found it.
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

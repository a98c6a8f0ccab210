// This file converts the difference between two versions of an entry to operations.

package threeway

import "github.com/oxbow-memory/oxbow"

// AddOp returns the operation that adds the entry e. The operation shares the aliases and labels of e.
func AddOp(e *oxbow.Entry) oxbow.Add {
	return oxbow.Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels,
		Created: e.Created}
}

// ReplaceVersionOps returns the operations that replace an entry's version "from" by the version "to". The result is an
// update, or a removal and an addition if the versions differ in the name or the kind, which an update cannot change.
// An update keeps the creation time of the entry. The operations fail if the entry in the store has a version other
// than from.Version. If from.Version is 0, the operations replace any version.
func ReplaceVersionOps(from, to *oxbow.Entry) []oxbow.Op {
	if from.Name != to.Name || from.Kind != to.Kind {
		return RemoveAndAddVersionOps(from, to)
	}
	return []oxbow.Op{oxbow.Update{Name: from.Name, Content: to.Content, Aliases: to.Aliases, Labels: to.Labels,
		If: from.Version}}
}

// RemoveAndAddVersionOps returns the operations that remove an entry's version "from" and add the version "to", even
// if an update would be possible. The entry therefore also gets the creation time of the version "to". See
// [ReplaceVersionOps].
func RemoveAndAddVersionOps(from, to *oxbow.Entry) []oxbow.Op {
	return []oxbow.Op{oxbow.Remove{Name: from.Name, If: from.Version}, AddOp(to)}
}

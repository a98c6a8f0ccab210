// This file converts the difference between two versions of an entry to operations.

package threeway

import "github.com/oxbow-memory/oxbow"

// NewAddOp returns the operation that adds the entry e. The operation shares the aliases and labels of e.
func NewAddOp(e *oxbow.Entry) oxbow.Add {
	return oxbow.Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels,
		Created: e.Created}
}

// NewReplaceVersionOps returns the operations that replace the version oldVersion of an entry by the version
// newVersion. The result is an update, or a removal and an addition if the versions differ in the name or the kind,
// which an update cannot change. An update keeps the creation time of the entry. The operations fail if the entry in
// the store has a version other than oldVersion.Version. If oldVersion.Version is 0, the operations replace any
// version.
func NewReplaceVersionOps(oldVersion, newVersion *oxbow.Entry) []oxbow.Op {
	if oldVersion.Name != newVersion.Name || oldVersion.Kind != newVersion.Kind {
		return NewRemoveAndAddOps(oldVersion, newVersion)
	}
	return []oxbow.Op{
		oxbow.Update{
			Name:    oldVersion.Name,
			Content: newVersion.Content,
			Aliases: newVersion.Aliases,
			Labels:  newVersion.Labels,
			If:      oldVersion.Version,
		},
	}
}

// NewRemoveAndAddOps returns the operations that remove an entry's version "from" and add the version "to", even
// if an update would be possible. The entry therefore also gets the creation time of the version "to". See
// [NewReplaceVersionOps].
func NewRemoveAndAddOps(from, to *oxbow.Entry) []oxbow.Op {
	return []oxbow.Op{oxbow.Remove{Name: from.Name, If: from.Version}, NewAddOp(to)}
}

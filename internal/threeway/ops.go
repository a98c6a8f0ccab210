// This file expresses the difference between two versions of an entry as ops.

package threeway

import "github.com/oxbow-memory/oxbow"

// AddOp returns the op that adds an entry. The op shares the aliases and labels of e.
func AddOp(e *oxbow.Entry) oxbow.Add {
	return oxbow.Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels,
		Created: e.Created}
}

// ReplaceOps returns the ops that turn the version from into the version to: an update, or a removal and an addition
// if the name or the kind differs, which an update cannot change. An update keeps the time of creation. The ops fail
// if the entry has another version than from. If from.Version is 0, any version is replaced.
func ReplaceOps(from, to *oxbow.Entry) []oxbow.Op {
	if from.Name != to.Name || from.Kind != to.Kind {
		return RecreateOps(from, to)
	}
	return []oxbow.Op{oxbow.Update{Name: from.Name, Content: to.Content, Aliases: to.Aliases, Labels: to.Labels,
		If: from.Version}}
}

// RecreateOps is like [ReplaceOps], but always removes the version from and adds the version to, so that the entry
// also gets the time of creation of to.
func RecreateOps(from, to *oxbow.Entry) []oxbow.Op {
	return []oxbow.Op{oxbow.Remove{Name: from.Name, If: from.Version}, AddOp(to)}
}

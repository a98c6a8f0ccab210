// The tour of the package.

// Package crabtalk is the dialect of crabtalk's RFC 0150: a configuration
// directory with a memory in one file and instructions that people write.
//
//	memory.db   notes and archives, in CRMEM v1 (package crmem)
//	Crab.md     instructions for the agent; written by people only
//
// An agent has three tools, remember, forget and recall. What stands before the
// model is the Crab.md of the home and of the directories from the top down to
// the one that the agent works in, and a text that says when to use the tools.
// Nothing is recalled unless the model asks. A conversation that is compacted
// leaves an archive, which recall finds and by which it is resumed; oxbow archive prune
// forgets old archives.
//
// Ranking is [oxbow.RankSeed]: content and aliases, not the name.
//
// A home that a later crabtalk has written (its files begin with the same bytes)
// is opened for reading only, so that it can be looked at and converted.
package crabtalk

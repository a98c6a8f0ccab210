// This file contains the package documentation.

// Package crabtalk is the layout of crabtalk's RFC 0150. A home is a configuration directory with a
// memory in a single file and instructions that people write.
//
//	memory.db   notes and archives, in CRMEM v1 (package crmem)
//	Crab.md     instructions for the agent; written by people only
//
// An agent has three tools: remember, forget and recall. The model's context contains the Crab.md files in the home
// and in the directories from the root down to the working directory, and a text about the use of the tools. The
// layout recalls only when the model asks. When a conversation is compacted, the summary is stored as an archive.
// recall finds this archive, and the conversation can be resumed from it. The command oxbow archive prune deletes old
// archives.
//
// The ranking is [oxbow.RankSeed], which searches content and aliases, but not the name.
//
// A home written by a later version of crabtalk (the files begin with the same bytes) is opened read-only, so that it
// can be examined and converted.
package crabtalk

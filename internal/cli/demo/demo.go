// Package demo contains the sample memory that "oxbow demo" imports. Its notes and chat sessions
// belong to a made-up team that builds a booking service for harbours. The sample was written for
// this project and has the same licence.
package demo

import "embed"

// Files contains the files of the sample memory.
//
//go:embed notes sessions.jsonl
var Files embed.FS

// SamplePaths returns the files and directories of the sample in [Files], in the order in which the demo imports them.
func SamplePaths() []string { return []string{"notes", "sessions.jsonl"} }

// SessionStepsJSONL describes a session in which an agent uses the sample memory. Each line is one step: a report of
// the client's hook, or a command that the agent runs.
//
//go:embed session.jsonl
var SessionStepsJSONL string

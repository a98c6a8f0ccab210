// Package demo holds the sample memory that "oxbow demo" imports: the notes and
// chat sessions of a made-up team of four who build a booking service for
// harbours. It was written for this project and stands under its licence.
package demo

import "embed"

// Files are the corpus.
//
//go:embed notes sessions.jsonl
var Files embed.FS

// Corpus returns its files and directories, in the order they are imported.
func Corpus() []string { return []string{"notes", "sessions.jsonl"} }

// Session is a session of an agent with that memory: a step a line, of which each is a
// report of its client's hook or a command that it runs.
//
//go:embed session.jsonl
var Session string

// Package demo holds the sample memory that "oxbow demo" imports: the notes and
// chat sessions of a made-up team of four who build a booking service for
// harbours. It was written for this project and stands under its licence.
package demo

import (
	"embed"
	"io/fs"
)

//go:embed notes sessions.jsonl
var files embed.FS

// Part is one piece of the corpus: a file or directory that can be imported.
type Part struct {
	Path string // of the file or directory inside FS, slash-separated
	FS   fs.FS
	What string // in words, such as "22 notes"
}

// Corpus returns the parts in the order they are imported.
func Corpus() []Part {
	return []Part{
		{Path: "notes", FS: files, What: "notes in Markdown"},
		{Path: "sessions.jsonl", FS: files, What: "chat sessions"},
	}
}
